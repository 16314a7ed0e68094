"""A robot learns a path that a person walks, from readings that a sensor model estimates along it."""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field
from scipy.spatial import cKDTree

from sandlot.control.controller import Separate
from sandlot.control.perceiving import Perceiver
from sandlot.places.plans import load_plan
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, pick, study
from sandlot.studies.indoor import walks
from sandlot.studies.indoor.lessons import WORLD, Lesson, LessonStudy, number
from sandlot.studies.indoor.source import SOURCE
from sandlot.studies.indoor.walks import SPACING
from sandlot.studies.plots import COLOURS, canvas, points, show
from sandlot.studies.statistics import Comparison, compare, mean_interval, together
from sandlot.surrogates import equations
from sandlot.typing import Array
from sandlot.worlds.indoor.scene import plan_scene
from sandlot.worlds.indoor.world import Indoor
from sandlot.worlds.rollout import rollout

Path = Literal["loop", "kidney"]
PERCEPTIONS = ("actual", "local", "sectors")
VARIANTS = ("around", "path only")
SPARE = 1.1
"""Time limit of the robot, relative to the walker's time: it slips, and swings out."""
ASIDE = 0.5
"""Distance beside the path at which the robot starts, to see whether it returns [m]."""
NEAR = 0.5
"""Within this distance the robot is near the path [m]."""
CLOSE = 0.25
"""Mean distance to the path below which the robot follows it closely [m]."""
AS_CLOSE = 0.05
"""Increase of the mean distance below which two robots follow as closely [m]."""
POINTS = 400
"""Of a drive in the results."""
Kind: TypeAlias = tuple[str, str]
"""Perception and variant of a lesson."""
OURS, PATH_ONLY, SOURCES, ACTUAL = (
    ("local", "around"),
    ("local", "path only"),
    ("sectors", "around"),
    ("actual", "around"),
)
TEST = "on every path, Mann-Whitney U, Holm-corrected, p < 0.05"
LESS: Mapping[str, tuple[str, Kind]] = {
    "Trained with readings around the path, it follows more closely than when trained on the path only (local).": (
        "deviation",
        PATH_ONLY,
    ),
    f"Started {ASIDE:g} m beside the path, it then also returns to it more closely (local).": ("back", PATH_ONLY),
    "It follows more closely with our estimates (local) than with the source's (sectors).": ("deviation", SOURCES),
}
"""Claims that an outcome is smaller after our kind of lesson than after another."""


@study("indoor.demonstration", source=f"{SOURCE}, future work")
class Demonstration(LessonStudy):
    """Can a robot learn a path from a person who walks it?

    The source plans to track a person, to estimate with a sensor model the robot's readings along the person's path,
    and to fit a controller to them. Here a person walks three uneven rounds along a path in the arena. The robot
    wandered there before and fitted a sensor model to its log: the source's (sectors) or ours (local). They are
    compared with actual laser readings (actual). A NARMAX equation is fitted from the six medians to the turn rate that
    leads to the path a metre ahead. It alone then steers the robot, at the walker's speed, from actual laser readings.

    A path gives readings on it only (path only). But a sensor model predicts readings anywhere, so poses beside the
    walker's, turned away from the path, can be added (around).

    An equation could rely on artefacts of a sensor model. So the estimates get noise before the fit, with the model's
    mean absolute error on its own log as standard deviation.

    Attributes:
        paths: ``loop``, a rounded rectangle of 5.6 by 4.6 m; ``kidney``, which also bends to the right.
        rounds: To be driven by the robot.
        replicates: Logs, walks and drives; all perceptions and variants share them.
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
        "track": Quantity("m", "positions of the robot", ("point", "axis"), (0, 2)),
    }

    paths: Annotated[tuple[Path, ...], Field(min_length=1), AfterValidator(distinct)] = ("loop", "kidney")
    rounds: float = Field(4.0, gt=0.0, le=1000.0)
    replicates: int = Field(10, ge=1, le=10_000)

    def jobs(self) -> Iterator[Job]:
        """Every path, perception and variant, ``replicates`` times; jobs with the same log are consecutive."""
        return self.cross(replicate=range(self.replicates), perception=PERCEPTIONS, path=self.paths, variant=VARIANTS)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Learn from a walk, and drive twice: from the start of the path, and from beside it."""
        perception, path, variant = (str(job.parameters[name]) for name in ("perception", "path", "variant"))
        replicate = int(job.parameters["replicate"])
        lesson = self.learn(path, perception, variant, replicate)
        seed = self.seeds(replicate)[3]
        start = walks.poses(lesson.walk)[0]
        driven, bumps = self._drive(lesson, start, seed)
        side = ASIDE * (-1.0) ** replicate
        again, _ = self._drive(lesson, walks.shifted(start[None], np.array([side]), np.zeros(1))[0], seed)
        middle = self.middle(lesson.walk)
        distance, distance_again = (cKDTree(middle).query(track)[0] for track in (driven, again))
        angles = np.unwrap(np.arctan2(*(driven - middle.mean(0)).T[::-1]))
        return {
            "deviation": float(distance.mean()),
            "worst": float(distance.max()),
            "within": float((distance <= NEAR).mean()),
            "rounds": float(angles[-1] - angles[0]) / (2.0 * math.pi),
            "bumps": float(bumps),
            "back": float(distance_again[len(distance_again) // 2 :].mean()),
            "wrong": lesson.wrong,
            "terms": float(len(lesson.equation.factors_)),
            "track": driven[np.linspace(0, len(driven) - 1, POINTS).round().astype(int)],
        }

    def _drive(self, lesson: Lesson, start: Array, seed: np.random.SeedSequence) -> tuple[Array, int]:
        """Positions of the robot, (steps + 1, 2) [m], and number of steps in which it touches a wall."""
        world = Indoor(settings=WORLD)
        known = (lesson.nearest, lesson.furthest)
        robot = Separate(lambda _: Perceiver(lesson.equation, WORLD.laser, self.speed, WORLD.robot.top_turn, *known))
        length = SPACING * len(lesson.walk) / self.walked
        steps = math.ceil(SPARE * self.rounds * length / (self.speed * WORLD.interval))
        places = [world.pose[:2] for _ in rollout(world, robot, number(seed), steps, options={"start": start})]
        return np.array(places), int(world.outcomes()["bumps"])

    def figure(self, results: xr.Dataset) -> Figure:
        """Mean distance from the robot to the path, of every drive, and medians: from its start, and from beside it.

        The dashed line is the limit for following closely.
        """
        figure, panels = canvas(2 * len(self.paths), 6.0 * len(self.paths), 4.2)
        titles = {"deviation": "from its start", "back": f"from {ASIDE:g} m beside it"}
        both = [(path, name) for name in titles for path in self.paths]
        for axes, (path, name) in zip(panels, both, strict=True):
            for k, variant in enumerate(VARIANTS):
                for column, perception in enumerate(PERCEPTIONS):
                    values = pick(results, path=path, perception=perception, variant=variant)[name].values
                    points(axes, column + 0.2 * (2 * k - 1), values, COLOURS[k])
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

    def drives(self, results: xr.Dataset, path: str, kind: Kind) -> xr.Dataset:
        """Drives on a path after one kind of lesson, one for each replicate."""
        return pick(results, path=path, perception=kind[0], variant=kind[1])

    def tests(self, results: xr.Dataset, outcome: str, base: Kind) -> list[Comparison]:
        """Our kind of lesson against another, on every path, with p-values corrected for all of these tests."""
        found = []
        for path in self.paths:
            groups = {", ".join(each): self.drives(results, path, each)[outcome].values for each in (OURS, base)}
            found += compare(groups, ", ".join(base), f"{outcome}, {path}")
        return together(found)

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Around a path against the path only, and our models against the source's and against actual readings."""
        both = [(outcome, base) for outcome in ("deviation", "back") for base in (PATH_ONLY, SOURCES, ACTUAL)]
        return [test for outcome, base in both for test in self.tests(results, outcome, base)]

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Whether the robot follows the path, how closely, and which lesson that needs."""
        return [
            self._claim_rounds(results, SOURCES, "the source's models (sectors)", "planned"),
            self._claim_rounds(results, OURS, "our models (local)", "not studied"),
            self._claim_close(results),
            self._claim_as_close(results),
            *(self._claim_less(results, text, outcome, base) for text, (outcome, base) in LESS.items()),
        ]

    def _claim_rounds(self, results: xr.Dataset, kind: Kind, models: str, source: str) -> Claim:
        drives = [self.drives(results, path, kind) for path in self.paths]
        good = [(each["rounds"].values >= self.rounds) & (each["bumps"].values == 0.0) for each in drives]
        counts = ", ".join(f"{path}: {g.sum()} of {g.size}" for path, g in zip(self.paths, good, strict=True))
        text = f"With readings estimated by {models}, the robot drives all {self.rounds:g} rounds without a collision."
        collided = sum(int((each["bumps"].values > 0.0).sum()) for each in drives)
        return Claim(text, source, counts, all(g.all() for g in good), f"around; {collided} drives with collisions")

    def _claim_close(self, results: xr.Dataset) -> Claim:
        drives = [self.drives(results, path, OURS) for path in self.paths]
        means = [float(each["deviation"].mean()) for each in drives]
        text = f"With our estimates (local), its mean distance to the path is below {CLOSE:g} m."
        share = ", ".join(f"{float(each['within'].mean()):.1%}" for each in drives)
        note = f"on {' and '.join(self.paths)}, around; within {NEAR:g} m for {share} of the time"
        return Claim(text, "not studied", _metres(means), max(means) < CLOSE, note)

    def _claim_as_close(self, results: xr.Dataset) -> Claim:
        """Compare drives with estimated and actual readings, paired: they share logs, walks and seeds."""
        both = [
            [self.drives(results, path, kind)["deviation"].values for kind in (OURS, ACTUAL)] for path in self.paths
        ]
        found = [mean_interval(ours - actual) for ours, actual in both]
        measured = "; ".join(f"{each.mean:+.3f} m ({each.low:+.3f} to {each.high:+.3f})" for each in found)
        text = "It follows as closely with our estimates (local) as with actual laser readings."
        note = f"difference on {' and '.join(self.paths)}, around; holds if the 95% interval ends below {AS_CLOSE:g} m"
        return Claim(text, "not studied", measured, all(each.high < AS_CLOSE for each in found), note)

    def _claim_less(self, results: xr.Dataset, text: str, outcome: str, base: Kind) -> Claim:
        """Whether an outcome is smaller after our kind of lesson than after another, on all paths."""
        tests = self.tests(results, outcome, base)
        both = [
            [float(self.drives(results, path, kind)[outcome].mean()) for kind in (OURS, base)] for path in self.paths
        ]
        unsure = [f"{test.quantity.partition(', ')[2]} (p={test.p:.2g})" for test in tests if not test.below()]
        note = f"{'; '.join(self.paths)}; {TEST}" + (f". Fails for: {', '.join(unsure)}" if unsure else "")
        return Claim(text, "not studied", "; ".join(_metres(means, " against ") for means in both), not unsure, note)

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The first replicate's drives along each path."""
        plan = load_plan(WORLD.plan)
        for path in self.paths:
            walk = walks.walk(path, self.walked, self.uneven, np.random.default_rng(self.seeds(0)[1]))
            figure = Figure(figsize=(12.0, 4.6), layout="constrained")
            for axes, perception in zip(figure.subplots(1, len(PERCEPTIONS)), PERCEPTIONS, strict=True):
                show(axes, plan_scene(plan))
                axes.plot(*walk.T, color="0.75", linewidth=3.0, label="walked")
                for k, variant in reversed(list(enumerate(VARIANTS))):
                    track = pick(results, path=path, perception=perception, variant=variant)["track"].values[0]
                    axes.plot(*track.T, color=COLOURS[k], linewidth=1.0, label=variant)
                axes.plot(*walk[0], "o", color="black", markersize=4.0)
                axes.set_title(perception)
            handles = figure.axes[0].get_legend_handles_labels()
            figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)
            yield Picture(
                f"A walk along the {path}, and drives from the dot on, by the source of the readings in the lesson.",
                figure,
            )

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The controllers of the first replicate (local, around): as text, in Python and in C."""
        found = {f"turn_{path}": self.learn(path, "local", "around", 0) for path in self.paths}
        forms = {"txt": ("{}", equations.text), "py": ("# {}", equations.python), "c": ("/* {} */", equations.c)}
        return {
            f"controller.{suffix}": "\n\n".join(
                f"{comment.format(lesson.limits(name))}\n{write(lesson.equation, name).rstrip()}\n"
                for name, lesson in found.items()
            )
            for suffix, (comment, write) in forms.items()
        }


def _metres(values: list[float], between: str = ", ") -> str:
    return between.join(f"{value:.3f} m" for value in values)
