"""What the ground does to a drive: how much rovers slip, how far they turn, and the ruts they leave."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.controller import as_controller
from sandlot.geometry.planar import wrap
from sandlot.kernels.randomness import children
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas, points, show
from sandlot.studies.statistics import Comparison, compare, together
from sandlot.studies.terrain.shared import GROUNDS, ROVERS, Ground
from sandlot.typing import Array
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.world import Terrain

TEST = "on every pair, Mann-Whitney U, Holm-corrected, p < 0.05"
UNITS: Mapping[str, tuple[str, float]] = {
    "slip": ("slip [%]", 100.0),
    "rut_depth": ("deepest rut [mm]", 1000.0),
    "turned": ("turned, of the commanded turn [%]", 100.0),
}
"""Outcomes in the figure: label with its unit, and factor to that unit."""
SOFTER = {
    "slip": ("The softer the ground, the more rovers slip.", True),
    "rut_depth": ("The softer the ground, the deeper the ruts.", True),
    "turned": ("The softer the ground, the less rovers turn of what is commanded.", False),
}
TRACKS = {
    "slip": ("Tracks slip less than wheels.", False),
    "rut_depth": ("Tracks leave shallower ruts than wheels.", False),
    "turned": ("Tracks turn more of what is commanded than wheels.", True),
}
"""Claims by outcome, and whether they say that it is larger."""
INTERVAL = 0.01
"""Time between frames [s]."""
PICTURE, PICTURE_SPACING = (240, 360), 0.005
"""Grid nodes and spacing [m] of the ground in the picture."""
START_POSES, CUT = ((-0.6, 0.32, -0.05), (-0.6, -0.16, -0.05)), -0.3
"""Start poses in the picture: x, y [m] and yaw [rad]; and x of the cross-section [m]."""
DRIVEN = ("path_length", "distance", "slip", "rut_depth", "overturned")
"""Outcomes of the world that a drive without a goal has."""


@study("terrain.drive", source="Cook 2017, section 5.3, and our own")
class Drive(Study):
    """What does the ground do to a drive?

    A wheeled and a tracked rover drive as in algorithm 5 of the source: forwards, backwards, turns to both sides, then
    the four combinations, at varying speeds. They drive over the same hills, of soils from soft to firm and of rigid
    ground. Each drive starts at a random position and yaw.

    Attributes:
        grounds: Soils, or ``rigid``.
        frames: Of a drive; one every 0.01 s.
        replicates: Drives of each rover on each ground.
        terrain: Shape of the ground.
        picture_frames: Of the drive in the picture.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **{name: Terrain.outcome_quantities[name] for name in DRIVEN},
        "turned": Quantity("1", "turn on the spot, as a share of the commanded one"),
        "time": Quantity("s", "duration of the drive"),
    }

    grounds: Annotated[tuple[Ground, ...], Field(min_length=1), AfterValidator(distinct)] = GROUNDS
    frames: int = Field(1600, ge=8, le=1_000_000)
    replicates: int = Field(10, ge=1, le=10_000)
    terrain: Literal["A", "B", "flat"] = "A"
    picture_frames: int = Field(700, ge=1, le=100_000)

    def jobs(self) -> Iterator[Job]:
        """Every rover and ground, ``replicates`` times."""
        return self.cross(rover=ROVERS, ground=self.grounds, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """One drive."""
        pose_seed, drive_seed = children(job.seed, 2)
        x, y, yaw = np.random.default_rng(pose_seed).uniform((-3.0, -3.0, -np.pi), (3.0, 3.0, np.pi)).tolist()
        world = self.world(str(job.parameters["ground"]), (str(job.parameters["rover"]),), poses=((x, y, yaw),))
        commanded = turned = before = 0.0
        session = world.controller("session", self.frames)
        for step in rollout(world, session, 0, self.frames, controller_seeds=[drive_seed]):
            yaw, (speed, turn_rate) = world.task.state.yaw[0], step.actions[0, 0]
            if step.number and speed == 0.0:
                commanded += abs(turn_rate) * INTERVAL
                turned += wrap(float(yaw - before)) * np.sign(turn_rate)
            before = yaw
        share = float(turned / commanded) if commanded else np.nan
        found = world.outcomes()
        return {**{name: found[name] for name in DRIVEN}, "turned": share, "time": step.number * INTERVAL}

    def world(self, ground: str, rovers: tuple[str, ...], **settings: Any) -> Terrain:
        """The world with these rovers on one of the grounds."""
        kind: dict[str, Any] = {"ground": "rigid"} if ground == "rigid" else {"ground": "soil", "soil": ground}
        return Terrain(**{"terrain": self.terrain, "rovers": rovers, "interval": INTERVAL, **kind, **settings})

    def figure(self, results: xr.Dataset) -> Figure:
        """Slip, deepest rut and turn by ground: every drive, and medians."""
        figure, panels = canvas(len(UNITS), 10.0, 4.0)
        for axes, (name, (label, factor)) in zip(panels, UNITS.items(), strict=True):
            for k, rover in enumerate(ROVERS):
                for place, group in enumerate(self._by_ground(results, rover, name).values()):
                    points(axes, place + 0.2 * (2 * k - 1), factor * group, COLOURS[k])
                axes.plot([], [], "o", color=COLOURS[k], label=rover)
            axes.set_xticks(range(len(self.ordered)), [ground.replace(" ", "\n") for ground in self.ordered])
            lowest, highest = factor * float(results[name].min()), factor * float(results[name].max())
            axes.set(
                ylabel=label, xlim=(-0.6, len(self.ordered) - 0.4), ylim=(min(1.1 * lowest, -0.02 * highest), None)
            )
            axes.grid(visible=False, axis="x")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
        return figure

    @property
    def ordered(self) -> list[str]:
        """The grounds of this study, from the softest to the hardest."""
        return [ground for ground in GROUNDS if ground in self.grounds]

    def _by_ground(self, results: xr.Dataset, rover: str, quantity: str) -> dict[str, Array]:
        return {ground: pick(results, rover=rover, ground=ground)[quantity].values for ground in self.ordered}

    def softer(self, results: xr.Dataset, quantity: str) -> list[Comparison]:
        """Every ground against the next harder one, for both rovers."""
        found = []
        for rover in ROVERS:
            groups = self._by_ground(results, rover, quantity)
            for soft, hard in itertools.pairwise(self._grounds_with(quantity)):
                found += compare({soft: groups[soft], hard: groups[hard]}, hard, f"{quantity}, {rover}")
        return together(found)

    def tracks(self, results: xr.Dataset, quantity: str) -> list[Comparison]:
        """Tracks against wheels, on every ground."""
        found = []
        for ground in self._grounds_with(quantity):
            groups = {rover: self._by_ground(results, rover, quantity)[ground] for rover in ROVERS}
            found += compare(groups, "wheeled", f"{quantity}, {ground}")
        return together(found)

    def _grounds_with(self, quantity: str) -> list[str]:
        """Grounds on which an outcome is compared: rigid ground has no ruts."""
        return [ground for ground in self.ordered if (quantity, ground) != ("rut_depth", "rigid")]

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Softer against harder ground, and tracks against wheels."""
        both = (self.softer, self.tracks)
        return [test for tests in both for quantity in UNITS for test in tests(results, quantity)]

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The effect of softer ground, and of tracks."""
        early = int((results["time"].values < (self.frames - 0.5) * INTERVAL).sum())
        found = []
        for quantity, (text, more) in SOFTER.items():
            tests = self.softer(results, quantity)
            found.append(self._claim(results, text, quantity, tests, more, early))
        for quantity, (text, more) in TRACKS.items():
            tests = self.tracks(results, quantity)
            found.append(self._claim(results, text, quantity, tests, more, early))
        return found

    def _claim(
        self, results: xr.Dataset, text: str, quantity: str, tests: list[Comparison], more: bool, early: int
    ) -> Claim:
        """Whether all tests find it larger (``more``) or smaller, and which do not."""
        label, factor = UNITS[quantity]
        medians = []
        for rover in ROVERS:
            groups = self._by_ground(results, rover, quantity)
            numbers = ", ".join(f"{factor * np.median(groups[ground]):.3g}" for ground in self._grounds_with(quantity))
            medians.append(f"{rover}: {numbers}")
        unsure = [test for test in tests if not (test.above() if more else test.below())]
        where = "; ".join(f"{t.group} and {t.baseline}, {t.quantity.partition(', ')[2]} (p={t.p:.2g})" for t in unsure)
        unit = label[label.index("[") + 1 : -1]
        note = f"medians in {unit} on {', '.join(self._grounds_with(quantity))}; {TEST}"
        note += f". Fails for: {where}" if where else ""
        note += f". {early} drives ended early" if early else ""
        return Claim(text, "not studied", "; ".join(medians), bool(tests) and not unsure, note)

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Both rovers side by side on the softest ground, with the same commands."""
        ground = self.ordered[0]
        world = self.world(ground, ROVERS, shape=PICTURE, spacing=PICTURE_SPACING, poses=START_POSES, wrap=False)
        turn_rates = iter(-0.6 * np.cos(2.0 * np.pi * np.arange(self.picture_frames) / 700.0))
        weave = as_controller(lambda _: np.array([[0.2, next(turn_rates)]] * 2))
        for step in rollout(world, weave, 0, self.picture_frames):
            if step.number == 0:
                before = world.task.ground.heights.copy()
        figure = Figure(figsize=(11.0, 5.2), layout="compressed")
        left, right = figure.subplots(1, 2, width_ratios=(2.9, 1.0), sharey=True)
        show(left, world.scene())
        left.axvline(CUT, color="white", linestyle=(0, (4, 3)), linewidth=1.2)
        column = round((CUT - world.task.ground.grid.corner[0]) / PICTURE_SPACING)
        y = world.task.ground.grid.corner[1] + PICTURE_SPACING * np.arange(PICTURE[0])
        change = 1000.0 * (world.task.ground.heights - before)[:, column]
        right.fill_betweenx(y, change, 0.0, where=change < 0.0, color=COLOURS[1], alpha=0.5, linewidth=0)
        right.fill_betweenx(y, change, 0.0, where=change > 0.0, color=COLOURS[2], alpha=0.5, linewidth=0)
        right.plot(change, y, color=COLOURS[5], linewidth=1.0)
        right.axvline(0.0, color="0.6", linewidth=0.7)
        right.spines[["top", "right"]].set_visible(False)
        right.set(xlabel="change along the dashed line [mm]")
        right.text(0.97, 0.78, "wheels", transform=right.transAxes, ha="right", color=COLOURS[5])
        right.text(0.97, 0.27, "tracks", transform=right.transAxes, ha="right", color=COLOURS[5])
        yield Picture(
            f"Both rovers, after {self.picture_frames * INTERVAL:g} s of the same commands, on "
            f"{'rigid ground' if ground == 'rigid' else f'{ground} soil'}. They came from the left. Right: "
            "cross-section of the ruts, which lie between banks of displaced soil.",
            figure,
        )
