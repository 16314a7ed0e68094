"""What the ground does to a drive: how much of their way rovers lose, and what they leave behind."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.geometry.planar import wrap
from sandlot.kernels.randomness import children
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas, points
from sandlot.studies.statistics import Comparison, compare, holm
from sandlot.studies.terrain.trial import ROVERS
from sandlot.typing import Array
from sandlot.worlds.terrain.world import Terrain

Ground = Literal["soft", "mid", "LETE sand", "rigid"]
GROUNDS: tuple[Ground, ...] = ("soft", "mid", "LETE sand", "rigid")
"""From the softest to the hardest."""
TEST = "on every pair, Mann-Whitney U, Holm-corrected, p < 0.05"
UNITS: Mapping[str, tuple[str, float]] = {
    "slip": ("slip [%]", 100.0),
    "rut": ("deepest rut [mm]", 1000.0),
    "turned": ("turn made of the one wanted [%]", 100.0),
}
"""What the figure shows: label, and by what to multiply."""
SOFTER = {
    "slip": ("The softer the ground, the more rovers slip.", True),
    "rut": ("The softer the ground, the deeper the ruts.", True),
    "turned": ("The softer the ground, the less rovers turn of what they want.", False),
}
TRACKS = {
    "slip": ("Tracks slip less than wheels.", False),
    "rut": ("Tracks leave shallower ruts than wheels.", False),
    "turned": ("Tracks turn by more of what they want than wheels.", True),
}
"""Claims, and whether what is compared is then more or less."""
INTERVAL = 0.01
"""Between frames [s]."""
PICTURE, PICTURE_SPACING = (240, 360), 0.005
"""Nodes, and their spacing [m], of the ground in the picture."""
PLACES, CUT = ((-0.6, 0.32, -0.05), (-0.6, -0.16, -0.05)), -0.3
"""Where rovers start there: x, y [m] and yaw [rad]; and the x of the cut [m]."""


@study("terrain.drive", source="Cook 2017, section 5.3, and our own")
class Drive(Study):
    """What does the ground do to a drive?

    A rover on wheels and one on tracks drive as the source's algorithm 5 has them drive: forwards, backwards, turns to
    both sides, then the four combinations, at speeds that change. They do so on the same hills, of soil from soft to
    firm and of something rigid. Each drive begins at another place, in another direction.

    Attributes:
        grounds: Soils, or ``rigid``.
        frames: Of a drive; one is 0.01 s.
        replicates: Drives of each rover on each ground.
        terrain: Which hills.
        picture_frames: Of the drive that is shown.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **Terrain.outcome_quantities,
        "turned": Quantity("1", "share of the turn on the spot that was wanted"),
        "time": Quantity("s", "until the drive ended"),
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
        place, way = children(job.seed, 2)
        x, y, yaw = np.random.default_rng(place).uniform((-3.0, -3.0, -np.pi), (3.0, 3.0, np.pi)).tolist()
        world = self.world(str(job.parameters["ground"]), (str(job.parameters["rover"]),), poses=((x, y, yaw),))
        seen, _ = world.reset(seed=0)
        act = world.controller("session", way, self.frames)
        wanted = made = 0.0
        frame, over = 0, False
        while frame < self.frames and not over:
            before, action = world.fleet.angles[0, 2], np.asarray(act(seen))
            seen, _, terminated, truncated, _ = world.step(action)
            frame, over = frame + 1, terminated or truncated
            if action[0, 0] == 0.0:
                turn = wrap(float(world.fleet.angles[0, 2] - before))
                wanted += abs(action[0, 1]) * INTERVAL
                made += turn * np.sign(action[0, 1])
        return {**world.outcomes(), "turned": float(made / wanted) if wanted else np.nan, "time": frame * INTERVAL}

    def world(self, ground: str, rovers: tuple[str, ...], **settings: Any) -> Terrain:
        """With these rovers on one of the grounds."""
        kind: dict[str, Any] = {"ground": "rigid"} if ground == "rigid" else {"ground": "soil", "soil": ground}
        return Terrain(**{"terrain": self.terrain, "rovers": rovers, "interval": INTERVAL, **kind, **settings})

    def figure(self, results: xr.Dataset) -> Figure:
        """Slip, the deepest rut and the turn that was made, by ground: every drive, and the medians."""
        figure, panels = canvas(len(UNITS), 10.0, 4.0)
        for axes, (name, (label, per)) in zip(panels, UNITS.items(), strict=True):
            for k, rover in enumerate(ROVERS):
                for place, group in enumerate(self._by_ground(results, rover, name).values()):
                    points(axes, place + 0.2 * (2 * k - 1), per * group, COLOURS[k])
                axes.plot([], [], "o", color=COLOURS[k], label=rover)
            axes.set_xticks(range(len(self.ordered)), [ground.replace(" ", "\n") for ground in self.ordered])
            lowest, highest = per * float(results[name].min()), per * float(results[name].max())
            axes.set(
                ylabel=label, xlim=(-0.6, len(self.ordered) - 0.4), ylim=(min(1.1 * lowest, -0.02 * highest), None)
            )
            axes.grid(visible=False, axis="x")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
        return figure

    @property
    def ordered(self) -> list[str]:
        """The grounds, from the softest."""
        return [ground for ground in GROUNDS if ground in self.grounds]

    def _by_ground(self, results: xr.Dataset, rover: str, quantity: str) -> dict[str, Array]:
        return {ground: pick(results, rover=rover, ground=ground)[quantity].values for ground in self.ordered}

    def softer(self, results: xr.Dataset, quantity: str) -> list[Comparison]:
        """Every ground against the next harder one, for both rovers."""
        found = []
        for rover in ROVERS:
            groups = self._by_ground(results, rover, quantity)
            for soft, hard in itertools.pairwise(self._with(quantity)):
                found += compare({soft: groups[soft], hard: groups[hard]}, hard, f"{quantity}, {rover}")
        return _together(found)

    def tracks(self, results: xr.Dataset, quantity: str) -> list[Comparison]:
        """Tracks against wheels, on every ground."""
        found = []
        for ground in self._with(quantity):
            groups = {rover: self._by_ground(results, rover, quantity)[ground] for rover in ROVERS}
            found += compare(groups, "wheeled", f"{quantity}, {ground}")
        return _together(found)

    def _with(self, quantity: str) -> list[str]:
        """Grounds that have it: there are no ruts where nothing yields."""
        return [ground for ground in self.ordered if (quantity, ground) != ("rut", "rigid")]

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Softer against harder ground, and tracks against wheels."""
        both = (self.softer, self.tracks)
        return [test for tests in both for quantity in UNITS for test in tests(results, quantity)]

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What softer ground does, and what tracks are good for."""
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
        """Whether all tests say more, or all say less; and which do not."""
        label, per = UNITS[quantity]
        medians = []
        for rover in ROVERS:
            groups = self._by_ground(results, rover, quantity)
            numbers = ", ".join(f"{per * np.median(groups[ground]):.3g}" for ground in self._with(quantity))
            medians.append(f"{rover}: {numbers}")
        unsure = [test for test in tests if not (test.above() if more else test.below())]
        where = "; ".join(f"{t.group} and {t.baseline}, {t.quantity.partition(', ')[2]} (p={t.p:.2g})" for t in unsure)
        unit = label[label.index("[") + 1 : -1]
        note = f"medians in {unit} on {', '.join(self._with(quantity))}; {TEST}"
        note += f". Not so: {where}" if where else ""
        note += f". {early} drives ended early" if early else ""
        return Claim(text, "not studied", "; ".join(medians), bool(tests) and not unsure, note)

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Both rovers side by side on the softest ground, told the same."""
        ground = self.ordered[0]
        half_x, half_y = 0.5 * PICTURE_SPACING * np.array(PICTURE[::-1])
        world = self.world(ground, ROVERS, shape=PICTURE, spacing=PICTURE_SPACING, poses=PLACES, wrap=False)
        world.reset(seed=0)
        before = world.ground.heights.copy()
        for k in range(self.picture_frames):
            turn = -0.6 * np.cos(2.0 * np.pi * k / 700.0)
            world.step(np.array([[0.2, turn]] * 2))
        figure = Figure(figsize=(11.0, 5.2), layout="compressed")
        left, right = figure.subplots(1, 2, width_ratios=(2.9, 1.0), sharey=True)
        left.imshow(world.render(), extent=(-half_x, half_x, -half_y, half_y))
        left.axvline(CUT, color="white", linestyle=(0, (4, 3)), linewidth=1.2)
        left.set(xlabel="x [m]", ylabel="y [m]")
        column = round((CUT - world.ground.corner[0]) / PICTURE_SPACING)
        y = world.ground.corner[1] + PICTURE_SPACING * np.arange(PICTURE[0])
        change = 1000.0 * (world.ground.heights - before)[:, column]
        right.fill_betweenx(y, change, 0.0, where=change < 0.0, color=COLOURS[1], alpha=0.5, linewidth=0)
        right.fill_betweenx(y, change, 0.0, where=change > 0.0, color=COLOURS[2], alpha=0.5, linewidth=0)
        right.plot(change, y, color=COLOURS[5], linewidth=1.0)
        right.axvline(0.0, color="0.6", linewidth=0.7)
        right.spines[["top", "right"]].set_visible(False)
        right.set(xlabel="change along the dashed line [mm]", ylim=(-half_y, half_y))
        right.text(0.97, 0.78, "wheels", transform=right.transAxes, ha="right", color=COLOURS[5])
        right.text(0.97, 0.27, "tracks", transform=right.transAxes, ha="right", color=COLOURS[5])
        yield Picture(
            f"Both rovers, after {self.picture_frames * INTERVAL:g} s of the same commands, on "
            f"{'rigid ground' if ground == 'rigid' else f'{ground} soil'}. They came from the left. Right: a cut "
            "through the ruts, which lie between banks of the soil that was pressed out.",
            figure,
        )


def _together(tests: list[Comparison]) -> list[Comparison]:
    """The same, corrected for having made all of them."""
    return [replace(test, p=float(p)) for test, p in zip(tests, holm([test.p for test in tests]), strict=True)]
