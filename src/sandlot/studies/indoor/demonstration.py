"""From a path that somebody walks to a robot that drives it, by what a sensor model says is seen along it."""

import functools
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field
from scipy.spatial import cKDTree

from sandlot.control.perceiving import Perceiver
from sandlot.kernels.randomness import children
from sandlot.places.plans import load_plan
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.indoor import walks
from sandlot.studies.indoor.pictures import draw_plan
from sandlot.studies.indoor.shared import LABELS, METHODS, SOURCE, look
from sandlot.studies.indoor.walks import SPACING
from sandlot.studies.plots import COLOURS, canvas, points
from sandlot.studies.statistics import Comparison, compare, holm, mean_interval
from sandlot.surrogates import equations
from sandlot.surrogates.narmax import FitWarning, Narmax
from sandlot.surrogates.sensor_models import SensorModel
from sandlot.typing import Array
from sandlot.worlds.indoor.learned import SAMPLES, explore
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.world import Indoor

Path = Literal["loop", "kidney"]
PERCEPTIONS = ("actual", "local", "sectors")
VARIANTS = ("around", "path only")
WORLD = IndoorSettings()
EVERY = 5
"""What is seen is estimated at every fifth of the walker's positions."""
SPARE = 1.1
"""So many times as long as the walker may the robot take: it slips, and swings out."""
ASIDE = 0.5
"""So far beside the path the robot starts, to see whether it comes back [m]."""
NEAR = 0.5
"""Within this the robot is near the path [m]."""
CLOSE = 0.25
"""It follows closely if it is nearer than this on the mean [m]."""
AS_CLOSE = 0.05
"""It follows as closely if the mean distance grows by less than this [m]."""
POINTS = 400
"""Of the drive that is kept."""
Kind: TypeAlias = tuple[str, str]
"""Of a lesson: perception and variant."""
OURS, PATH_ONLY, SOURCES, ACTUAL = (
    ("local", "around"),
    ("local", "path only"),
    ("sectors", "around"),
    ("actual", "around"),
)
TEST = "on every path, Mann-Whitney U, Holm-corrected, p < 0.05"
LESS: Mapping[str, tuple[str, Kind]] = {
    "Shown what is seen around the path, it follows more closely than shown only what is seen on it (local).": (
        "deviation",
        PATH_ONLY,
    ),
    f"Started {ASIDE:g} m beside the path, it then comes back to it more closely (local).": ("back", PATH_ONLY),
    "It follows more closely by our estimates (local) than by the source's (sectors).": ("deviation", SOURCES),
}
"""Claims that our kind of lesson leaves less of an outcome than another."""


@dataclass(frozen=True)
class Lesson:
    """What was learned from a walk.

    Attributes:
        walk: (points, 2) where the walker was [m]; the last is next to the first.
        equation: From medians to a turn.
        nearest: (segments,) of the medians that it was fitted to [m].
        furthest: (segments,) [m]
        wrong: Mean error of the medians along the walk, beside what the laser sees there [m].
    """

    walk: Array
    equation: Narmax
    nearest: Array
    furthest: Array
    wrong: float


@study("indoor.demonstration", source=f"{SOURCE}, future work")
class Demonstration(Study):
    """Can a robot learn a path from somebody who walks it?

    The source plans to track a person, to estimate with a sensor model what the robot would see where the person was,
    and to make a controller from that. Here a person walks three uneven rounds along a path in the arena. The robot has
    wandered there before, so there is a sensor model: the source's (sectors) or ours (local); beside them is what the
    laser really sees (actual). A NARMAX equation is fitted, from the six medians seen to the turn that leads to the
    path a metre ahead. It alone then steers the robot, at the walker's speed, by what the laser sees.

    A path shows only what is seen on it (path only). But a sensor model says what is seen anywhere: so poses beside the
    walker's, turned away from the path, can be added (around).

    An equation could rely on details that a sensor model made up. So what is estimated gets noise before the fit: as
    much as the model is wrong about its own log.

    Attributes:
        paths: ``loop``, a rounded rectangle of 5.6 by 4.6 m; ``kidney``, which also bends to the right.
        samples: Scans of the robot's log.
        walked: Rounds of the walker.
        uneven: Standard deviation of the walker's way from the path [m].
        speed: Of walker and robot [m/s].
        ahead: How far ahead on the path the robot shall aim [m].
        beside: For ``around``: poses added for each of the walker's.
        side: How far beside the path these are at most [m].
        turned: How far they are turned away from it at most [rad].
        degree: Of the equation.
        terms: Most of them.
        rounds: Which the robot shall drive.
        replicates: Logs, walks and drives; the same ones for all perceptions and variants.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "deviation": Quantity("m", "mean distance to the path"),
        "worst": Quantity("m", "largest distance to the path"),
        "within": Quantity("1", f"share of time within {NEAR:g} m of the path"),
        "rounds": Quantity("1", "rounds driven"),
        "bumps": Quantity("1", "steps in which the robot touched a wall"),
        "back": Quantity("m", f"mean distance to the path in the second half of a drive from {ASIDE:g} m beside it"),
        "wrong": Quantity("m", "mean error of the medians along the walk"),
        "terms": Quantity("1", "terms of the equation"),
        "track": Quantity("m", "where the robot drove", ("point", "axis"), (0, 2)),
    }

    paths: Annotated[tuple[Path, ...], Field(min_length=1), AfterValidator(distinct)] = ("loop", "kidney")
    samples: int = Field(SAMPLES, ge=100, le=100_000)
    walked: int = Field(3, ge=1, le=100)
    uneven: float = Field(0.05, ge=0.0, le=0.3)
    speed: float = Field(0.4, gt=0.0, le=WORLD.robot.top_speed)
    ahead: float = Field(1.0, ge=0.1, le=3.0)
    beside: int = Field(10, ge=1, le=1000)
    side: float = Field(0.2, ge=0.0, le=1.0)
    turned: float = Field(math.radians(15.0), ge=0.0, le=math.pi / 2)
    degree: int = Field(4, ge=1, le=5)
    terms: int = Field(60, ge=1, le=200)
    rounds: float = Field(4.0, gt=0.0, le=1000.0)
    replicates: int = Field(10, ge=1, le=10_000)

    def jobs(self) -> Iterator[Job]:
        """Every path, perception and variant, ``replicates`` times; those of one log in a row."""
        return self.cross(replicate=range(self.replicates), perception=PERCEPTIONS, path=self.paths, variant=VARIANTS)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Walk, learn, and drive twice: from the start of the path, and from beside it."""
        perception, path, variant = (str(job.parameters[name]) for name in ("perception", "path", "variant"))
        replicate = int(job.parameters["replicate"])
        lesson = self.learn(path, perception, variant, replicate)
        seed = self._seeds(replicate)[3]
        start = walks.poses(lesson.walk)[0]
        driven, bumps = self._drive(lesson, start, seed)
        side = ASIDE * (-1.0) ** replicate
        again, _ = self._drive(lesson, walks.shifted(start[None], np.array([side]), np.zeros(1))[0], seed)
        middle = self.middle(lesson.walk)
        away, away_again = (cKDTree(middle).query(way)[0] for way in (driven, again))
        angles = np.unwrap(np.arctan2(*(driven - middle.mean(0)).T[::-1]))
        return {
            "deviation": float(away.mean()),
            "worst": float(away.max()),
            "within": float((away <= NEAR).mean()),
            "rounds": float(angles[-1] - angles[0]) / (2.0 * math.pi),
            "bumps": float(bumps),
            "back": float(away_again[len(away_again) // 2 :].mean()),
            "wrong": lesson.wrong,
            "terms": float(len(lesson.equation.factors_)),
            "track": driven[np.linspace(0, len(driven) - 1, POINTS).round().astype(int)],
        }

    def learn(self, path: str, perception: str, variant: str, replicate: int) -> Lesson:
        """Watch somebody walk, estimate what is seen there, and find an equation from that to turns."""
        log, steps, chance, _ = self._seeds(replicate)
        walk, rng = (
            walks.walk(path, self.walked, self.uneven, np.random.default_rng(steps)),
            np.random.default_rng(chance),
        )
        here = np.arange(0, len(walk), EVERY)
        along = walks.poses(walk)[here]
        plan = load_plan(WORLD.plan)
        truth = look(WORLD, plan, along, rng).segments()
        index, poses = here, along
        if variant == "around":
            index = np.repeat(here, self.beside)
            sides, turns = rng.uniform(-1.0, 1.0, (2, len(index)))
            poses = walks.shifted(np.repeat(along, self.beside, 0), self.side * sides, self.turned * turns)
            index, poses = np.concatenate([here, index]), np.concatenate([along, poses])
        if perception == "actual":
            medians = doubted = look(WORLD, plan, poses, rng).segments()
        else:
            model, doubt = _model(perception, self.samples, _number(log))
            medians = model.predict(poses)
            doubted = medians + doubt * rng.normal(size=medians.shape)
        known = np.isfinite(medians).all(1)
        turns = walks.pursue(poses, walk[(index + round(self.ahead / SPACING)) % len(walk)], self.speed)
        equation = Narmax(self.degree, most=self.terms, names=LABELS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # on a path, some terms are nearly the same
            equation.fit(doubted[known], turns[known])
        wrong = float(np.nanmean(np.abs(medians[: len(here)] - truth)))
        return Lesson(walk, equation, medians[known].min(0), medians[known].max(0), wrong)

    def middle(self, walk: Array) -> Array:
        """The path that was shown: the mean of all rounds of a walk, (points, 2) [m]."""
        mean: Array = walk.reshape(self.walked, -1, 2).mean(0)
        return mean

    def _drive(self, lesson: Lesson, start: Array, seed: np.random.SeedSequence) -> tuple[Array, int]:
        """Where the robot is at every step, (steps + 1, 2) [m], and how often it touches a wall."""
        world = Indoor(**WORLD.model_dump())
        known = (lesson.nearest, lesson.furthest)
        act = Perceiver(lesson.equation, WORLD.laser, self.speed, WORLD.robot.top_turn, *known)
        seen, _ = world.reset(seed=_number(seed), options={"start": start})
        length = SPACING * len(lesson.walk) / self.walked
        places = [world.pose[:2]]
        for _ in range(math.ceil(SPARE * self.rounds * length / (self.speed * WORLD.interval))):
            seen, *_ = world.step(act(seen))
            places.append(world.pose[:2])
        return np.array(places), int(world.outcomes()["bumps"])

    def _seeds(self, replicate: int) -> list[np.random.SeedSequence]:
        """Of log, walk, what is seen, and drive."""
        return children(np.random.SeedSequence(self.seed, spawn_key=(replicate,)), 4)

    def figure(self, results: xr.Dataset) -> Figure:
        """Distance from the robot to the path, of every drive, and medians: driving from its start, and coming back.

        The dashed line is what counts as close.
        """
        figure, panels = canvas(2 * len(self.paths), 6.0 * len(self.paths), 4.2)
        titles = {"deviation": "from its start", "back": f"from {ASIDE:g} m beside it"}
        both = [(path, name) for name in titles for path in self.paths]
        for axes, (path, name) in zip(panels, both, strict=True):
            for k, variant in enumerate(VARIANTS):
                for place, perception in enumerate(PERCEPTIONS):
                    values = pick(results, path=path, perception=perception, variant=variant)[name].values
                    points(axes, place + 0.2 * (2 * k - 1), values, COLOURS[k])
                axes.plot([], [], "o", color=COLOURS[k], label=variant)
            axes.axhline(CLOSE, color="0.4", linestyle=(0, (4, 3)), linewidth=1.0)
            axes.set_xticks(range(len(PERCEPTIONS)), PERCEPTIONS)
            lowest, highest = (float(f(results[each].values)) for each, f in (("deviation", np.min), ("back", np.max)))
            limits = (0.8 * min(lowest, CLOSE), 1.25 * max(highest, float(results["deviation"].max()), CLOSE))
            axes.set(yscale="log", xlim=(-0.6, len(PERCEPTIONS) - 0.4), ylim=limits, title=f"{path}, {titles[name]}")
            axes.set_yticks([y for y in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if limits[0] <= y <= limits[1]])
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.minorticks_off()
            axes.grid(visible=False, axis="x")
        panels[0].set_ylabel("mean distance to the path [m]")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
        return figure

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The first replicate's drives along each path."""
        plan = load_plan(WORLD.plan)
        for path in self.paths:
            walk = walks.walk(path, self.walked, self.uneven, np.random.default_rng(self._seeds(0)[1]))
            figure = Figure(figsize=(12.0, 4.6), layout="constrained")
            for axes, perception in zip(figure.subplots(1, len(PERCEPTIONS)), PERCEPTIONS, strict=True):
                draw_plan(axes, plan)
                axes.plot(*walk.T, color="0.75", linewidth=3.0, label="walked")
                for k, variant in reversed(list(enumerate(VARIANTS))):
                    track = pick(results, path=path, perception=perception, variant=variant)["track"].values[0]
                    axes.plot(*track.T, color=COLOURS[k], linewidth=1.0, label=variant)
                axes.plot(*walk[0], "o", color="black", markersize=4.0)
                axes.set_title(perception)
            handles = figure.axes[0].get_legend_handles_labels()
            figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)
            yield Picture(
                f"A walk along the {path}, and drives from the dot on, by how it was estimated what is seen.", figure
            )

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The controllers of the first replicate, by `local` and around the path: as text, in Python and in C."""
        found = {f"turn_{path}": self.learn(path, "local", "around", 0) for path in self.paths}
        forms = {"txt": ("{}", equations.text), "py": ("# {}", equations.python), "c": ("/* {} */", equations.c)}
        return {
            f"controller.{suffix}": "\n\n".join(
                f"{comment.format(_limits(name, lesson))}\n{write(lesson.equation, name).rstrip()}\n"
                for name, lesson in found.items()
            )
            for suffix, (comment, write) in forms.items()
        }

    def drives(self, results: xr.Dataset, path: str, kind: Kind) -> xr.Dataset:
        """Those after one kind of lesson, one for each replicate."""
        return pick(results, path=path, perception=kind[0], variant=kind[1])

    def tests(self, results: xr.Dataset, outcome: str, base: Kind) -> list[Comparison]:
        """Our kind of lesson against another, on every path, corrected for having made all of these."""
        found = []
        for path in self.paths:
            groups = {", ".join(each): self.drives(results, path, each)[outcome].values for each in (OURS, base)}
            found += compare(groups, ", ".join(base), f"{outcome}, {path}")
        return [replace(test, p=float(p)) for test, p in zip(found, holm([test.p for test in found]), strict=True)]

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Around a path against the path only, and ours against the source's and against what is really seen."""
        both = [(outcome, base) for outcome in ("deviation", "back") for base in (PATH_ONLY, SOURCES, ACTUAL)]
        return [test for outcome, base in both for test in self.tests(results, outcome, base)]

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Whether it works, how closely, and what that needs."""
        return [
            self._claim_rounds(results, SOURCES, "the source's way (sectors)", "planned"),
            self._claim_rounds(results, OURS, "our way (local)", "not studied"),
            self._claim_close(results),
            self._claim_as_close(results),
            *(self._claim_less(results, text, outcome, base) for text, (outcome, base) in LESS.items()),
        ]

    def _claim_rounds(self, results: xr.Dataset, kind: Kind, way: str, source: str) -> Claim:
        drives = [self.drives(results, path, kind) for path in self.paths]
        good = [(each["rounds"].values >= self.rounds) & (each["bumps"].values == 0.0) for each in drives]
        counts = ", ".join(f"{path}: {g.sum()} of {g.size}" for path, g in zip(self.paths, good, strict=True))
        text = f"With what is seen estimated in {way}, the robot drives all {self.rounds:g} rounds without a bump."
        bumped = sum(int((each["bumps"].values > 0.0).sum()) for each in drives)
        return Claim(text, source, counts, all(g.all() for g in good), f"around; {bumped} drives with bumps")

    def _claim_close(self, results: xr.Dataset) -> Claim:
        drives = [self.drives(results, path, OURS) for path in self.paths]
        means = [float(each["deviation"].mean()) for each in drives]
        text = f"By our estimates (local), it stays within {CLOSE:g} m of the path on the mean."
        share = ", ".join(f"{float(each['within'].mean()):.1%}" for each in drives)
        note = f"on {' and '.join(self.paths)}, around; within {NEAR:g} m for {share} of the time"
        return Claim(text, "not studied", _metres(means), max(means) < CLOSE, note)

    def _claim_as_close(self, results: xr.Dataset) -> Claim:
        """With the same logs, walks and drives for both, so that differences are paired."""
        both = [
            [self.drives(results, path, kind)["deviation"].values for kind in (OURS, ACTUAL)] for path in self.paths
        ]
        found = [mean_interval(ours - actual) for ours, actual in both]
        measured = "; ".join(f"{each.mean:+.3f} m ({each.low:+.3f} to {each.high:+.3f})" for each in found)
        text = "It follows as closely by our estimates (local) as by what the laser really sees."
        note = f"difference on {' and '.join(self.paths)}, around; the 95% interval ends below {AS_CLOSE:g} m"
        return Claim(text, "not studied", measured, all(each.high < AS_CLOSE for each in found), note)

    def _claim_less(self, results: xr.Dataset, text: str, outcome: str, base: Kind) -> Claim:
        """Whether our kind of lesson leaves less than another, on all paths."""
        tests = self.tests(results, outcome, base)
        both = [
            [float(self.drives(results, path, kind)[outcome].mean()) for kind in (OURS, base)] for path in self.paths
        ]
        unsure = [f"{test.quantity.partition(', ')[2]} (p={test.p:.2g})" for test in tests if not test.below()]
        note = f"{'; '.join(self.paths)}; {TEST}" + (f". Not so: {', '.join(unsure)}" if unsure else "")
        return Claim(text, "not studied", "; ".join(_metres(means, " against ") for means in both), not unsure, note)


@functools.lru_cache(maxsize=4)
def _model(method: str, samples: int, seed: int) -> tuple[SensorModel, Array]:
    """Fitted to a log, and how wrong it is about that: (segments,) [m]; the jobs of a replicate share it."""
    log = _log(samples, seed)
    model = METHODS[method]().fit(log)
    return model, np.nanmean(np.abs(model.predict(log.poses) - log.segments()), 0)


_log = functools.lru_cache(maxsize=2)(functools.partial(explore, WORLD))


def _number(seed: np.random.SeedSequence) -> int:
    return int(seed.generate_state(1)[0])


def _limits(name: str, lesson: Lesson) -> str:
    """What a controller's equation is given and gives, in a line."""
    known = zip(LABELS, lesson.nearest, lesson.furthest, strict=True)
    ranges = ", ".join(f"{label} {low:.2f} to {high:.2f}" for label, low, high in known)
    return f"{name} [rad/s], from medians [m], to be cut off at: {ranges}"


def _metres(values: list[float], between: str = ", ") -> str:
    return between.join(f"{value:.3f} m" for value in values)
