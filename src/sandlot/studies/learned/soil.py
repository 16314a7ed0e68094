"""Are the intervals of a fitted soil right?"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.kernels.randomness import children
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, Value, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain import chrono
from sandlot.surrogates.soil.evidence import Evidence
from sandlot.surrogates.soil.fit import FitSettings, fit
from sandlot.surrogates.soil.parameters import COORDINATES, FITTED, HIGH, LOW, kind_of, known
from sandlot.surrogates.soil.reading import ReadSettings, read_evidence
from sandlot.surrogates.soil.result import SHARE, FittedSoil
from sandlot.surrogates.soil.rigs import PlateTest, WheelTest
from sandlot.typing import Array, BoolArray
from sandlot.worlds.record import record_world

PARTS = ("plates", "wheel", "drive")
CHRONO = ("soft", "mid")
TYPICAL = 1.2
"""Random soils differ from typical ones by at most so many standard deviations, in every coordinate."""
NOISE = 0.1
"""Standard deviation of the noise of test rigs: a share of the typical error of a rough guess, 1% of the largest force
of a plate, and of the load of a wheel."""
GRID = 0.02
PLATES = ((0.4, 0.2), (0.3, 0.1))
"""Length and width of plates [m]."""
DEPTHS = (0.005, 0.01, 0.015, 0.02, 0.025, 0.0249, 0.0248, 0.03, 0.035, 0.04)
"""At which a plate is held [m]; it is lifted by a hair at 25 mm."""
WHEEL = {"radius": 0.25, "width": 0.2, "load": 500.0, "speed": 0.4}
"""Of `terrain.wheel` [m, N, m/s]."""
SLIPS = (0.1, 0.3, 0.6)
ENOUGH = 0.8
"""Smallest share of 90% intervals that have to hold the truth, so that they count as right."""


@study("learned.soil", source="known soils and Project Chrono, and our own")
class FittedSoils(Study):
    """Are the intervals of a fitted soil right?

    ``sandlot fit soil`` finds soil parameters with 90% intervals, and names what is not identified. Here it is tried on
    soils that are known. Random soils are measured with two plates of different width, with a wheel on a test rig, both
    with noise, and by a short drive of a rover over hills. Two soils were measured with another program, Project
    Chrono: a wheel on both, and a plate on one. Chrono counts every touched cell of its grid in full, so that its plate
    has 16% more area than ours, and its wheel pulls as ours only at larger slips (``terrain.low_slip``).

    Attributes:
        plates: Random soils that are measured with plates.
        wheels: Random soils that are measured with a wheel.
        drives: Random soils that a rover drives over.
        seconds: Length of a drive [s].
        first: Random soils that a fit begins with.
        rounds: Steps of a fit.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **{
            name: Quantity("1", f"{what}, each in its own unit", ("parameter",), (len(FITTED),))
            for name, what in {
                "truth": "parameters of the soil",
                "value": "fitted ones",
                "low": "lower ends of their intervals",
                "high": "upper ends of their intervals",
                "width": "width of intervals, as a share of that without any measurement",
            }.items()
        },
        "unidentified": Quantity("1", "what is not identified"),
    }

    plates: int = Field(24, ge=2, le=1000)
    wheels: int = Field(6, ge=2, le=1000)
    drives: int = Field(4, ge=2, le=1000)
    seconds: float = Field(4.0, ge=1.0, le=60.0)
    first: int = Field(16, ge=1, le=1000)
    rounds: int = Field(3, ge=1, le=20)

    def jobs(self) -> Iterator[Job]:
        """Random soils by the way they are measured, then those of Chrono."""
        counts = dict(zip(PARTS, (self.plates, self.wheels, self.drives), strict=True))
        cases: list[dict[str, Value]] = [
            {"part": part, "soil": f"random {k}"} for part, count in counts.items() for k in range(count)
        ]
        return self.each([*cases, *({"part": "Chrono", "soil": soil} for soil in CHRONO)])

    def run(self, job: Job) -> Mapping[str, Found]:
        """Measure one soil, and fit it."""
        part, soil = str(job.parameters["part"]), str(job.parameters["soil"])
        draw, noise = children(job.seed, 2)
        if part == "Chrono":
            truth, evidence = PRESETS[soil], measured_by_chrono(soil)
        elif part == "drive":
            truth = random_soil(np.random.default_rng(draw))
            evidence = drive_over(truth, self.seconds, noise)
        else:
            truth = random_soil(np.random.default_rng(draw))
            evidence = measure(truth, part, np.random.default_rng(noise))
        fitted = FittedSoil.of(fit(evidence, FitSettings(first=self.first, rounds=self.rounds)), evidence[0].width)
        low, high = np.array([fitted.intervals()[name] for name in FITTED]).T
        before = prior_widths(fitted)
        return {
            "truth": np.array([known(truth, fitted.width)[name] for name in FITTED]),
            "value": np.array([fitted.values()[name] for name in FITTED]),
            "low": low,
            "high": high,
            "width": (high - low) / before,
            "unidentified": "; ".join(fitted.unidentified()),
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitted pressure, exponent and friction over the true ones, with 90% intervals, by how soils were measured."""
        figure, axes = canvas(3, 13.0, 4.0)
        names = list(FITTED)
        for panel, name in zip(axes, ("pressure", "exponent", "friction"), strict=True):
            k = names.index(name)
            for colour, part in zip(COLOURS, (*PARTS, "Chrono"), strict=False):
                mine = pick(results, part=part)
                x, y, low, high = (mine[each].values[:, k] for each in ("truth", "value", "low", "high"))
                error = np.maximum([y - low, high - y], 0.0)
                panel.errorbar(x, y, error, fmt="o", color=colour, markersize=3, linewidth=0.7, label=part)
            unit, meaning = FITTED[name]
            ends = np.array([results["truth"].values[:, k].min(), results["truth"].values[:, k].max()])
            panel.plot(ends, ends, color="0.5", linewidth=0.8)
            panel.set(xlabel=f"true [{unit}]", ylabel=f"fitted [{unit}]", title=meaning.split(",")[0])
            if name == "pressure":
                panel.set(xscale="log", yscale="log")
        axes[0].legend(frameon=False, fontsize=8)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Coverage, accuracy of what can be measured, what is named as unknown, and another program's soils."""
        return [*self._coverage(results), *self._accuracy(results), self._named(results), *self._chrono(results)]

    def _coverage(self, results: xr.Dataset) -> Iterator[Claim]:
        texts = {"plates": "two plates", "wheel": "a wheel on a test rig", "drive": "a short drive"}
        for part, text in texts.items():
            mine = pick(results, part=part)
            inside = within(mine)
            missed = {name: int((~inside[:, k]).sum()) for k, name in enumerate(FITTED) if not inside[:, k].all()}
            yield Claim(
                f"Intervals of soils that were measured with {text} hold the truth.",
                f"{100.0 * SHARE:g}%",
                f"{100.0 * inside.mean():.3g}%",
                inside.mean() >= ENOUGH,
                f"of {inside.size} intervals of {len(inside)} random soils; at least {100.0 * ENOUGH:g}%; outside: "
                + (", ".join(f"{name} {count}" for name, count in missed.items()) or "none"),
            )

    def _accuracy(self, results: xr.Dataset) -> Iterator[Claim]:
        plates_, wheel_ = pick(results, part="plates"), pick(results, part="wheel")
        off = np.abs(column(plates_, "value", "pressure") / column(plates_, "truth", "pressure") - 1.0)
        yield Claim(
            "Plates give Bekker's pressure at 1 cm within 5%.",
            "not studied",
            f"{100.0 * np.median(off):.2g}%",
            np.median(off) <= 0.05,
            f"median error of {len(off)} random soils; the largest is {100.0 * off.max():.2g}%",
        )
        apart = np.abs(column(wheel_, "value", "friction") - column(wheel_, "truth", "friction"))
        yield Claim(
            "A wheel gives the angle of friction within 3 degrees.",
            "not studied",
            f"{np.median(apart):.2g} degrees",
            np.median(apart) <= 3.0,
            f"median error of {len(apart)} random soils; the largest is {apart.max():.2g} degrees",
        )

    def _named(self, results: xr.Dataset) -> Claim:
        texts = [str(text) for text in pick(results, part="plates")["unidentified"].values]
        words = [f"{name} is not identified" for name in ("cohesion", "friction", "shear length")]
        named = [all(word in text for word in words) for text in texts]
        return Claim(
            "A fit to plates says that cohesion, friction and shear length are not identified.",
            "not studied",
            f"{sum(named)} of {len(named)} soils",
            all(named),
            f"all that one of them says is not identified: {texts[0]}",
        )

    def _chrono(self, results: xr.Dataset) -> Iterator[Claim]:
        for soil in CHRONO:
            mine = pick(results, part="Chrono", soil=soil)
            values = {name: float(column(mine, "value", name)[0]) for name in FITTED}
            truth = {name: float(column(mine, "truth", name)[0]) for name in FITTED}
            inside = dict(zip(FITTED, within(mine)[0].tolist(), strict=True))
            away = 100.0 * (values["pressure"] / truth["pressure"] - 1.0)
            outside = [name for name, held in inside.items() if not held]
            yield Claim(
                f"Chrono's '{soil}' soil is recovered: its parameters lie within the fitted intervals.",
                f"{truth['pressure']:.3g} Pa at 1 cm, n = {truth['exponent']:g}, {truth['friction']:g} degrees",
                f"{values['pressure']:.3g} Pa at 1 cm, n = {values['exponent']:.3g}, {values['friction']:.3g} degrees",
                not outside,
                f"pressure {away:+.2g}%; outside their intervals: {', '.join(outside) or 'none'}; "
                f"{mine['unidentified'].values[0]}",
            )


def column(results: xr.Dataset, quantity: str, parameter: str) -> Array:
    """One parameter of all jobs: (jobs,)."""
    return np.asarray(results[quantity].values[:, list(FITTED).index(parameter)])


def within(results: xr.Dataset) -> BoolArray:
    """Whether intervals hold the truth: (jobs, parameters)."""
    truth = results["truth"].values
    # Parameters at a bound, such as no cohesion, have intervals that begin there.
    slack = 1e-9 * np.abs(truth)
    return np.asarray((results["low"].values <= truth + slack) & (truth - slack <= results["high"].values))


def prior_widths(fitted: FittedSoil) -> Array:
    """Widths of the intervals without any measurement: (parameters,)."""
    size = len(COORDINATES)
    nothing = replace(fitted.estimate, best=np.zeros(size), covariance=np.eye(size), freedom=10**6)
    return np.array([high - low for low, high in FittedSoil.of(nothing, fitted.width).intervals().values()])


def random_soil(rng: np.random.Generator) -> SoilKind:
    """A soil as `fit` expects them before any measurement, though no extreme one."""
    point = np.clip(rng.normal(size=len(COORDINATES)), -TYPICAL, TYPICAL)
    return kind_of(np.clip(point, LOW, HIGH), WHEEL["width"])


def plate(sides: tuple[float, float], forces: Array) -> PlateTest:
    """A test with a plate of these sides [m], and these forces [N] at `DEPTHS`."""
    return PlateTest(sides, np.array(DEPTHS), forces, sides[1] / 10)


def wheel(measured: Array) -> WheelTest:
    """A test with the wheel, which measured (slips, 3) sinkage [m], pull [N] and torque [N*m] at `SLIPS`."""
    return WheelTest(**WHEEL, slips=np.array(SLIPS), measured=measured, spacing=GRID)


def measure(truth: SoilKind, part: str, rng: np.random.Generator) -> list[Evidence]:
    """Measure a soil with both plates or with the wheel, with noise."""
    if part == "wheel":
        shape = len(SLIPS), 3
        return [wheel(_noisy(wheel(wheel(np.ones(shape)).predict(truth).reshape(shape)), rng).reshape(shape))]
    exact = [plate(sides, plate(sides, np.ones(len(DEPTHS))).predict(truth)) for sides in PLATES]
    return [plate(sides, _noisy(test, rng)) for sides, test in zip(PLATES, exact, strict=True)]


def _noisy(test: Evidence, rng: np.random.Generator) -> Array:
    """What a test measured (n,), with noise."""
    scales = np.array([channel.scale for channel in test.layout.channels])[test.layout.channel]
    return test.measured + NOISE * scales * rng.normal(size=len(test.measured))


def drive_over(truth: SoilKind, seconds: float, seed: np.random.SeedSequence) -> list[Evidence]:
    """Record a drive on random hills of a soil."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "drive"
        frames = round(100.0 * seconds)
        settings = {"soil": truth.model_dump(), "terrain": "hills", "relief": 0.1, "shape": (200, 200)}
        record_world("terrain", path, frames, "varied", int(seed.generate_state(1)[0]), settings, observations=False)
        return read_evidence([path], ReadSettings(seconds=seconds))


def measured_by_chrono(soil: str) -> list[Evidence]:
    """Chrono's wheel on a soil, and its plate where there is one."""
    slips = [slip for name, slip in chrono.WHEEL if name == soil]
    rows = [(*chrono.WHEEL[soil, slip], chrono.TORQUE[soil, slip]) for slip in slips]
    found: list[Evidence] = [WheelTest(**WHEEL, slips=np.array(slips), measured=np.array(rows), spacing=GRID)]
    if soil == "soft":
        depths, forces = (np.array(list(each)) for each in (chrono.PLATE, chrono.PLATE.values()))
        found.append(PlateTest(PLATES[0], depths, forces, GRID))
    return found
