"""Fetching a ball with a swimming snake: one machine of states, from the first stroke to the last.

    approach -> grasp -> carry -> release -> retreat
        ^         |        |
        +-- back off <-----+    if the ball is not, or no longer, held

The plain settings do as Draschwandtner (2015), sections 7.11 and 7.12. That is good for the four places tried there;
`CAREFUL` makes it reliable by taking into account what the source leaves out:

- A body of this mass glides, and goes on turning. It is slowed down on the way, by letting the wave run
  more slowly or backwards (section 7.5), and stopped before it lets go.
- A circle closes around what lies beside the middle of the body, so the ball is passed at its side, not met head-on.
- Where a body swims is not where it points; and in a current, the way over ground is not the way through the water. A
  ball that nobody touches drifts with the water, which tells the current.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from pydantic import Field

from sandlot.control.snake.gaits import Gait, grasp_poses
from sandlot.control.snake.steering import Average, Rate, Seen, Speed, angle_between, see, turned
from sandlot.errors import SandlotError
from sandlot.robots.snake import Snake
from sandlot.settings import Settings
from sandlot.typing import Array

State = Literal["approach", "grasp", "carry", "release", "retreat", "back off"]
BLEND = 1.0
"""From one shape to the next when the state changes [s]; the motors cannot jump."""
WIND = 4.0
"""How fast a wave's frequency may change [Hz/s]."""
FAST = 1.0
"""So much slower than wanted, and the wave runs at its full frequency [m/s]."""
TURN = 0.25
"""How fast the bend may change [rad/s]."""
RATE = 9.0
"""How fast a command may change [rad/s]."""
GIVE = 0.3
"""A joint that is in the way of something gives way: a command is never further than this from where it is [rad]."""
OPEN = 1.5
"""For how long the body opens before it swims away [s]."""
PATIENCE = 60.0
"""An approach takes no longer [s]; if it does, the head may be pushing the ball along."""
HALTING, LETTING_GO = 3.0, 4.0
"""How long it takes, about, to stop with the ball, and then to be clear of it [s]."""


class FetchSettings(Settings):
    """How to fetch; the defaults are the source's.

    Attributes:
        swim: Gait of approach, back off and retreat.
        carry: Gait of the joints that do not hold, on the way home.
        gain: Bend of every joint per angle to the goal [1].
        damping: Angle taken off for every rad/s at which the body already turns [s], if careful.
        course: Share of the angle between the way it swims and the way to the goal that is added, if careful.
        bend: At most so much [rad].
        window: Of the moving average of that angle [commands].
        grasping: Joints that hold the ball.
        circle: From the first to the full circle [s].
        tighten: For each step that makes the circle smaller [s].
        reach: Grasp when the centre of mass is so near the ball, in units of arclength.
        retreat: After a failure, go away to a distance of so many arclengths.
        release: Let go when the ball is so near its destination [m].
        careful: Pass the ball sideways and slowly, heed drift and current, and stop before letting go.
        aside: Pass the ball at this distance [m], if careful.
        slow: Speed at which to pass it [m/s], if careful.
        lead: How long before it is beside the middle to begin to grasp [s], if careful.
        brake: How fast to lose speed before that [m/s^2], if careful.
        stop: How fast to lose speed before letting go [m/s^2], if careful.
    """

    swim: Gait = Gait(amplitude=0.7, frequency=0.9, phase=0.8)
    carry: Gait = Gait(amplitude=0.61, frequency=1.82, phase=0.75)
    gain: float = Field(0.2 / math.pi, gt=0.0)
    damping: float = Field(3.0, ge=0.0)
    course: float = Field(1.0, ge=0.0)
    bend: float = Field(0.2, gt=0.0)
    window: int = Field(30, ge=1)
    grasping: int = Field(3, ge=3)
    circle: float = Field(1.0, gt=0.0)
    tighten: float = Field(0.12, gt=0.0)
    reach: float = Field(1.0 / math.pi, gt=0.0)
    retreat: float = Field(2.0, gt=0.0)
    release: float = Field(4.0, gt=0.0)
    careful: bool = False
    aside: float = Field(1.8, ge=0.0)
    slow: float = Field(3.5, gt=0.0)
    lead: float = Field(1.0, ge=0.0)
    brake: float = Field(0.4, gt=0.0)
    stop: float = Field(0.7, gt=0.0)


CAREFUL = FetchSettings(careful=True, window=55, gain=0.2, retreat=1.2, release=5.5)
"""Settings that deliver reliably. The average is over a wave; the ball may lie up to 8 m from its destination."""


def give_way(wanted: Array, angles: Array) -> Array:
    """What joints are told that want to be at ``wanted`` and are at ``angles`` [rad]: no further than `GIVE` away."""
    return np.minimum(np.maximum(wanted, angles - GIVE), angles + GIVE)


def check_can_hold(snake: Snake, grasping: int) -> None:
    """Refuse a body with too few joints to hold a ball with ``grasping`` of them and swim with the others.

    Raises:
        SandlotError: With how many it needs.
    """
    if snake.joints < grasping + 4:
        raise SandlotError(
            f"{snake.joints} joints are too few to hold with {grasping} and swim with at least 4; "
            f"allowed: at least {grasping + 4}"
        )


class Fetcher:
    """A controller of the water world that fetches the ball.

    Attributes:
        snake: The body.
        settings: How.
        state: What it is doing.
        attempts: How often it has tried to grasp the ball.
        failures: After how many of these the ball was not held.
    """

    def __init__(self, snake: Snake, settings: FetchSettings | None = None) -> None:
        """A fetcher about to set off.

        Raises:
            SandlotError: If the body has too few joints to hold a ball and swim, or a gait has no wave that runs.
        """
        self.snake, self.settings = snake, settings or FetchSettings()
        check_can_hold(snake, self.settings.grasping)
        gaits = (self.settings.swim, self.settings.carry)
        self._beats = [gait.beat() for gait in gaits]
        self._wave = round(1.0 / (self._beats[0] * snake.interval))
        self.state: State = "approach"
        self.attempts = self.failures = 0
        self._since = 0.0
        self._left, self._forth = True, True
        self._axis, self._angle = Average(self.settings.window), Average(self.settings.window)
        self._speed, self._drift = Speed(self._wave), Speed(self._wave)
        self._velocity, self._current, self._heading = np.zeros(2), np.zeros(2), np.array([1.0, 0.0])
        self._clock, self._frequency, self._bent = 0.0, 0.0, 0.0
        self._last = self._from = np.zeros(snake.joints)
        self._waves = [gait.waves(snake.joints)[[0, 2]] for gait in gaits]
        self._lost, self._free, self._past, self._halting = 0, 0, False, False
        self._spin, self._turning = Rate(25, snake.interval), 0.0

    def __call__(self, observation: Array) -> Array:
        """Where the joints should be: (joints,) [rad]."""
        seen = see(observation, self.snake)
        self._feel(seen)
        act: dict[State, Callable[[Seen], Array]] = {
            "approach": self._approach,
            "grasp": self._grasp,
            "carry": self._carry,
            "release": self._release,
            "retreat": self._retreat,
            "back off": self._back_off,
        }
        wanted = act[self.state](seen)
        share = min((seen.time - self._since) / BLEND, 1.0)
        wanted = self._from + (wanted - self._from) * share * share * (3.0 - 2.0 * share)
        most = RATE * self.snake.interval
        wanted = np.minimum(np.maximum(wanted, self._last - most), self._last + most)
        self._last = give_way(wanted, seen.angles)
        return self._last

    # What it knows.

    def _feel(self, seen: Seen) -> None:
        """Bring velocity, heading and current up to date."""
        self._velocity = self._speed(seen.time, seen.centre)
        front = seen.links[self.settings.grasping + 1 if self.state == "carry" else 0]
        axis = self._axis(math.atan2(*(front - seen.links[-1])[::-1]))
        self._heading = np.array([math.cos(axis), math.sin(axis)])
        self._turning = self._spin(axis)
        drift = self._drift(seen.time, seen.target)
        gap = seen.links - seen.target
        self._free = self._free + 1 if (gap * gap).sum(axis=1).min() > (2.0 * self.snake.length) ** 2 else 0
        if self._free > self._wave:
            self._current = drift

    def holds(self, seen: Seen) -> bool:
        """Whether the ball is between the links that should hold it: inside their box (section 7.12)."""
        ring = seen.links[: self.settings.grasping + 1]
        return bool((ring.min(axis=0) <= seen.target).all() and (seen.target <= ring.max(axis=0)).all())

    # What it does.

    def _become(self, state: State, seen: Seen) -> None:
        self.state, self._since, self._from = state, seen.time, self._last
        self._lost = 0

    def _approach(self, seen: Seen) -> Array:
        """Swim to the ball, and find out on which side it is."""
        s, way = self.settings, seen.target - seen.centre
        distance = float(np.linalg.norm(way))
        angle = angle_between(self._heading if s.careful else seen.links[0] - seen.centre, way)
        if not s.careful:
            if distance < s.reach * self.snake.arclength:
                self._become("grasp", seen)
            else:
                self._left = angle >= 0.0
            return self._swim(s.swim, self._bend(self._angle(angle)))
        through = self._velocity - self._current
        along = float(through @ self._heading)
        ahead, beside = distance * math.cos(angle), distance * math.sin(angle)
        if distance > self.snake.arclength or seen.time - self._since < 1.0:
            self._left = beside >= 0.0
        near, passed = abs(beside) < 0.22 * self.snake.arclength, ahead < max(along, 0.0) * s.lead
        if near and passed and ahead > -0.2 * self.snake.arclength:
            self._left = beside >= 0.0
            self._become("grasp", seen)
            return self._last
        missed = distance < self.snake.arclength and (passed or (abs(angle) > 1.0 and not near))
        if missed or seen.time - self._since > PATIENCE:
            self._forth = ahead < 0.0
            self._become("back off", seen)
            return self._last
        side = math.asin(min(s.aside / max(distance, s.aside), 0.5))
        goal = turned(way, -side if self._left else side)
        wanted = math.sqrt(s.slow**2 + 2.0 * s.brake * max(ahead - 2.0, 0.0))
        return self._swim(s.swim, self._bend(self._course(through, goal)), wanted - along)

    def _grasp(self, seen: Seen) -> Array:
        """Close a circle around the ball, make it ever smaller (algorithm 3.1), and see whether it is in it."""
        s = self.settings
        poses = grasp_poses(self.snake.joints, s.grasping, self._left)
        step = max(seen.time - self._since - s.circle, 0.0) / s.tighten
        if step > len(poses) + 4:
            held = self.holds(seen)
            self.attempts += 1
            self.failures += not held
            self._forth = False
            self._become("carry" if held else "back off", seen)
        k = min(int(step), len(poses) - 1)
        after = poses[min(k + 1, len(poses) - 1)]
        return poses[k] + (after - poses[k]) * (min(step, len(poses) - 1) - k)

    def _carry(self, seen: Seen) -> Array:
        """Swim home with the ball, steering as before."""
        s, way = self.settings, seen.destination - seen.target
        distance = float(np.linalg.norm(way))
        self._lost = 0 if self.holds(seen) else self._lost + 1
        if self._lost * self.snake.interval > 1.0:
            self._forth = False
            self._become("back off", seen)
            return self._last
        if not s.careful:
            if distance < s.release:
                self._become("release", seen)
            angle = angle_between(seen.links[0] - seen.centre, seen.destination - seen.centre)
            return self._holding(self._swim(s.carry, self._bend(self._angle(angle))))
        # What is let go drifts on: so it is let go upstream.
        way = way - self._current * LETTING_GO
        distance = float(np.linalg.norm(way))
        if self._halting:
            along = float((self._velocity - self._current) @ self._heading)
            if along < 0.0:
                self._halting = False
                if distance < s.release + 0.5:
                    self._become("release", seen)
            return self._holding(self._swim(s.carry, 0.0, -1.0 - along))
        along = float(self._velocity @ self._heading)
        ahead = way - self._current * HALTING
        distance = float(np.linalg.norm(ahead))
        self._halting = distance < s.release
        if distance > s.retreat * self.snake.arclength:
            self._past = False
        elif abs(angle_between(self._heading, ahead)) > 1.2 and distance < 0.8 * self.snake.arclength:
            self._past = True
        if self._past:
            return self._holding(self._swim(s.carry, self._bend(-s.damping * self._turning)))
        wanted = math.sqrt(2.0 * s.stop * distance)
        return self._holding(self._swim(s.carry, self._bend(self._course(self._velocity, ahead)), wanted - along))

    def _holding(self, wave: Array) -> Array:
        """The wave, with the first joints around the ball, and the next one so that the ball is straight ahead."""
        s, side = self.settings, 1.0 if self._left else -1.0
        held = s.grasping
        wave[:held] = side * 2.0 * math.pi / (held + 1)
        wave[held] = -side * (math.pi / 2.0 - math.pi / (held + 1))
        return wave

    def _release(self, seen: Seen) -> Array:
        """Open the body: at once, or, if careful, joint by joint from the head on, so that nothing pushes the ball."""
        s, since = self.settings, seen.time - self._since
        if since > OPEN:
            self._become("retreat", seen)
        if not s.careful:
            return self._swim(s.swim, 0.0, -FAST)
        shape = self._holding(self._swim(s.carry, 0.0, -0.3))
        for joint in range(s.grasping):
            shape[joint] *= 1.0 - min(max((since - 0.3 * joint) / 0.6, 0.0), 1.0)
        return shape

    def _retreat(self, seen: Seen) -> Array:
        """Swim backwards, away from the ball; and, if careful, come back if it did not stay where it should."""
        s = self.settings
        wave = self._swim(s.swim, 0.0, -FAST)
        if s.careful:
            # The front half is pulled along, so that it does not strike the ball.
            wave[: self.snake.joints // 2] *= 0.2
            stayed = np.linalg.norm(seen.target - seen.destination) < 1.5 * s.release
            if self._clear(seen) and not stayed:
                self._become("approach", seen)
        return wave

    def _clear(self, seen: Seen) -> bool:
        """Whether the ball is far enough away to try again."""
        return bool(np.linalg.norm(seen.target - seen.centre) > self.settings.retreat * self.snake.arclength)

    def _back_off(self, seen: Seen) -> Array:
        """After a failure, get away from the ball, to try again."""
        if self._clear(seen):
            self._become("approach", seen)
        return self._swim(self.settings.swim, 0.0, FAST if self._forth else -FAST)

    # How it swims.

    def _swim(self, gait: Gait, bend: float, haste: float = FAST) -> Array:
        """The wave, one command further; it runs backwards to get slower.

        Args:
            gait: Which.
            bend: Of every joint [rad].
            haste: By how much to be faster [m/s]; from 1 on, as fast as it goes.
        """
        carries = gait is self.settings.carry
        wanted = self._beats[carries] * min(max(haste / FAST, -1.0), 1.0)
        most = WIND * self.snake.interval
        self._frequency += min(max(wanted - self._frequency, -most), most)
        self._clock += self._frequency * self.snake.interval
        most = TURN * self.snake.interval
        self._bent += min(max(bend - self._bent, -most), most)
        amplitude, phase = self._waves[carries]
        return amplitude * np.sin(2.0 * math.pi * self._clock - phase) + self._bent

    def _bend(self, angle: float) -> float:
        return min(max(self.settings.gain * angle, -self.settings.bend), self.settings.bend)

    def _course(self, velocity: Array, goal: Array) -> float:
        """By how much to turn, so as to swim, not only to point, towards the goal [rad]."""
        s, angle = self.settings, angle_between(self._heading, goal)
        turn = angle - s.damping * self._turning
        if abs(angle) < 1.0 and np.linalg.norm(velocity) > 1.0:
            turn += s.course * min(max(angle_between(velocity, goal), -0.7), 0.7)
        return turn
