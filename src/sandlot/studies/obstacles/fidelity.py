"""Which obstacles robots pass in the fast model and in the reference, with the same commands."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.climbing.scripts import CLIMB_BOX, CLIMB_STAIRS, Script
from sandlot.places.course_kinds import Box, Kind, Stairs
from sandlot.places.courses import Course
from sandlot.recordings import Quantity
from sandlot.robots.climber import load_climber
from sandlot.robots.climbers import INTERVAL, Climbers
from sandlot.robots.fast_climbers import FastClimbers
from sandlot.robots.reference_climbers import STEP, ReferenceClimbers
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.typing import Array, BoolArray
from sandlot.worlds.obstacles.task import BEYOND, OVERTURNED, UPRIGHT

DISTANCE = CLIMB_BOX.distance
"""From the start to the obstacles, for which the scripts are written [m]."""
DESCEND = Script(knots=((0.0, 0.0, 0.0), (1.0, -0.3, 0.3)), speed=CLIMB_BOX.speed, distance=DISTANCE)
"""Lowers the tips a little and drives down."""
DEPTHS, HEIGHTS = (0.15, 0.3, 0.5, 0.8), tuple(0.06 * k for k in range(1, 9))
"""Of boxes [m]."""
TREADS, RISERS = (0.2, 0.25, 0.3, 0.35), tuple(0.05 + 0.03 * k for k in range(1, 9))
"""Of stairs [m]."""
KINDS = ("boxes", "stairs up", "stairs down")
SCRIPTS = dict(zip(KINDS, (CLIMB_BOX, CLIMB_STAIRS, DESCEND), strict=True))
HOLD = 1.5
"""Time between the knots of random commands [s]."""
FINE = 0.00025
"""Time step of the fast model with which its outcomes no longer change [s]."""
LESS = 0.99
"""Share of the friction of belts that decides where even that time step does not."""
AGREE = 0.95
BOTH_FAIL, BOTH_PASS, ONLY_FAST, ONLY_REFERENCE, NOT_CONVERGED = range(5)
LABELS = ("both fail", "both pass", "only fast passes", "only reference passes", "reference not converged")


def obstacle(kind: str, across: float, level: float) -> Kind:
    """An obstacle of one of `KINDS`, from its depth or tread, and its height or riser [m]."""
    if kind == "boxes":
        return Box(distance=DISTANCE, depth=across, height=level)
    return Stairs(distance=DISTANCE, tread=across, riser=level, steps=4, way="up" if kind == "stairs up" else "down")


def draw_script(rng: np.random.Generator, seconds: float) -> Script:
    """Axle angles at random, straight from knot to knot, while the robot drives forward."""
    times = np.arange(0.0, seconds + HOLD, HOLD)
    front, back = rng.uniform((-0.4, -0.4), (1.2, 0.8), (len(times), 2)).T
    return Script(tuple(zip(times.tolist(), front.tolist(), back.tolist(), strict=True)), CLIMB_BOX.speed, DISTANCE)


def passes(climbers: Climbers, scripts: Sequence[Script], seconds: float) -> BoolArray:
    """Which robots get past their obstacles upright, and never lie on their backs, when they follow scripts."""
    finish = np.array([each.end for each in climbers.courses]) + BEYOND
    passed, fell = np.zeros((2, climbers.count), np.bool_)
    for k in range(round(seconds / INTERVAL)):
        climbers.command(np.array([script.at(k * INTERVAL) for script in scripts]), ~(passed | fell))
        fell |= (climbers.tilt < OVERTURNED) | climbers.exploded
        passed |= (climbers.position[:, 0] > finish) & (climbers.tilt > UPRIGHT) & ~fell
    return passed


@study("obstacles.fidelity", source="how the two fidelities of this world compare")
class Fidelity(Study):
    """Do the fast model and the reference agree on which obstacles a robot passes?

    Robots follow the same commands in both: a script for each kind of obstacle, and axle angles at random. Obstacles
    are a grid of boxes, stairs up and stairs down. The two are compared where the reference has converged, which means
    that half its time step gives the same outcome. Where they differ, the run is repeated in the fast model with a
    time step of 0.25 ms in place of 5 ms, and then with 1% less friction of the belts. Contacts of the reference are
    soft and creep, so that its belts hold slightly less.

    Attributes:
        draws: Sets of random commands.
        seconds: Duration of a run [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        name: Quantity("1", text, ("across", "level"), (len(DEPTHS), len(HEIGHTS)))
        for name, text in {
            "fast": "whether the robot passes in the fast model",
            "reference": "whether it passes in the reference",
            "halved": "whether it passes in the reference with half its time step",
            "fine": "whether it passes in the fast model with a time step of 0.25 ms; NaN if not tried",
            "slippery": "whether it also passes with 1% less friction of the belts; NaN if not tried",
        }.items()
    }

    draws: int = Field(2, ge=1, le=100)
    seconds: float = Field(12.0, gt=0.0, le=100.0)

    def jobs(self) -> Iterator[Job]:
        """Each kind of obstacle, with its script and with random commands."""
        return self.cross(kind=KINDS, command=("script", *(f"random {k + 1}" for k in range(self.draws))))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Let robots try the grid in all models."""
        kind, rng, climber = str(job.parameters["kind"]), np.random.default_rng(job.seed), load_climber()
        across, levels = (DEPTHS, HEIGHTS) if kind == "boxes" else (TREADS, RISERS)
        kinds = [obstacle(kind, one, level) for one in across for level in levels]
        scripted = job.parameters["command"] == "script"
        scripts = [SCRIPTS[kind] if scripted else draw_script(rng, self.seconds) for _ in kinds]
        found = {
            "fast": self.try_(FastClimbers(climber, _courses(kinds)), scripts),
            "reference": self.try_(ReferenceClimbers(climber, _courses(kinds)), scripts),
            "halved": self.try_(ReferenceClimbers(climber, _courses(kinds), step=0.5 * STEP), scripts),
        }
        differs = (found["reference"] == found["halved"]) & (found["fast"] != found["reference"])
        which = np.flatnonzero(differs).tolist()
        for name, friction in (("fine", 1.0), ("slippery", LESS)):
            found[name] = np.full(len(kinds), np.nan)
            if which:
                climbers = FastClimbers(climber, _courses([kinds[k] for k in which]), step=FINE)
                climbers.robots.grip *= friction
                found[name][which] = self.try_(climbers, [scripts[k] for k in which])
        return {name: values.reshape(len(across), len(levels)) for name, values in found.items()}

    def try_(self, climbers: Climbers, scripts: Sequence[Script]) -> Array:
        """Which robots pass: (runs,) 0 or 1."""
        return passes(climbers, scripts, self.seconds).astype(np.float64)

    def figure(self, results: xr.Dataset) -> Figure:
        """Outcomes on the grid of each kind (columns) with each set of commands (rows)."""
        commands = list(dict.fromkeys(results["command"].values.tolist()))
        figure, axes = canvas(len(KINDS), 11.0, 2.6 * len(commands) + 0.6, len(commands))
        colours = ListedColormap(["#d9d9d9", COLOURS[2], COLOURS[1], COLOURS[3], "#ffffff"])
        outcome = _outcomes(results)
        for job in range(results.sizes["job"]):
            kind, command = str(results["kind"].values[job]), str(results["command"].values[job])
            each = axes[commands.index(command) * len(KINDS) + KINDS.index(kind)]
            across, levels = (DEPTHS, HEIGHTS) if kind == "boxes" else (TREADS, RISERS)
            each.pcolormesh(outcome[job].T, cmap=colours, vmin=-0.5, vmax=4.5, edgecolors="white", linewidth=1.0)
            each.grid(visible=False)
            each.set_xticks(np.arange(len(across)) + 0.5, [f"{100 * value:.0f}" for value in across])
            each.set_yticks(np.arange(len(levels)) + 0.5, [f"{100 * value:.0f}" for value in levels])
            words = ("depth", "height") if kind == "boxes" else ("tread", "riser")
            each.set(title=f"{kind}, {command}", xlabel=f"{words[0]} [cm]", ylabel=f"{words[1]} [cm]")
        handles = [axes[0].fill([], [], color=colours(k), ec="0.7", label=LABELS[k])[0] for k in range(len(LABELS))]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(LABELS), frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Agreement where the reference has converged, and what decides elsewhere."""
        outcome = _outcomes(results)
        converged = outcome != NOT_CONVERGED
        agree = np.isin(outcome, (BOTH_FAIL, BOTH_PASS))
        shares = {kind: float(agree[mine].mean()) for kind in KINDS if (mine := converged & _of(results, kind)).any()}
        share = float(agree[converged].mean()) if converged.any() else math.nan
        each = ", ".join(f"{kind} {value:.1%}" for kind, value in shares.items())
        counts = f"{int(agree[converged].sum())} of {int(converged.sum())} runs; {each}"
        hard = [kind for kind in shares if not (outcome == BOTH_PASS)[converged & _of(results, kind)].all()]
        mixed = converged & np.any([_of(results, kind) for kind in hard], axis=0) if hard else converged & False
        apart = f"{float(agree[mixed].mean()):.1%} without kinds that always pass" if mixed.any() else "all pass"
        return [
            Claim(
                "Both fidelities agree on which obstacles a robot passes, where the reference has converged.",
                "at least 95%",
                f"{share:.1%}",
                share >= AGREE,
                f"{counts}; {apart}",
            ),
            Claim(
                "The reference has converged: half its time step gives the same outcome.",
                "at least 90% of runs",
                f"{float(converged.mean()):.1%}",
                float(converged.mean()) >= 0.9,
            ),
            self._details(results, outcome),
        ]

    def _details(self, results: xr.Dataset, outcome: Array) -> Claim:
        """What decides the runs in which the two differ."""
        differs = np.isin(outcome, (ONLY_FAST, ONLY_REFERENCE))
        reference = results["reference"].values
        # NaN compares false, so a run that was not repeated counts as decided by nothing.
        step = differs & (results["fine"].values == reference)
        friction = differs & ~step & (results["slippery"].values == reference)
        left = int((differs & ~step & ~friction).sum())
        said = f"{int(step.sum())} by the time step, {int(friction.sum())} by friction, {left} by neither"
        return Claim(
            "Where they differ, the time step of the fast model decides, or 1% of the friction of the belts.",
            f"all {int(differs.sum())} runs",
            said,
            left == 0,
        )


def _courses(kinds: Sequence[Kind]) -> list[Course]:
    rng = np.random.default_rng(0)  # no kind draws from it
    return [kind.draw(rng) for kind in kinds]


def _of(results: xr.Dataset, kind: str) -> BoolArray:
    """Which runs are on obstacles of a kind: (jobs, 1, 1)."""
    return np.asarray(results["kind"].values == kind)[:, None, None]


def _outcomes(results: xr.Dataset) -> Array:
    """Of each run one of the codes from `BOTH_FAIL` to `NOT_CONVERGED`: (jobs, across, levels)."""
    fast, reference, halved = (results[name].values > 0.5 for name in ("fast", "reference", "halved"))
    code = np.where(fast, np.where(reference, BOTH_PASS, ONLY_FAST), np.where(reference, ONLY_REFERENCE, BOTH_FAIL))
    return np.where(reference == halved, code, NOT_CONVERGED)
