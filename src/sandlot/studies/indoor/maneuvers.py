"""How exactly a rover whose tracks slip moves and turns: blind, with the source's corrections, and with ours."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.navigation import maneuvers
from sandlot.control.navigation.precise import PreciseManeuvers
from sandlot.recordings import Quantity
from sandlot.robots.driver import Driver
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas, show
from sandlot.typing import Array
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.scene import plan_scene
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import find_plan

Method = Literal["blind", "source", "less slip", "ours"]
Kind = Literal["moves", "turns"]
METHODS: dict[Method, Callable[[Driver], maneuvers.Maneuvers]] = {
    "blind": maneuvers.BlindManeuvers,
    "source": maneuvers.CorrectedManeuvers,
    "less slip": maneuvers.CorrectedManeuvers,
    "ours": PreciseManeuvers,
}
LESS = 0.25
"""Share of the slip with which the method ``less slip`` is run, to see whether slip is what makes the source's fail."""
STARTS: dict[Kind, tuple[float, float, float]] = {"moves": (1.6, 4.3, 0.0), "turns": (2.3, 2.6, 0.0)}
"""In the main room of the apartment [m, m, rad]."""
SOURCE: dict[Kind, tuple[float, float]] = {"moves": (0.15, 3.0), "turns": (0.12, 0.0)}
"""What the source measured after ten maneuvers [m, degrees]; it calls the angle after turns negligible."""
BARS: dict[Kind, tuple[float, float]] = {"moves": (0.02, 0.5), "turns": (0.01, math.inf)}
"""What ours must reach [m, degrees]."""
NEGLIGIBLE = 2.0
"""The source's turns are within this, its own tolerance [degrees]."""


@study("indoor.maneuvers", source="Huete 2020, figures 65 and 66")
class ManeuverStudy(Study):
    """How exactly can a rover whose tracks slip move and turn?

    A tracked rover moves 2 m ahead and back, or turns by 180 degrees to the right and back, ten maneuvers in all.
    Without errors it would end where it began. ``blind`` goes by its encoders. ``source`` repeats the source's method:
    scans before and after a maneuver are discretised, shifted or rotated, and compared; 60% of a distance and 70% of an
    angle error are corrected, until they are within 5 cm or 2 degrees. A maneuver's other errors are not corrected.
    ``ours`` matches every scan with those made at rest at the start, steers while it drives, and corrects distance,
    angle and sideways errors. The rover's slip was chosen so that it is off by as much as the source reports after 5 m
    there and back by encoders, and after ten half turns. ``less slip`` are the source's moves with a quarter of it.

    Attributes:
        methods: How maneuvers are done.
        iterations: Number of maneuvers; an even one.
        distance: Of a move [m].
        angle: Of a turn [rad].
        replicates: Rovers of each kind, with different slip and noise; the same for all methods.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "position": Quantity("m", "distance from where it should be, after each maneuver", ("maneuver",), (0,)),
        "yaw": Quantity("rad", "angle from what it should be, after each maneuver", ("maneuver",), (0,)),
        "end": Quantity("m", "x and y at the end, from the start", ("axis",), (0,)),
        "corrections": Quantity("1", "corrections of all maneuvers"),
        "given_up": Quantity("1", "maneuvers that were given up"),
        "bumps": Quantity("1", "contacts with something"),
        "duration": Quantity("s", "duration of all maneuvers"),
    }

    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] = get_args(Method)
    iterations: int = Field(10, ge=2, le=1000, multiple_of=2)
    distance: float = Field(2.0, gt=0.0, le=2.5)
    angle: float = Field(math.pi, gt=0.0, le=math.pi)
    replicates: int = Field(12, ge=1, le=1000)

    def jobs(self) -> Iterator[Job]:
        """Every method for every kind of maneuver; moves only for ``less slip``."""
        return self.each(
            {"kind": kind, "method": method, "replicate": replicate}
            for kind in get_args(Kind)
            for method in self._of(kind)
            for replicate in range(self.replicates)
        )

    def _of(self, kind: Kind) -> tuple[Method, ...]:
        """The methods that are run for a kind of maneuver."""
        return tuple(method for method in self.methods if kind == "moves" or method != "less slip")

    def run(self, job: Job) -> Mapping[str, Found]:
        """One rover, and all of its maneuvers."""
        kind: Kind = "moves" if job.parameters["kind"] == "moves" else "turns"
        replicate = int(job.parameters["replicate"])
        seed = np.random.SeedSequence(self.seed, spawn_key=(get_args(Kind).index(kind), replicate))
        method = next(name for name in METHODS if name == job.parameters["method"])
        rover, truth = simulate(_settings(kind, LESS if method == "less slip" else 1.0), seed)
        doing = METHODS[method](rover)
        position, yaw = np.empty((2, self.iterations))
        corrections = given_up = 0
        for k in range(self.iterations):
            back = k % 2 == 1
            if kind == "moves":
                outcome = doing.move(-self.distance if back else self.distance)
                off = truth.moved - (0.0 if back else self.distance, 0.0, 0.0)
            else:
                outcome = doing.turn(self.angle if back else -self.angle)
                off = truth.moved - (0.0, 0.0, 0.0 if back else -self.angle)
            position[k], yaw[k] = math.hypot(off[0], off[1]), abs(math.remainder(off[2], 2.0 * math.pi))
            corrections += outcome.corrections
            given_up += bool(outcome.reason)
        return {
            "position": position,
            "yaw": yaw,
            "end": truth.moved[:2],
            "corrections": float(corrections),
            "given_up": float(given_up),
            "bumps": float(truth.bumps),
            "duration": rover.halt().time,
        }

    def errors(self, results: xr.Dataset, kind: Kind, method: str) -> tuple[Array, Array]:
        """Errors of position [cm] and yaw [degrees] after each maneuver: (replicates, iterations) each."""
        found = pick(results, kind=kind, method=method)
        return 100.0 * found["position"].values, np.degrees(found["yaw"].values)

    def figure(self, results: xr.Dataset) -> Figure:
        """Errors after each maneuver: medians in bold, all rovers thin; dotted, what the source measured after ten."""
        figure, axes = canvas(2, 11.0, 7.0, rows=2)
        numbers = np.arange(1, self.iterations + 1)
        for column, kind in enumerate(get_args(Kind)):
            for row, unit in enumerate(("position [cm]", "yaw [degrees]")):
                plot = axes[2 * row + column]
                for method in self._of(kind):
                    values = self.errors(results, kind, method)[row]
                    plot.plot(numbers, values.T, color=_colour(method), alpha=0.15, linewidth=0.8)
                    plot.plot(numbers, np.median(values, 0), "o-", color=_colour(method), label=method)
                known = (100.0, 1.0)[row] * SOURCE[kind][row]
                if known > 0.0:
                    plot.axhline(known, color=COLOURS[5], linestyle=":", label="measured by the source")
                bar = (100.0, 1.0)[row] * BARS[kind][row]
                if math.isfinite(bar):
                    plot.axhline(bar, color=COLOURS[5], linestyle="--", label="to be reached")
                plot.set(yscale="log", ylabel=f"error of {unit}", title=_named(kind, self) if row == 0 else "")
                plot.set_xticks(numbers)
        axes[2].set_xlabel("maneuver")
        axes[3].set_xlabel("maneuver")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The source's two tests, with its method and with ours; a claim is left out if its method was not run."""
        found = []
        for kind in get_args(Kind):
            if "source" in self.methods:
                found.append(self._repeats(results, kind))
            if "less slip" in self._of(kind):
                found.append(self._with_less_slip(results))
            if "ours" in self.methods:
                found.append(self._reaches(results, kind))
            if {"blind", "source", "ours"} <= set(self.methods):
                found.append(self._ranks(results, kind))
        return found

    def _ends(self, results: xr.Dataset, kind: Kind, method: str) -> tuple[Array, Array]:
        """Errors at the end: (replicates,) [cm] and [degrees]."""
        position, yaw = self.errors(results, kind, method)
        return position[:, -1], yaw[:, -1]

    def _repeats(self, results: xr.Dataset, kind: Kind) -> Claim:
        position, yaw = self._ends(results, kind, "source")
        low, high = np.quantile(position, (0.05, 0.95))
        known, angle = 100.0 * SOURCE[kind][0], SOURCE[kind][1]
        angles = np.quantile(yaw, (0.05, 0.95))
        fits = angles[0] <= angle <= angles[1] if angle else np.median(yaw) <= NEGLIGIBLE
        said = f"{angle:g} degrees" if angle else "a negligible angle"
        span = f"{low:.1f} to {high:.1f} cm, {angles[0]:.1f} to {angles[1]:.1f} degrees"
        small = f"; the median angle counts as negligible up to {NEGLIGIBLE:g} degrees"
        rule = f"holds if the source's values are among them{'' if angle else small}"
        return Claim(
            f"With the source's method, {_named(kind, self)} end as far off as the source measured.",
            f"{known:g} cm and {said}",
            f"{np.median(position):.1f} cm and {np.median(yaw):.1f} degrees",
            bool(low <= known <= high and fits),
            f"middle 90% of {self.replicates} rovers: {span}; {rule}",
        )

    def _with_less_slip(self, results: xr.Dataset) -> Claim:
        position, yaw = self._ends(results, "moves", "less slip")
        known, angle = 100.0 * SOURCE["moves"][0], SOURCE["moves"][1]
        return Claim(
            f"With a quarter of the slip, {_named('moves', self)} by the source's method end as near as it measured.",
            f"{known:g} cm and {angle:g} degrees",
            f"{np.median(position):.1f} cm and {np.median(yaw):.1f} degrees",
            bool(np.median(position) <= known and np.median(yaw) <= angle),
            f"medians of {self.replicates} rovers",
        )

    def _reaches(self, results: xr.Dataset, kind: Kind) -> Claim:
        position, yaw = self._ends(results, kind, "ours")
        most, angle = 100.0 * BARS[kind][0], BARS[kind][1]
        limits = f"{most:g} cm" + (f" and {angle:g} degrees" if math.isfinite(angle) else "")
        known = f"{100.0 * SOURCE[kind][0]:g} cm" + (f", {SOURCE[kind][1]:g} degrees" if SOURCE[kind][1] else "")
        return Claim(
            f"With ours, {_named(kind, self)} end within {limits}.",
            known,
            f"{position.max():.2f} cm and {yaw.max():.2f} degrees",
            bool(position.max() <= most and yaw.max() <= angle),
            f"largest of {self.replicates} rovers; median: {np.median(position):.2f} cm, {np.median(yaw):.2f} degrees",
        )

    def _ranks(self, results: xr.Dataset, kind: Kind) -> Claim:
        names = ("blind", "source", "ours")
        medians = {name: [float(np.median(each)) for each in self._ends(results, kind, name)] for name in names}
        better = all(ours < min(medians["blind"][k], medians["source"][k]) for k, ours in enumerate(medians["ours"]))
        times = {name: pick(results, kind=kind, method=name)["duration"].values for name in names}
        return Claim(
            f"Ours is more exact than the source's method and than encoders alone, after {_named(kind, self)}.",
            "not studied",
            "; ".join(f"{name}: {cm:.1f} cm, {degrees:.1f} degrees" for name, (cm, degrees) in medians.items()),
            better,
            "medians of both errors; takes "
            + ", ".join(f"{name}: {np.median(each):.0f} s" for name, each in times.items()),
        )

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Where the rovers ended, in the apartment."""
        figure, axes = canvas(2, 11.0, 4.6)
        for plot, kind in zip(axes, get_args(Kind), strict=True):
            show(plot, plan_scene(find_plan(_settings(kind))))
            x, y, _ = STARTS[kind]
            for method in self._of(kind):
                ends = pick(results, kind=kind, method=method)["end"].values
                plot.plot(x + ends[:, 0], y + ends[:, 1], ".", color=_colour(method), markersize=4, label=method)
            plot.set(xlim=(x - 0.8, x + 0.8), ylim=(y - 0.6, y + 0.6), title=_named(kind, self))
            plot.plot(x, y, "+", color="black", markersize=12)
        axes[0].legend(frameon=False)
        yield Picture("Where rovers ended that should have ended at the cross.", figure)


def _settings(kind: Kind, slip: float = 1.0) -> IndoorSettings:
    robot = {"kind": "tracked", "slip": slip}
    return IndoorSettings.model_validate({"robot": robot, "plan": "apartment", "start": STARTS[kind]})


def _colour(method: Method) -> str:
    return COLOURS[list(METHODS).index(method)]


def _named(kind: Kind, given: ManeuverStudy) -> str:
    """The maneuvers in words."""
    if kind == "moves":
        return f"{given.iterations} moves of {given.distance:g} m there and back"
    return f"{given.iterations} turns of {math.degrees(given.angle):g} degrees there and back"
