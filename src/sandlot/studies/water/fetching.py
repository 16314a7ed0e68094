"""What the studies share in which a snake swims to a ball, and may bring it home."""

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from pydantic import Field

from sandlot.control.controller import Controller, Separate
from sandlot.control.snake.fetching import CAREFUL, Fetcher, FetchSettings
from sandlot.recordings import Quantity
from sandlot.robots.reference_swimmers import check_stable
from sandlot.robots.snake import Snake
from sandlot.studies.base import Claim, Found, Job, Study, pick
from sandlot.studies.plots import COLOURS
from sandlot.studies.water.circles import fit_circle
from sandlot.typing import Array, BoolArray
from sandlot.worlds.rollout import rollout
from sandlot.worlds.water.settings import WaterSettings
from sandlot.worlds.water.task import WaterTask
from sandlot.worlds.water.vector import WaterVector

SAMPLES = 200
"""Points of a path in the results."""
BLOCK = 4
"""Targets of a job; their simulations are stepped together."""
HOW = {"source": FetchSettings(), "sure": CAREFUL}
WORDS = {"source": "as the source does it", "sure": "with care"}
PATHS = {
    "body": Quantity("m", "path of the centre of mass", ("target", "sample", "axis"), (0, 0, 2)),
    "ball": Quantity("m", "path of the target", ("target", "sample", "axis"), (0, 0, 2)),
    "mark": Quantity("m", "position of the target at the start", ("target", "axis"), (0, 2)),
}


def quadrants(distance: float) -> Array:
    """One target in each quadrant: (4, 2) [m]."""
    return distance * np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])


def act(
    settings: WaterSettings,
    marks: Array,
    controller: Controller,
    seconds: float,
    done: Callable[[WaterTask], BoolArray],
) -> dict[str, Array]:
    """Let a controller act until all are done, or the time is over.

    Args:
        settings: Of the world.
        marks: Positions of the targets: (n, 2) [m].
        controller: Of all snakes.
        seconds: Time limit [s].
        done: Tells which are done: (n,).

    Returns:
        ``when`` (n,) each was done [s], NaN if never; ``exploded`` (n,); and the paths.
    """
    world = WaterVector(len(marks), settings=settings, autoreset_mode="Disabled")
    task = world.task
    when, lost = np.full(len(marks), np.nan), np.zeros(len(marks), np.bool_)
    commands = round(seconds / settings.snake.interval)
    every = max(commands // SAMPLES, 1)
    paths = np.full((2, SAMPLES, len(marks), 2), np.nan)
    for step in rollout(world, controller, 0, commands, options={"target": marks}, until=lambda: done(task)):
        lost |= task.exploded
        when[step.terminated] = step.number * settings.snake.interval
        going, k = step.running & ~step.ended, step.number // every
        if step.number % every == 0 and k < SAMPLES and step.number < commands:
            paths[:, k, going] = np.stack([task.centre, task.targets])[:, going]
    body, ball = paths.transpose(0, 2, 1, 3)
    return {"when": when, "exploded": lost.astype(np.float64), "body": body, "ball": ball, "mark": marks}


class FetchStudy(Study):
    """A study in which snakes fetch balls in the reference.

    Attributes:
        seconds: Time limit of an episode [s].
        snake: The body. Its gaits are slow, so that steps twice as long as by default deliver the same balls.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "when": Quantity("s", "time when it was done; NaN if never", ("target",), (0,)),
        "attempts": Quantity("1", "grasps tried", ("target",), (0,)),
        "failures": Quantity("1", "grasps after which the ball was not held", ("target",), (0,)),
        "exploded": Quantity("1", "whether the simulation exploded", ("target",), (0,)),
        **PATHS,
    }

    seconds: float = Field(300.0, gt=0.0, le=1e4)
    snake: Snake = Snake(step=0.02)

    def check(self) -> None:
        """Refuse a body that cannot fetch, or that the reference cannot simulate."""
        check_stable(self.snake)
        for how in HOW.values():
            Fetcher(self.snake, how)

    def fetch(
        self, how: FetchSettings, marks: Array, current: tuple[float, float] = (0.0, 0.0), captured: bool = False
    ) -> dict[str, Found]:
        """Let snakes fetch balls, or only capture them."""
        controller = Separate(lambda _: Fetcher(self.snake, how))
        settings = WaterSettings(fidelity="reference", snake=self.snake, current=current)

        def done(task: WaterTask) -> BoolArray:
            # A ball that was only touched and drifts home by itself does not count.
            states = np.array([each.state for each in controller.policies])
            return states == "carry" if captured else task.delivered & (states == "retreat")

        found: dict[str, Found] = dict(act(settings, marks, controller, self.seconds, done))
        return found | {
            "attempts": np.array([float(each.attempts) for each in controller.policies]),
            "failures": np.array([float(each.failures) for each in controller.policies]),
        }

    def draw_targets(self, job: Job, distance: float) -> Array:
        """Random targets, uniform over a disc, none inside the body: (4, 2) [m]."""
        task = WaterTask(WaterSettings(fidelity="reference", snake=self.snake, distance=distance))
        rng = np.random.default_rng(job.seed)
        return np.array([task.draw(rng) for _ in range(BLOCK)])


def draw_home(axes: Axes) -> None:
    """Draw the region where balls should go."""
    axes.add_patch(Circle((0.0, 0.0), WaterSettings().region, color="0.85", zorder=0))


def draw_paths(axes: Axes, results: xr.Dataset) -> None:
    """Draw paths of bodies and balls from above; a circle marks the start of a ball."""
    paths = (results[name].values.reshape(-1, *results[name].shape[2:]) for name in ("body", "ball", "mark"))
    for body, ball, mark in zip(*paths, strict=True):
        axes.plot(*body.T, color=COLOURS[0], linewidth=0.9)
        axes.plot(*ball.T, color=COLOURS[2], linewidth=1.2)
        axes.plot(*mark, "o", color=COLOURS[2], markersize=5, fillstyle="none")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")


def spread(results: xr.Dataset) -> str:
    """The smallest and the largest share of balls that any set of random targets gets done."""
    sets = np.unique(results["set"].values)
    shares = [np.isfinite(pick(results, set=each)["when"].values).mean() for each in sets]
    return f"{min(shares):.1%} to {max(shares):.1%} in {len(sets)} sets"


def claim_circles(results: xr.Dataset, done: str, needed: float | None = None) -> Claim:
    """The claim that snakes which fail as the source does it swim in circles, in the last third of the time.

    Args:
        results: Of jobs with ``how``.
        done: What they should have done with the balls.
        needed: How close to the ball the centre of mass must come [m]; if given, the circle must stay further away.
    """
    chosen = pick(results, how="source")
    last = slice(2 * SAMPLES // 3, None)
    body, ball = (chosen[name].values.reshape(-1, SAMPLES, 2)[:, last] for name in ("body", "ball"))
    failed = np.flatnonzero(~np.isfinite(chosen["when"].values.ravel()))
    radii, nearest = [], []
    for k in failed:
        known = np.isfinite(body[k]).all(axis=1)
        circle = fit_circle(body[k][known]) if known.sum() > 2 else None
        close = float(np.linalg.norm(body[k] - ball[k], axis=1)[known].min(initial=np.inf))
        if circle and circle.swum and (needed is None or close > needed):
            radii.append(circle.radius)
            nearest.append(close)
    said = f"{len(radii)} of {failed.size}"
    if radii:
        said += f", of {min(radii):.1f} to {max(radii):.1f} m radius"
        said += f", never closer than {min(nearest):.1f} m" if needed else ""
    limits = "in the last third of the time, at least one round, within 10% of a circle"
    limits += f"; a grasp begins below {needed:.1f} m" if needed else ""
    text = f"Snakes that have not {done} their ball, as the source does it, swim in circles."
    return Claim(text, "all of them", said, len(radii) == failed.size, limits)


def claim_all(results: xr.Dataset, how: str, done: str) -> Claim:
    """The claim that all four quadrants succeed."""
    chosen = pick(results, how=how)
    count, lost = int(np.isfinite(chosen["when"].values).sum()), int(chosen["exploded"].values.sum())
    tries = ", ".join(f"{tries:g}" for tries in chosen["attempts"].values.ravel())
    text = f"Balls in all four quadrants are {done}, {WORDS[how]}."
    return Claim(text, "4 of 4", f"{count} of 4 (grasps: {tries})", count == 4, f"{lost} exploded")
