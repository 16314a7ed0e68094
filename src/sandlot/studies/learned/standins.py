"""What stands in best for particles: a net, calibrated soil, or both?"""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.sessions import Varied
from sandlot.errors import SandlotError
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.learned.soil_runs import Correction, follow_log, free_run, motion_of, recorded_poses
from sandlot.studies.plots import COLOURS, canvas, points
from sandlot.surrogates.soil.fit import FitSettings, fit
from sandlot.surrogates.soil.reading import ReadSettings, read_evidence
from sandlot.surrogates.soil.result import FittedSoil
from sandlot.surrogates.soil.shooting import Shooting
from sandlot.surrogates.terrain.fit_motion import fit_motion
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.motion_model import SHIPPED, load_motion
from sandlot.surrogates.terrain.recorded import read_drives
from sandlot.surrogates.terrain.rollout import end_errors
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.surrogates.terrain.training import Training
from sandlot.typing import Array
from sandlot.worlds.record import Record
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.world import Terrain

AGAIN = "particles again"
"""Particles that were shaken into other places."""
FITTED = ("net", "calibrated soil", "net on calibrated soil", "net of many soils")
COMPARED = (AGAIN, "preset soil", *FITTED)
ROVER = "wheeled"
PRESET = "mid"
BAR = 0.1
"""Largest median error after a run, as a share of the distance driven."""
WINDOW = 0.5
"""Time after which a rover that follows a recording is put back to it [s]."""
MIN_DISTANCE = 0.05
"""Runs in which the rover drove less are not compared [m]."""
SLOWLY = 0.6
"""Share of its speed at which the rover drives, so that it stays in the container."""
DEPTH = 0.075
"""Thickness of the particles at their lowest point [m]."""


@study("learned.standins", source="beyond Cook 2017, section 7.2")
class StandIns(Study):
    """What stands in best for particles: a net, calibrated soil, or both?

    A rover drives over many small particles, which takes much longer than on soil. Five models stand in for them: the
    soil preset 'mid'; nets that were fitted to recorded drives, as ``sandlot fit motion`` does; soil whose parameters
    were fitted to the same drives, as ``sandlot fit soil`` does; that soil with a small net on top, which corrects
    speed, sideways speed and turn rate; and the nets that come with Sandlot, which were trained on many soils: they are
    given that soil's parameters, and fitted further to the same drives (``sandlot fit motion --start``). Each drives
    other recordings again by the same commands, without looking at them, and is compared with them after some
    seconds.

    Each replicate has drives to fit to and drives to test on, all on random hills of their own. How well a stand-in can
    do at best is seen from particles themselves: each test is driven again on the same hills, whose particles were
    shaken into other places. A stand-in that knows only the hills cannot be nearer to both than halfway between them.

    Attributes:
        replicates: Independent sets of recordings.
        training: Drives of each that models are fitted to.
        tests: Drives of each that they are tested on.
        seconds: Length of a drive [s].
        run_seconds: Length of a free run, from the beginning of a drive on [s].
        nodes: Of the map along each side, 10 mm apart.
        relief: Height of the highest point of the ground above the lowest [m].
        first: Random soils that the fit of soil begins with.
        rounds: Its steps.
        epochs: Passes over the drives in the training of nets.
        further_epochs: The same where nets of many soils are fitted further.
        further_rate: Their largest learning rate.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **{
            f"error_{name.replace(' ', '_')}": Quantity(
                "1", f"{name}: distance from where the recording ends, over the distance driven", ("run",), (0,)
            )
            for name in COMPARED
        },
        "distance": Quantity("m", "distance driven in each run", ("run",), (0,)),
        "particle_time": Quantity("s", "processor time of a frame of particles"),
        "soil_time": Quantity("s", "processor time of a frame of soil"),
        "pressure": Quantity("Pa", "fitted Bekker pressure at 1 cm"),
        "friction": Quantity("1", "fitted angle of friction [degrees]"),
        "unidentified": Quantity("1", "what is not identified"),
    }

    replicates: int = Field(2, ge=1, le=100)
    training: int = Field(16, ge=1, le=100)
    tests: int = Field(12, ge=1, le=100)
    seconds: float = Field(11.0, ge=1.0, le=600.0)
    run_seconds: float = Field(10.0, gt=0.0, le=600.0)
    nodes: int = Field(150, ge=50, le=1000)
    relief: float = Field(0.08, ge=0.0, le=1.0)
    first: int = Field(12, ge=1, le=1000)
    rounds: int = Field(3, ge=1, le=20)
    epochs: int = Field(100, ge=1, le=1000)
    further_epochs: int = Field(60, ge=1, le=1000)
    further_rate: float = Field(1e-3, gt=0.0)

    def check(self) -> None:
        """Refuse runs that are longer than drives."""
        if self.run_seconds >= self.seconds:
            raise SandlotError(f"run_seconds={self.run_seconds:g} must be less than seconds={self.seconds:g}")

    def jobs(self) -> Iterator[Job]:
        """Every replicate."""
        return self.cross(replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Record drives over particles, fit all stand-ins to some, and test them on the others."""
        with TemporaryDirectory() as folder:
            began, seeds = time.process_time(), job.seed.generate_state(self.training + self.tests)
            paths = [self._record(Path(folder) / str(k), int(seed)) for k, seed in enumerate(seeds)]
            particle_time = (time.process_time() - began) / (100.0 * self.seconds * len(paths))
            training, tests = paths[: self.training], paths[self.training :]
            evidence = read_evidence(training, ReadSettings(seconds=self.seconds, window=WINDOW))
            logs = [each for each in evidence if isinstance(each, Shooting)]
            fitted = FittedSoil.of(fit(logs, FitSettings(first=self.first, rounds=self.rounds)), logs[0].width)
            correction = self._correct(logs, fitted.kind)
            shape = shape_of(ROVER)
            net = fit_motion(read_drives(training, shape), shape, Training(epochs=self.epochs))
            wide = fit_motion(
                read_drives(training, shape, fitted.kind),
                shape,
                Training(epochs=self.further_epochs, rate=self.further_rate),
                start=load_motion(SHIPPED / ROVER),
            )
            found: dict[str, list[float]] = {name: [] for name in (*COMPARED, "distance")}
            soil_seconds, soil_frames = 0.0, 0
            for path, seed in zip(tests, seeds[self.training :], strict=True):
                began = time.process_time()
                run = self._try_soils(path, fitted.kind, correction)
                soil_seconds += time.process_time() - began
                soil_frames += 2 * round(self.run_seconds / logs[0].log.interval) if run else 0
                for name, model, kind in (("net", net, None), ("net of many soils", wide, fitted.kind)):
                    first = next(end_errors(model, GroundModel(), path, self.run_seconds, 1, kind), None)
                    if first is not None:
                        run[name] = first.error / first.distance
                if len(run) == len(found) - 1:
                    run |= self._again(path, self._record(Path(f"{path}-again"), int(seed), packing=1), run["distance"])
                if len(run) == len(found):  # all stand-ins are compared on the same runs
                    for name, value in run.items():
                        found[name].append(value)
        return {
            **{f"error_{name.replace(' ', '_')}": self._as_row(found[name]) for name in COMPARED},
            "distance": self._as_row(found["distance"]),
            "particle_time": particle_time,
            "soil_time": soil_seconds / max(soil_frames, 1),
            "pressure": fitted.values()["pressure"],
            "friction": fitted.values()["friction"],
            "unidentified": "; ".join(fitted.unidentified()),
        }

    def _record(self, path: Path, seed: int, packing: int = 0) -> Path:
        """Record a drive; it is shorter if the rover reaches the edge."""
        world = Terrain(
            ground="particles",
            particles={"depth": DEPTH, "packing": packing},
            terrain="hills",
            relief=self.relief,
            shape=(self.nodes, self.nodes),
            rovers=(ROVER,),
        )
        with closing(Record(world, path, seed, observations=False)) as env:
            for _ in rollout(env, Varied(SLOWLY * world.task.rovers.top_speeds), seed, round(100.0 * self.seconds)):
                pass
        return path

    def _correct(self, logs: list[Shooting], kind: SoilKind) -> Correction:
        """Fit the net on top of a soil."""
        runs, motion = [], []
        for each in logs:
            log = each.log
            runs += follow_log(log, each.vehicle, kind, round(WINDOW / log.interval))
            motion.append(motion_of(recorded_poses(log), log.interval))
        return Correction(runs, np.vstack(motion), self.seed)

    def _try_soils(self, path: Path, kind: SoilKind, correction: Correction) -> dict[str, float]:
        """Drive a recording again on soil, from its beginning on; nothing if it is too short or the rover stood."""
        each = self._read(path)
        log, vehicle = each.log, each.vehicle
        frames = round(self.run_seconds / log.interval)
        truth = recorded_poses(log)[: frames + 1]
        distance = float(np.hypot(*np.diff(truth[:, :2], axis=0).T).sum())
        if len(truth) <= frames or distance < MIN_DISTANCE:
            return {}
        found = {"distance": distance}
        for name, soil in (("preset soil", PRESETS[PRESET]), ("calibrated soil", kind)):
            run = free_run(log, vehicle, soil, frames)
            found[name] = _apart(run.poses[-1], truth[-1]) / distance
        found["net on calibrated soil"] = _apart(correction.poses(run)[-1], truth[-1]) / distance
        return found

    def _again(self, path: Path, again: Path, distance: float) -> dict[str, float]:
        """How far apart two drives over particles end, over the distance driven; nothing if the second is too short."""
        one, two = (self._read(each).log for each in (path, again))
        frames = round(self.run_seconds / one.interval)
        if len(two.yaw) <= frames:
            return {}
        return {AGAIN: _apart(recorded_poses(one)[frames], recorded_poses(two)[frames]) / distance}

    def _read(self, path: Path) -> Shooting:
        """A whole drive, to be driven again."""
        found = read_evidence([path], ReadSettings(seconds=self.seconds, window=WINDOW))[0]
        assert isinstance(found, Shooting)
        return found

    def _as_row(self, values: list[float]) -> Array:
        """As many values as there may be runs; NaN where there was none."""
        row = np.full(self.tests, np.nan)
        row[: len(values)] = values[: len(row)]
        return row

    def figure(self, results: xr.Dataset) -> Figure:
        """Errors of every run, and medians, by what stands in for particles; the line is the bar."""
        figure, (panel,) = canvas(1, 8.5, 4.2)
        for k, (name, colour) in enumerate(zip(COMPARED, COLOURS, strict=False)):
            points(panel, k, 100.0 * errors(results, name), colour)
        panel.axhline(100.0 * BAR, color="0.5", linestyle=":", linewidth=1.0)
        panel.set_xticks(range(len(COMPARED)), [name.replace(" ", "\n", 1) for name in COMPARED])
        panel.set(ylabel=f"error after {self.run_seconds:g} s [% of the distance driven]", ylim=(0, None))
        panel.grid(visible=False, axis="x")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Each stand-in against the bar, against each other, and their cost."""
        medians = {name: float(np.median(errors(results, name))) for name in COMPARED}
        quantiles = {name: float(np.quantile(errors(results, name), 0.9)) for name in COMPARED}
        found = [
            Claim(
                f"Particles that were shaken into other places end within {100.0 * BAR:g}% of where particles end.",
                "not studied",
                f"{100.0 * medians[AGAIN]:.3g}%",
                medians[AGAIN] <= BAR,
                f"of the distance driven; 90% of them: {100.0 * quantiles[AGAIN]:.3g}%",
            )
        ]
        found += [
            Claim(
                f"A free run of {self.run_seconds:g} s ends within {100.0 * BAR:g}% of where particles end: {name}.",
                "not studied",
                f"{100.0 * medians[name]:.3g}%",
                medians[name] <= BAR,
                f"of the distance driven; median of {len(errors(results, name))} runs on unseen hills; "
                f"90% of them: {100.0 * quantiles[name]:.3g}%",
            )
            for name in FITTED
        ]
        for better, worse in (
            ("calibrated soil", "preset soil"),
            ("net on calibrated soil", "calibrated soil"),
            ("net on calibrated soil", "net"),
            ("net of many soils", "net"),
            ("net of many soils", "calibrated soil"),
        ):
            found.append(
                Claim(
                    f"The {better} stands in better for particles than the {worse}.",
                    "not studied",
                    f"{100.0 * medians[better]:.3g}% and {100.0 * medians[worse]:.3g}%",
                    medians[better] < medians[worse],
                    "median errors",
                )
            )
        ratio = float((results["particle_time"] / results["soil_time"]).median())
        found.append(
            Claim(
                "Soil is at least 20 times as fast as particles.",
                "not studied",
                f"{ratio:.3g} times",
                ratio >= 20.0,
                "processor time of a frame, with the settling of particles",
            )
        )
        return found


def errors(results: xr.Dataset, name: str) -> Array:
    """Errors of all runs of a stand-in: (runs,); NaN alone if the rover never drove far enough."""
    values = results[f"error_{name.replace(' ', '_')}"].values.ravel()
    return np.asarray(values[np.isfinite(values)] if np.isfinite(values).any() else values[:1])


def _apart(one: Array, two: Array) -> float:
    """Horizontal distance of two poses [m]."""
    return float(np.hypot(*(one[:2] - two[:2])))
