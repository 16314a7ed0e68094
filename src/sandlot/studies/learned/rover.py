"""How far the learned rovers that come with Sandlot are from the reference."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.sessions import Varied
from sandlot.errors import SandlotError
from sandlot.learning.rover import random_ground
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas, points
from sandlot.surrogates.terrain.fit_ground import correlation, predicted, stretches_of
from sandlot.surrogates.terrain.fit_motion import determination, one_step
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.motion_model import SHIPPED, MotionModel, load_motion
from sandlot.surrogates.terrain.recorded import drives_of, open_drives
from sandlot.surrogates.terrain.rollout import end_errors
from sandlot.typing import Array
from sandlot.worlds.record import Record
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.world import Terrain

Rovers = Annotated[tuple[Literal["wheeled", "tracked"], ...], Field(min_length=1), AfterValidator(distinct)]
GROUNDS = ("soft", "mid", "LETE sand", "random")
"""Soils on terrain B; and a random soil on random hills."""
DRAWN = 10_000
"""Random grounds are drawn with numbers from here on, so that none is that of a recording for the training."""
ERROR, DETERMINATION, CORRELATION, HELD = 0.05, 0.98, 0.95, 0.9
"""What is asked for: largest error, of the distance driven, and smallest R^2, correlation of changes of the ground, and
share of free runs within the band."""
ROUNDING = 1e-12
"""Mean change of height of a map that counts as none [m]."""


@study("learned.rover", source="beyond Cook 2017, section 6")
class LearnedRover(Study):
    """How far are the learned rovers that come with Sandlot from the reference?

    A rover drives at random commands in the reference, on three soils on terrain B, and on random soils on random
    hills; the models were fitted to none of them. The learned rover then drives on from some frames of these
    recordings by the same commands, on ground that it changes itself, and is compared with the recording after some
    seconds. Its nets are also compared one frame ahead, and its footprints over a second of the recorded drive.

    Random ground is drawn as it is for the training, without rigid ground, on which nothing changes.

    Attributes:
        rovers: Whose models are tested.
        replicates: Recordings of each rover on each ground.
        seconds: Length of a recording [s].
        run_seconds: Length of a free run [s]; a recording has two, one after the other, if it is long enough.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "error": Quantity("1", "distance from where the recording ends, over the distance driven", ("run",), (2,)),
        "distance": Quantity("m", "distance driven", ("run",), (2,)),
        "deviations": Quantity(
            "1", "distance of the mean of the ensemble from there, over its deviation", ("run",), (2,)
        ),
        "band": Quantity("1", "deviations that are to hold 90% of free runs"),
        "speed": Quantity("1", "R^2 of the speed one frame ahead"),
        "turn": Quantity("1", "R^2 of the turn rate one frame ahead"),
        "footprints": Quantity("1", "correlation of the change of heights in a second with the recorded one"),
        "lost": Quantity("m", "soil that is lost, as a height of the whole map"),
    }

    rovers: Rovers = ("wheeled", "tracked")
    replicates: int = Field(20, ge=1, le=1000)
    seconds: float = Field(21.0, ge=2.0, le=600.0)
    run_seconds: float = Field(10.0, gt=0.0, le=300.0)

    def check(self) -> None:
        """Refuse runs that are longer than recordings."""
        if self.run_seconds + 0.1 > self.seconds:
            raise SandlotError(f"run_seconds={self.run_seconds:g} must be less than seconds={self.seconds:g}")

    def jobs(self) -> Iterator[Job]:
        """Both rovers on every ground."""
        return self.cross(rover=self.rovers, ground=GROUNDS, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Record a drive in the reference, and compare the learned rover with it."""
        model = load_motion(SHIPPED / str(job.parameters["rover"]))
        with TemporaryDirectory() as folder:
            path = self._record(Path(folder) / "drive", job, model)
            recording = open_drives(path)
            shares = [determination(drive, one_step(model, drive)) for drive in drives_of(recording, model.shape)]
            seconds, ground = list(stretches_of(recording, 8)), GroundModel()
            runs = list(end_errors(model, ground, path, self.run_seconds, 2))[:2]
        speed, _, turn = np.mean(shares, axis=0).tolist()
        return {
            "error": _row([run.error / run.distance for run in runs]),
            "distance": _row([run.distance for run in runs]),
            "deviations": _row([run.mean_error / run.deviation for run in runs]),
            "band": model.band,
            "speed": speed,
            "turn": turn,
            "footprints": correlation(seconds, model.shape, ground),
            "lost": max(abs(float(predicted(each, model.shape, ground).mean())) for each in seconds),
        }

    def _record(self, path: Path, job: Job, model: MotionModel) -> Path:
        ground, rover = str(job.parameters["ground"]), str(job.parameters["rover"])
        number = DRAWN + int(job.parameters["replicate"])
        rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(number,)))
        given = random_ground(rng, model.shape.width)
        if ground != "random":
            given = {"soil": ground, "terrain": "B", "shape": given["shape"], "poses": given["poses"]}
        while "soil" not in given:
            given = random_ground(rng, model.shape.width)
        world = Terrain(rovers=(rover,), map_every=10**6, **given)
        seed = int(job.seed.generate_state(1)[0])
        frames = round(self.seconds / world.task.settings.interval)
        with closing(Record(world, path, seed, observations=False)) as env:
            for _ in rollout(env, Varied(world.task.rovers.top_speeds), seed, frames):
                pass
        return path

    def figure(self, results: xr.Dataset) -> Figure:
        """Errors of every free run, and medians, by ground; the line is what was asked for."""
        figure, axes = canvas(len(self.rovers), 11.0, 4.2)
        for panel, rover in zip(axes, self.rovers, strict=True):
            for k, (ground, colour) in enumerate(zip(GROUNDS, COLOURS, strict=False)):
                points(panel, k, 100.0 * _values(pick(results, rover=rover, ground=ground), "error"), colour)
            panel.axhline(100.0 * ERROR, color="0.5", linestyle=":", linewidth=1.0)
            panel.set_xticks(range(len(GROUNDS)), list(GROUNDS))
            panel.set(ylabel=f"error after {self.run_seconds:g} s [% of the distance driven]", title=rover)
            panel.set(yscale="log")
            panel.grid(visible=False, axis="x")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Free runs, one frame ahead, footprints, and the band, of each rover."""
        return [claim for rover in self.rovers for claim in self._of_rover(pick(results, rover=rover), rover)]

    def _of_rover(self, results: xr.Dataset, rover: str) -> Iterator[Claim]:
        of_ground = {ground: pick(results, ground=ground) for ground in GROUNDS}
        name, within = rover.capitalize(), f"{100.0 * ERROR:g}% of where the reference does"
        for ground, mine in of_ground.items():
            values, driven = _values(mine, "error"), np.median(_values(mine, "distance"))
            yield Claim(
                f"{name} rover, {ground}: a free run of {self.run_seconds:g} s ends within {within}.",
                "not studied",
                f"{100.0 * np.median(values):.2g}%",
                bool(np.median(values) <= ERROR),
                f"of the distance driven, {driven:.2g} m; median of {len(values)} runs; 90% of them: "
                f"{100.0 * np.quantile(values, 0.9):.2g}%",
            )
        together = _values(results, "error")
        yield Claim(
            f"{name} rover, all grounds together: a free run of {self.run_seconds:g} s ends within {within}.",
            "not studied",
            f"{100.0 * np.median(together):.2g}%",
            bool(np.median(together) <= ERROR),
            f"median of {len(together)} runs",
        )
        for quantity, what, bar in (
            ("speed", "R^2 of the speed one frame ahead", DETERMINATION),
            ("turn", "R^2 of the turn rate one frame ahead", DETERMINATION),
            ("footprints", "correlation of its footprints in a second with those of the reference", CORRELATION),
        ):
            medians = {ground: float(mine[quantity].median()) for ground, mine in of_ground.items()}
            yield Claim(
                f"{name} rover: {what} is at least {bar}.",
                "not studied",
                ", ".join(f"{ground}: {value:.3f}" for ground, value in medians.items()),
                min(medians.values()) >= bar,
                "medians" if quantity != "footprints" else "medians; changes of heights along the recorded drive",
            )
        lost = float(results["lost"].max())
        yield Claim(
            f"{name} rover: no soil is lost.",
            "not studied",
            f"{lost:.1g} m",
            lost < ROUNDING,
            "as a height of the whole map, in a second; the most",
        )
        inside = np.concatenate([_values(mine, "deviations") <= float(mine["band"][0]) for mine in of_ground.values()])
        yield Claim(
            f"{name} rover: its band holds {100.0 * HELD:g}% of free runs.",
            "not studied",
            f"{100.0 * inside.mean():.3g}%",
            bool(inside.mean() >= HELD),
            f"{inside.sum()} of {len(inside)}; {float(results['band'][0]):.2g} deviations of the ensemble wide",
        )


def _row(values: list[float]) -> Array:
    """Two values; NaN where a run was too short to compare."""
    row = np.full(2, np.nan)
    row[: len(values)] = values
    return row


def _values(results: xr.Dataset, name: str) -> Array:
    """Of all runs that could be compared: (runs,); NaN alone if there was none."""
    values = results[name].values.ravel()
    return np.asarray(values[np.isfinite(values)] if np.isfinite(values).any() else values[:1])
