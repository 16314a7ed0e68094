"""Swimming to a target, grasping it, and bringing it home, with and without a current."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import Field

from sandlot.control.fetching import SURE, Fetcher, FetchSettings
from sandlot.control.gaits import STRAIGHT, Gait, Schedule, fold, grasp_poses, then
from sandlot.control.steering import Seeker, StateSteering
from sandlot.recordings import Quantity
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import FastSwimmers, ReferenceSwimmers, start_centre
from sandlot.studies.base import Claim, Found, Job, Picture, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import SHORT, Array, shared_waves
from sandlot.studies.water.drawing import draw_body, draw_region
from sandlot.studies.water.strips import strip
from sandlot.worlds.base import Controller
from sandlot.worlds.water import WaterSettings
from sandlot.worlds.water_task import WaterTask

SAMPLES = 200
"""Points of a path that are kept."""
BLOCK = 4
"""Targets of a job: simulations are stepped together."""
HOW = {"source": FetchSettings(), "sure": SURE}
PATHS = {
    "body": Quantity("m", "path of the centre of mass", ("target", "sample", "axis"), (0, 0, 2)),
    "ball": Quantity("m", "path of the target", ("target", "sample", "axis"), (0, 0, 2)),
    "mark": Quantity("m", "where the target was at the start", ("target", "axis"), (0, 2)),
}


def quadrants(distance: float) -> Array:
    """One target in each quadrant: (4, 2) [m]."""
    return distance * np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])


def act(
    settings: WaterSettings,
    marks: Array,
    controllers: Sequence[Controller],
    seconds: float,
    done: Callable[[WaterTask], NDArray[np.bool_]],
) -> dict[str, Array]:
    """Let controllers act until all are done, or the time is over.

    Args:
        settings: Of the world.
        marks: Where the targets are: (n, 2) [m].
        controllers: One for each.
        seconds: At most so long [s].
        done: Which are.

    Returns:
        ``when`` (n,) each was done [s], not a number if never; ``exploded`` (n,); and the paths.
    """
    task = WaterTask(settings, len(marks))
    task.restart(np.arange(len(marks)), marks)
    when, lost = np.full(len(marks), np.nan), np.zeros(len(marks), np.bool_)
    commands = round(seconds / settings.snake.interval)
    every = max(commands // SAMPLES, 1)
    paths = np.full((2, SAMPLES, len(marks), 2), np.nan)
    actions = np.zeros((len(marks), settings.snake.joints))
    for k in range(commands):
        going = np.isnan(when) & ~lost
        if not going.any():
            break
        if k % every == 0 and k // every < SAMPLES:
            paths[:, k // every, going] = np.stack([task.centre, task.targets])[:, going]
        seen = task.observe()
        for body in np.flatnonzero(going):
            actions[body] = controllers[body](seen[body])
        task.command(actions)
        lost |= task.exploded
        when[going & ~lost & done(task)] = (k + 1) * settings.snake.interval
    body, ball = paths.transpose(0, 2, 1, 3)
    return {"when": when, "exploded": lost.astype(np.float64), "body": body, "ball": ball, "mark": marks}


def draw_paths(axes: Axes, results: xr.Dataset, jobs: NDArray[np.bool_], region: float | None = None) -> None:
    """Paths of bodies and balls, seen from above; a ball's start is a circle."""
    if region is not None:
        draw_region(axes, (0.0, 0.0), region)
    for body, ball, mark in zip(
        *(results[name].values[jobs].reshape(-1, *results[name].shape[2:]) for name in ("body", "ball", "mark")),
        strict=True,
    ):
        axes.plot(*body.T, color=COLOURS[0], linewidth=0.9)
        axes.plot(*ball.T, color=COLOURS[2], linewidth=1.2)
        axes.plot(*mark, "o", color=COLOURS[2], markersize=5, fillstyle="none")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")


@study("water.turn", source="Draschwandtner 2015, section 7.3")
class Turn(Study):
    """Can the snake steer to a target in any direction?

    A machine of four states, forward, left, right and stop, bends an eight-link body by adding a constant to all its
    joints: the source's, and twice as much. Each target is tried at both fidelities.

    Attributes:
        distance: Of the targets from the centre of mass, along x and y [m].
        seconds: An episode ends after so long [s]; the source's after 30.
        veers: What is added to all joints for a turn [rad].
        snake: The body.
        gait: How it swims.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "when": Quantity("s", "time when the target was reached; not a number if never", ("target",), (0,)),
        "exploded": Quantity("1", "whether the simulation exploded", ("target",), (0,)),
        **PATHS,
    }

    distance: float = Field(10.0, gt=0.0)
    seconds: float = Field(60.0, gt=0.0)
    veers: tuple[float, ...] = Field((0.05, 0.1), min_length=1)
    snake: Snake = SHORT
    gait: Gait = Gait(amplitude=0.6, frequency=1.0, phase=2.0 * np.pi / 7.0)

    def jobs(self) -> Iterator[Job]:
        """All quadrants, at both fidelities."""
        return self.cross(veer=self.veers, fidelity=("fast", "reference"))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Steer to a target in each quadrant."""
        marks = quadrants(self.distance) + start_centre(self.snake)
        settings = WaterSettings(fidelity=str(job.parameters["fidelity"]), snake=self.snake)
        veer = float(job.parameters["veer"])
        seekers = [Seeker(self.snake, self.gait, StateSteering(veer)) for _ in marks]
        return act(settings, marks, seekers, self.seconds, lambda task: task.reached)

    def figure(self, results: xr.Dataset) -> Figure:
        """Paths of the centre of mass to the four targets (as figure 7.9)."""
        figure, axes = canvas(len(self.veers) * 2, 4.2 * len(self.veers) * 2, 4.2)
        for k, each in enumerate(axes):
            draw_paths(each, results, np.arange(len(axes)) == k)
            job = results.isel(job=k)
            each.set_title(f"{job['fidelity'].item()}, bent by {job['veer'].item():g} rad")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Targets in all four quadrants are reached."""
        claims = []
        rows = zip(*(results[name].values for name in ("fidelity", "veer", "when")), strict=True)
        for fidelity, veer, row in rows:
            times = ", ".join(f"{when:.1f} s" if np.isfinite(when) else "never" for when in row)
            soon = int((row <= 30.0).sum())
            text = f"Bent by {veer:g} rad, targets in all four quadrants are reached within 30 s ({fidelity})."
            claims.append(
                Claim(text, "4 of 4" if veer == 0.05 else "beyond the source", f"{soon} of 4 ({times})", soon == 4)
            )
        return claims


@study("water.grasp", source="Draschwandtner 2015, section 7.9")
class Grasp(Study):
    """Does a circle that gets ever smaller catch a ball?

    An eight-link body lies still for a second, forms a circle around the ball, and tightens it four times, once a
    second. The source places the body as if it had 17 links; its ball is taken to be where it would be beside these 8.

    Attributes:
        snake: The body.
        ball: Where the ball is [m], for a grasp to the left; to the right it is on the other side.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "held": Quantity("1", "whether the ball is between the links that should hold it"),
        "away": Quantity("m", "from the middle of these links to the ball"),
        "moved": Quantity("m", "how far the ball was moved"),
        "exploded": Quantity("1", "whether the simulation exploded"),
    }
    HOLDING: ClassVar[int] = 3

    snake: Snake = Snake(links=8, mass=150.0, max_torque=1e4)
    ball: tuple[float, float] = (-4.0, 2.0)

    def jobs(self) -> Iterator[Job]:
        """Both sides."""
        return self.cross(side=("left", "right"))

    def plan(self, left: bool) -> Schedule:
        """Wait, form a circle, tighten it."""
        poses = [np.zeros(self.snake.joints), *grasp_poses(self.snake.joints, self.HOLDING, left)]
        folds = [fold(a, b, 0.8, at=1.0 + k) for k, (a, b) in enumerate(itertools.pairwise(poses))]
        return then(Schedule((0.0,), (STRAIGHT,)), *folds)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Grasp once."""
        left = job.parameters["side"] == "left"
        place = np.array([self.ball[0], self.ball[1] if left else -self.ball[1]])
        plan, snake = self.plan(left), self.snake
        swimmers = ReferenceSwimmers(snake, 1, balls=place[None])
        for k in range(round(10.0 / snake.interval)):
            swimmers.command(plan.targets((k + 1) * snake.interval, snake.joints)[None])
        ring, ball = swimmers.centres[0, : self.HOLDING + 1], swimmers.balls[0]
        inside = bool((ring.min(axis=0) <= ball).all() and (ball <= ring.max(axis=0)).all())
        return {
            "held": float(inside),
            "away": float(np.linalg.norm(ring.mean(axis=0) - ball)),
            "moved": float(np.linalg.norm(ball - place)),
            "exploded": float(swimmers.exploded[0]),
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """The body around the ball, to the left, second by second (as figure 7.27)."""
        return strip(self.snake, self.plan(True), 7.0, "", ball=self.ball, count=8, columns=4).figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Four links hold the ball, to either side."""
        held = int(results["held"].sum())
        text = "The ball ends up between four links, to either side."
        measured = f"{held} of 2; {results['away'].values.max():.2f} m from their middle at most"
        return [Claim(text, "surrounded", measured, held == 2)]


class FetchStudy(Study):
    """A study in which snakes fetch balls in the reference.

    Attributes:
        seconds: An episode ends after so long [s].
        snake: The body.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "when": Quantity("s", "time when it was done; not a number if never", ("target",), (0,)),
        "attempts": Quantity("1", "grasps tried", ("target",), (0,)),
        "failures": Quantity("1", "of these, grasps after which the ball was not held", ("target",), (0,)),
        "exploded": Quantity("1", "whether the simulation exploded", ("target",), (0,)),
        **PATHS,
    }

    seconds: float = Field(300.0, gt=0.0)
    snake: Snake = Snake()

    def fetch(
        self, how: FetchSettings, marks: Array, current: tuple[float, float] = (0.0, 0.0), captured: bool = False
    ) -> dict[str, Found]:
        """Let snakes fetch balls, or only capture them."""
        fetchers = [Fetcher(self.snake, how) for _ in marks]
        settings = WaterSettings(fidelity="reference", snake=self.snake, current=current)

        def done(task: WaterTask) -> NDArray[np.bool_]:
            # A ball that was only touched, and drifts home by itself, is not delivered.
            states = np.array([each.state for each in fetchers])
            return states == "carry" if captured else task.delivered & (states == "retreat")

        found: dict[str, Found] = dict(act(settings, marks, fetchers, self.seconds, done))
        return found | {
            "attempts": np.array([float(each.attempts) for each in fetchers]),
            "failures": np.array([float(each.failures) for each in fetchers]),
        }

    def draw_targets(self, job: Job, distance: float) -> Array:
        """Random targets, uniform over a disc, none inside the body: (4, 2) [m]."""
        task = WaterTask(WaterSettings(fidelity="reference", snake=self.snake, distance=distance))
        rng = np.random.default_rng(job.seed)
        return np.array([task.draw(rng) for _ in range(BLOCK)])


@study("water.capture", source="Draschwandtner 2015, section 7.11")
class Capture(FetchStudy):
    """Can the snake capture a ball wherever it lies?

    It steers by a bend in proportion to the angle to the ball, and grasps when it is near: once as the source does, and
    once as is sure here.

    Attributes:
        distance: Of the targets, along x and y [m].
    """

    distance: float = Field(30.0, gt=0.0)

    def jobs(self) -> Iterator[Job]:
        """All quadrants, in both ways."""
        return self.cross(how=tuple(HOW))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Capture a ball in each quadrant."""
        return self.fetch(HOW[str(job.parameters["how"])], quadrants(self.distance), captured=True)

    def figure(self, results: xr.Dataset) -> Figure:
        """Paths of the centre of mass and of the ball (as figure 7.32)."""
        return draw_both(results, None)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """All are captured."""
        return [claim_all(results, how, "captured") for how in HOW]


def draw_both(results: xr.Dataset, region: float | None) -> Figure:
    """Paths of what was done as the source does it, and as is sure."""
    figure, axes = canvas(2, 10.0, 5.0)
    for each, how in zip(axes, HOW, strict=True):
        draw_paths(each, results, results["how"].values == how, region)
        each.set_title({"source": "as the source does it", "sure": "as is sure"}[how])
    return figure


def claim_all(results: xr.Dataset, how: str, done: str) -> Claim:
    """That it was done in all four quadrants."""
    chosen = results["how"].values == how
    when, attempts = results["when"].values[chosen].ravel(), results["attempts"].values[chosen].ravel()
    count = int(np.isfinite(when).sum())
    words = {"source": "as the source does it", "sure": "as is sure here"}[how]
    tries = ", ".join(f"{tries:g}" for tries in attempts)
    return Claim(
        f"Balls in all four quadrants are {done}, {words}.", "4 of 4", f"{count} of 4 (grasps: {tries})", count == 4
    )


@study("water.deliver", source="Draschwandtner 2015, section 7.12")
class Deliver(FetchStudy):
    """Can the snake fetch a ball and bring it home, wherever it lies?

    First from the four places of the source, as the source does it and as is sure here; then, beyond the source, from
    random places around home. If a grasp fails, the snake backs off and tries again. A ball is delivered when it lies
    within 8 m of home and the snake, having let go, is clear of it.

    Attributes:
        quadrant: Distance of the source's targets, along x and y [m].
        distance: Of random targets, at most [m].
        targets: How many of them; a multiple of 4.
    """

    quadrant: float = Field(40.0, gt=0.0)
    distance: float = Field(60.0, gt=0.0)
    targets: int = Field(200, ge=BLOCK, multiple_of=BLOCK)

    def jobs(self) -> Iterator[Job]:
        """The source's places, in both ways; then random ones, by fours."""
        kinds: list[dict[str, str | int]] = [{"how": how, "place": "quadrant", "block": 0} for how in HOW]
        kinds += [{"how": "sure", "place": "random", "block": k} for k in range(self.targets // BLOCK)]
        for index, kind in enumerate(kinds):
            yield Job(index, kind, np.random.SeedSequence(self.seed, spawn_key=(index,)))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Fetch four balls."""
        random = job.parameters["place"] == "random"
        marks = self.draw_targets(job, self.distance) if random else quadrants(self.quadrant)
        return self.fetch(HOW[str(job.parameters["how"])], marks)

    def figure(self, results: xr.Dataset) -> Figure:
        """Paths of body and ball from the source's places (as figure 7.34), and where random balls were."""
        figure, axes = canvas(3, 14.0, 4.8)
        places = results.isel(job=results["place"].values == "quadrant")
        for each, how in zip(axes, HOW, strict=False):
            draw_paths(each, places, places["how"].values == how, 8.0)
            each.set_title({"source": "as the source does it", "sure": "as is sure"}[how])
        chance = results.isel(job=results["place"].values == "random")
        marks, good = chance["mark"].values.reshape(-1, 2), np.isfinite(chance["when"].values.ravel())
        draw_region(axes[2], (0.0, 0.0), 8.0)
        axes[2].plot(*marks[good].T, "o", color=COLOURS[2], markersize=4, label="delivered")
        axes[2].plot(*marks[~good].T, "x", color=COLOURS[1], markersize=6, label="not delivered")
        axes[2].set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="random places")
        axes[2].legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """All four quadrants, one after a failed grasp; and 95% of random places."""
        places = results.isel(job=results["place"].values == "quadrant")
        chance = results.isel(job=results["place"].values == "random")
        done = np.isfinite(results["when"].values)
        failed = int((done & (results["failures"].values > 0)).sum())
        again = int((done & (results["attempts"].values > 1)).sum())
        good = np.isfinite(chance["when"].values)
        lost = int(chance["exploded"].values.sum())
        middle = float(np.nanmedian(chance["when"].values)) if good.any() else np.nan
        return [
            *(claim_all(places, how, "delivered") for how in HOW),
            Claim(
                "A delivery succeeds after a failed grasp.",
                "1",
                failed,
                failed > 0,
                f"{again} took more than one grasp: the others lost the ball on the way, or let go too far from home",
            ),
            Claim(
                f"Of random places up to {self.distance:g} m away, at least 95% are delivered from.",
                "beyond the source: 95%",
                f"{int(good.sum())} of {good.size} ({good.mean():.1%}), half of them within {middle:.0f} s",
                bool(good.mean() >= 0.95),
                f"within {self.seconds:g} s; {lost} exploded",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """One delivery, from the first stroke to the last."""
        place = quadrants(self.quadrant)[1]
        fetcher, task = Fetcher(self.snake, SURE), WaterTask(WaterSettings(fidelity="reference", snake=self.snake))
        task.restart(np.array([0]), place[None])
        shots: list[tuple[str, float, Array, Array, Array]] = []
        state = ""
        for _ in range(round(self.seconds / self.snake.interval)):
            task.command(fetcher(task.observe()[0])[None])
            if fetcher.state != state and len(shots) < 8:
                state = fetcher.state
                time = float(task.swimmers.time[0])
                shots.append((state, time, task.centres[0].copy(), task.directions[0].copy(), task.targets[0].copy()))
            if task.delivered[0]:
                break
        time = float(task.swimmers.time[0])
        shots.append(("done", time, task.centres[0], task.directions[0], task.targets[0].copy()))
        figure = Figure(figsize=(11.0, 3.0 * -(-len(shots) // 4)), layout="constrained")
        for k, (word, time, centres, directions, ball) in enumerate(shots):
            axes = figure.add_subplot(-(-len(shots) // 4), 4, k + 1)
            draw_body(axes, centres, directions, self.snake, ball=ball, destination=(0.0, 0.0))
            middle = centres.mean(axis=0)
            axes.set(xlim=(middle[0] - 18, middle[0] + 18), ylim=(middle[1] - 18, middle[1] + 18))
            axes.set(xticks=[], yticks=[], title=f"{word}, {time:.0f} s")
        yield Picture("A delivery, whenever the snake begins to do something else. Home is the grey disc.", figure)


def swimming_speed(snake: Snake, gait: Gait) -> float:
    """Of a body that has swum straight on for a minute [m/s]."""
    swimmers = FastSwimmers(snake, 1)
    genes = np.array([[gait.amplitude, gait.frequency, gait.phase]], np.float64)
    swimmers.swim([0.0], shared_waves(genes, snake.joints)[None], 60.0)
    return float(np.linalg.norm(swimmers.velocity[0]))


@study("water.currents", source="beyond the source; its section 7.12")
class Currents(FetchStudy):
    """How strong a current can the snake deliver in?

    The water flows, each time in another direction, and takes the ball along. A ball counts as delivered if it lies
    within 8 m of home when the snake, having let go, is clear of it; it then drifts on.

    Attributes:
        strengths: Of the current, as shares of the swimming speed.
        targets: Random targets for each strength; a multiple of 4.
        distance: Of targets, at most [m].
    """

    strengths: tuple[float, ...] = (0.1, 0.2, 0.3)
    targets: int = Field(100, ge=BLOCK, multiple_of=BLOCK)
    distance: float = Field(60.0, gt=0.0)

    def jobs(self) -> Iterator[Job]:
        """Every strength, targets by fours."""
        return self.cross(strength=self.strengths, block=range(self.targets // BLOCK))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Fetch four balls in one current."""
        marks = self.draw_targets(job, self.distance)
        angle = np.random.default_rng([*job.seed.generate_state(2), 1]).uniform(0.0, 2.0 * np.pi)
        speed = float(job.parameters["strength"]) * swimming_speed(self.snake, SURE.swim)
        return self.fetch(SURE, marks, (speed * np.cos(angle), speed * np.sin(angle)))

    def shares(self, results: xr.Dataset) -> dict[float, NDArray[np.bool_]]:
        """Whether each ball was delivered, by strength."""
        strengths = results["strength"].values
        return {s: np.isfinite(results["when"].values[strengths == s]).ravel() for s in self.strengths}

    def figure(self, results: xr.Dataset) -> Figure:
        """Share of balls that are delivered, and the time it takes, by strength of the current."""
        figure, axes = canvas(2, 10.0, 4.0)
        good = self.shares(results)
        axes[0].plot(list(good), [100.0 * each.mean() for each in good.values()], "o-", color=COLOURS[0])
        axes[0].axhline(90.0, color=COLOURS[5], linestyle=":", label="90%")
        axes[0].set(xlabel="current, as a share of the swimming speed", ylabel="delivered [%]", ylim=(0, 102))
        axes[0].legend(frameon=False)
        strengths = results["strength"].values
        times = [results["when"].values[strengths == s].ravel() for s in self.strengths]
        axes[1].boxplot([each[np.isfinite(each)] for each in times], tick_labels=[f"{s:g}" for s in self.strengths])
        axes[1].set(xlabel="current, as a share of the swimming speed", ylabel="time to deliver [s]", ylim=(0, None))
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """90% in a current of a fifth of the swimming speed."""
        good = self.shares(results)
        speed = swimming_speed(self.snake, SURE.swim)
        if 0.2 not in good:
            return []
        text = f"In a current of a fifth of the swimming speed ({0.2 * speed:.2f} m/s), at least 90% are delivered."
        measured = f"{int(good[0.2].sum())} of {good[0.2].size} ({good[0.2].mean():.1%})"
        return [Claim(text, "beyond the source: 90%", measured, bool(good[0.2].mean() >= 0.9))]
