"""A world, or one at two fidelities, that runs in a thread of its own, at the pace of real time or faster.

Viewers never touch the world: the thread makes a snapshot of it 18 times a second, and a page draws the latest one. A
page that is slow misses snapshots; the simulation does not wait for it.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sandlot.control.controller import Controller
from sandlot.errors import SandlotError
from sandlot.recordings import Frame
from sandlot.worlds.base import World
from sandlot.worlds.scene import Scene

RATE = 18.0
"""Snapshots a second, by the clock of the wall [1/s]."""
BEHIND = 0.25
"""A simulation that is this late gives up catching up [s]."""
REST = 1.5
"""How long the end of an episode is shown before the next one begins [s]."""
FASTEST = float("inf")
"""Speed of a simulation that never waits."""


@dataclass
class Run:
    """A world, what drives it, and how far it is.

    Attributes:
        world: The world.
        controller: What drives it.
        ended: How the episode ended; empty while it goes on.
        interval: Time of one step [s].
        steps: Since the start of the episode.
    """

    world: World
    controller: Controller
    ended: str = ""
    interval: float = 0.0
    steps: int = 0
    _observation: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def time(self) -> float:
        """Since the start of the episode [s]."""
        return self.steps * self.interval

    def restart(self, seed: int) -> None:
        """Begin an episode."""
        self.controller.reset([np.random.SeedSequence(seed)])
        self._observation, _ = self.world.reset(seed=seed)
        self.ended, self.steps = "", 0

    def take(self, controller: Controller, seed: int) -> None:
        """Let another controller drive from now on."""
        controller.reset([np.random.SeedSequence(seed)])
        self.controller = controller

    def step(self) -> None:
        """Make one step."""
        before = float(self.world.frame()["time"]) if not self.interval else 0.0
        action = self.controller.act(self._observation[None])[0]
        self._observation, _, terminated, truncated, info = self.world.step(action)
        if not self.interval:
            self.interval = max(float(self.world.frame()["time"]) - before, 1e-4)
        self.steps += 1
        if terminated or truncated:
            said = [name for name in ("passed", "overturned", "stuck", "exploded") if info.get(name)]
            self.ended = said[0] if said else "done" if terminated else "over"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What there is to show at one moment.

    Attributes:
        scenes: One for each run.
        frames: One for each run.
        time: Since the start of the episode [s].
        episode: Counted from 0.
        pace: Simulated time over the time of the wall, of the last second.
        ended: How the episode ended; empty while it goes on.
    """

    scenes: tuple[Scene, ...]
    frames: tuple[Frame, ...]
    time: float
    episode: int
    pace: float
    ended: str


class Simulation:
    """Worlds that run side by side, from the same seed.

    Attributes:
        runs: The worlds; the first one is the one that was asked for.
        seed: Of the first episode; each later one has the next seed.
        speed: Simulated time over time of the wall; may be changed at any time.
        latest: The last snapshot.
        error: One line, if the simulation has stopped because of a mistake.
    """

    def __init__(self, runs: Sequence[Run], seed: int = 0, speed: float = 1.0) -> None:
        """Reset the worlds; `start` lets them run."""
        self.runs, self.seed, self.speed = list(runs), seed, speed
        self._episode, self._pace, self._steps = 0, 0.0, 0
        self._running, self._restarting, self._closed = False, False, False
        self._wake, self.error = threading.Event(), ""
        for run in self.runs:
            run.restart(seed)
        self.latest = self._snapshot()
        self._thread = threading.Thread(target=self._work, name="simulation", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it goes on by itself."""
        return self._running

    @property
    def episode_seed(self) -> int:
        """Seed of the present episode."""
        return self.seed + self._episode

    def start(self) -> None:
        """Go on."""
        self._running = True
        self._wake.set()

    def pause(self) -> None:
        """Stop until started again."""
        self._running = False

    def step(self) -> None:
        """Make one step, and stop."""
        self._running = False
        self._steps += 1
        self._wake.set()

    def restart(self) -> None:
        """Begin the first episode again."""
        self._episode, self._restarting = 0, True
        self._wake.set()

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._wake.set()
        self._thread.join(timeout=10.0)

    def _work(self) -> None:
        try:
            self._loop()
        except SandlotError as error:
            self.error = str(error)
        except Exception as error:  # the page shows it; the other tabs go on
            self.error = f"{type(error).__name__}: {error}"

    def _loop(self) -> None:
        clock = _Clock()
        due, ended_at = 0.0, 0.0
        while not self._closed:
            if self._restarting:
                self._restarting, ended_at = False, 0.0
                self._begin()
                clock.restart()
            if self._steps:
                self._steps -= 1
                self._advance()
                self.latest = self._snapshot()
                continue
            if not self._running:
                clock.restart()
                self._wake.wait(0.1)
                self._wake.clear()
                continue
            now = time.perf_counter()
            if all(run.ended for run in self.runs):
                ended_at = ended_at or now
                if now - ended_at > REST:
                    self._episode, ended_at = self._episode + 1, 0.0
                    self._begin()
                    clock.restart()
                time.sleep(0.02)
                continue
            wait = clock.wait(self._time, self.speed, now)
            if wait > 0.0:
                time.sleep(min(wait, 0.02))
                continue
            self._advance()
            if now >= due or all(run.ended for run in self.runs):
                due = max(due + 1.0 / RATE, now)
                self._pace = clock.pace(self._time, now)
                self.latest = self._snapshot()

    @property
    def _time(self) -> float:
        """Of the run that is least far [s]."""
        return min((run.time for run in self.runs if not run.ended), default=self.runs[0].time)

    def _begin(self) -> None:
        for run in self.runs:
            run.restart(self.episode_seed)
        self.latest = self._snapshot()

    def _advance(self) -> None:
        """Step the run that is least far."""
        going = [run for run in self.runs if not run.ended]
        if going:
            min(going, key=lambda run: run.time).step()

    def _snapshot(self) -> Snapshot:
        scenes = tuple(run.world.scene() for run in self.runs)
        frames = tuple(run.world.frame() for run in self.runs)
        ended = ", ".join(run.ended or "goes on" for run in self.runs) if any(run.ended for run in self.runs) else ""
        return Snapshot(scenes, frames, max(run.time for run in self.runs), self._episode, self._pace, ended)


class _Clock:
    """Compares simulated time with the time of the wall."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self._began: tuple[float, float] | None = None
        self._speed = 0.0
        self._measured: tuple[float, float, float] | None = None

    def wait(self, simulated: float, speed: float, now: float) -> float:
        """How long until the next step is due [s]."""
        if self._began is None or speed == FASTEST or speed != self._speed:
            self._began, self._speed = (simulated, now), speed
        wait = (simulated - self._began[0]) / speed - (now - self._began[1])
        if wait < -BEHIND:  # too slow to catch up
            self._began, wait = (simulated, now), 0.0
        return wait

    def pace(self, simulated: float, now: float) -> float:
        """Simulated time over time of the wall, of the last second."""
        if self._measured is None:
            self._measured = simulated, now, 0.0
        began, at, pace = self._measured
        if now - at > 1.0 or (pace == 0.0 and now - at > 0.2):
            pace = (simulated - began) / (now - at)
            self._measured = simulated, now, pace
        return pace
