"""Who gets out when the reactive controller is stuck (section 5.3, figure 25)."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.climbing.neural import ROWS
from sandlot.places.course_kinds import Box
from sandlot.recordings import Quantity
from sandlot.robots.climber import load_climber
from sandlot.robots.climbers import INTERVAL
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.obstacles.base import LABELS
from sandlot.studies.obstacles.situations import SITUATIONS, Handover
from sandlot.studies.obstacles.strips import strip
from sandlot.studies.plots import COLOURS, canvas
from sandlot.typing import Array, BoolArray
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.task import PROGRESS
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

Letter = Literal["a", "b", "c", "d", "e", "f", "g", "h"]
Name = Literal["reactive", "neural", "reinforced", "trained"]
FURTHER = 0.3
"""A robot is out when it has come this much further, which is its axle span [m]."""
QUARTILES = (0.25, 0.5, 0.75)


@study("obstacles.stuck", source="Vincent 2008, section 5.3, figure 25")
class Stuck(Study):
    """Which controller gets a robot out where the reactive one is stuck, and in how long?

    The reactive controller drives on obstacles like those of figure 25. Where it comes no further, another controller
    takes over. The robot is out when it has come an axle span further, upright. Nets of the reinforced controller begin
    without experience in each case.

    Attributes:
        situations: Letters of figure 25.
        controllers: That take over; the reactive one just goes on.
        halted: A robot is stuck if it came no further for this long [s].
        patience: Time to get out [s].
        seconds: Time to get stuck [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "robots": Quantity("1", "robots that drove"),
        "cases": Quantity("1", "of them got stuck in this situation"),
        "out": Quantity("1", "of these got out"),
        "fell": Quantity("1", "of these fell on their backs"),
        "duration": Quantity("s", "until they were out, quartiles; NaN if none", ("quartile",), (3,)),
    }

    situations: Annotated[tuple[Letter, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "a", "b", "c", "d", "e", "f", "g", "h",
    )  # fmt: skip
    controllers: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "reactive",
        "neural",
        "reinforced",
        "trained",
    )
    halted: float = Field(3.0, gt=0.0, le=1e3)
    patience: float = Field(60.0, gt=0.0, le=1e4)
    seconds: float = Field(40.0, gt=0.0, le=1e4)

    def jobs(self) -> Iterator[Job]:
        """Every controller in every situation."""
        return self.cross(situation=self.situations, controller=self.controllers)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Get robots stuck, and hand them over; they get stuck in the same way for all controllers."""
        letter = str(job.parameters["situation"])
        situation, count = SITUATIONS[letter], len(SITUATIONS[letter].kinds)
        total = self.seconds + self.patience
        settings = ObstaclesSettings(rows=ROWS, perception=situation.perception, patience=total, seconds=2.0 * total)
        world = ObstaclesVector(num_envs=count, autoreset_mode="Disabled", settings=settings)
        handover = Handover(load_climber(), str(job.parameters["controller"]))
        seed = np.random.SeedSequence(self.seed, spawn_key=(list(SITUATIONS).index(letter),)).generate_state(1)[0]
        since, mark, at = np.zeros(count), np.full(count, -np.inf), np.full(count, np.nan)
        fell, duration, elsewhere = np.zeros(count, np.bool_), np.full(count, np.nan), np.zeros(count, np.bool_)
        task, time = world.task, 0.0

        def done() -> BoolArray:
            late = np.where(np.isnan(at), time >= self.seconds, time >= since + self.patience)
            return fell | elsewhere | late | task.passed | ~np.isnan(duration)

        steps = round(total / INTERVAL)
        for step in rollout(world, handover, int(seed), steps, options={"courses": situation.kinds}, until=done):
            time, x, taken = step.number * INTERVAL, task.x, handover.taken.copy()
            free = step.running & ~taken
            moved = free & (x > mark + PROGRESS)
            mark, since = np.where(moved, x, mark), np.where(moved, time, since)
            halts = free & (time - since >= self.halted) & ~task.overturned
            near = np.array([course.near for course in task.climbers.courses])
            here = np.array([situation.counts(*each) for each in zip(situation.kinds, x - near, strict=True)])
            elsewhere |= (halts & ~here) | (free & task.overturned)
            handover.take(halts & here)
            at, since = np.where(halts & here, x, at), np.where(halts & here, time, since)
            fell |= step.running & taken & task.overturned
            out = step.running & taken & ~fell & ((x >= at + FURTHER) | task.passed)
            duration = np.where(out & np.isnan(duration), time - since, duration)
        freed = duration[~np.isnan(duration)]
        quartiles = np.quantile(freed, QUARTILES) if len(freed) else np.full(3, np.nan)
        counts = {"robots": count, "cases": int((~np.isnan(at)).sum()), "out": len(freed), "fell": int(fell.sum())}
        return {**{name: float(value) for name, value in counts.items()}, "duration": quartiles}

    def _table(self, results: xr.Dataset, outcome: str, name: str) -> Array:
        """An outcome of a controller by situation: (situations, ...)."""
        mine = pick(results, controller=name)
        return np.array([pick(mine, situation=letter)[outcome].values[0] for letter in self.situations])

    def figure(self, results: xr.Dataset) -> Figure:
        """Share of robots that got out of each situation of figure 25, and how long it took: median and quartiles."""
        figure, (left, right) = canvas(2, 11.5, 4.8)
        rows, height = np.arange(len(self.situations)), 0.8 / len(self.controllers)
        for k, name in enumerate(self.controllers):
            cases, out = (self._table(results, each, name) for each in ("cases", "out"))
            at, colour = rows + (k - 0.5 * (len(self.controllers) - 1)) * height, COLOURS[k]
            share = np.divide(out, cases, out=np.zeros_like(out), where=cases > 0)
            left.barh(at, 100.0 * share, 0.9 * height, color=colour, label=LABELS[name])
            low, middle, high = self._table(results, "duration", name).T
            right.errorbar(middle, at, xerr=(middle - low, high - middle), fmt="o", color=colour, markersize=4)
        cases = self._table(results, "cases", self.controllers[0])
        names = [
            f"{letter}: {SITUATIONS[letter].text}, {number:.0f} stuck"
            for letter, number in zip(self.situations, cases, strict=True)
        ]
        left.set_yticks(rows, names)
        right.set_yticks(rows, list(self.situations))
        for axes in (left, right):
            axes.set_ylim(len(rows) - 0.4, -0.6)
        left.set(xlabel="got out [%]", xlim=(0.0, 100.0))
        right.set(xlabel="time until out [s]", xlim=(0.0, None))
        figure.legend(*left.get_legend_handles_labels(), frameon=False, ncols=4, loc="outside upper center")
        return figure

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Strips of a climb that gets stuck, and of one that does not, as figure 15."""
        box = Box(distance=1.0, depth=0.8, height=0.34)
        size = f"a box of {100.0 * box.height:.0f} cm"
        for name, ends in (("reactive", "is stuck with its belly on the edge of"), ("trained", "climbs")):
            if name in self.controllers:
                yield strip(name, box, f"The {LABELS[name]} controller {ends} {size}.")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Who gets stuck where, and who gets out."""
        claims = []
        cases = self._table(results, "cases", self.controllers[0])
        reached = cases > 0
        missing = ", ".join(letter for letter, any_ in zip(self.situations, reached, strict=True) if not any_)
        text = "The reactive controller gets stuck in every situation of figure 25."
        said = f"{int(reached.sum())} of {len(reached)}"
        note = f"never in: {missing}" if missing else ""
        claims.append(Claim(text, "all", said, bool(reached.all()), note))
        if not reached.any():
            return claims
        share = {name: (self._table(results, "out", name) / np.maximum(cases, 1))[reached] for name in self.controllers}
        letters = [letter for letter, any_ in zip(self.situations, reached, strict=True) if any_]
        shown = {
            name: ", ".join(f"{letter} {each:.0%}" for letter, each in zip(letters, values, strict=True))
            for name, values in share.items()
        }
        if "reactive" in share:
            text = "The reactive controller has no solution there: it stays stuck."
            worst = float(share["reactive"].max())
            claims.append(Claim(text, "none gets out", f"at most {worst:.0%}", worst <= 0.1, shown["reactive"]))
        if {"reactive", "reinforced"} <= set(share):
            more = share["reinforced"] > share["reactive"]
            text = "Reinforcement gets more robots out, in every situation."
            said = f"in {int(more.sum())} of {len(more)}"
            claims.append(Claim(text, "all", said, bool(more.all()), shown["reinforced"]))
            least = float(share["reinforced"].min())
            text = "Reinforcement eventually finds a way to keep progressing, in every situation."
            claims.append(Claim(text, "always", f"at least {least:.0%}", least >= 0.9, "holds from 90% on"))
        if "trained" in share:
            least = float(share["trained"].min())
            text = "The trained controller gets at least 95% out, in every situation."
            claims.append(Claim(text, "beyond the source", f"at least {least:.0%}", least >= 0.95, shown["trained"]))
        if {"trained", "reinforced"} <= set(share):
            ours, theirs = (self._table(results, "duration", name)[:, 1] for name in ("trained", "reinforced"))
            both = ~np.isnan(ours) & ~np.isnan(theirs)
            quicker = (ours < theirs)[both]
            text = "The trained controller gets out sooner than reinforcement, in every situation."
            said = f"in {int(quicker.sum())} of {len(quicker)}"
            note = ", ".join(f"{k} {a:.1f}/{b:.1f}" for k, a, b, ok in
                             zip(self.situations, ours, theirs, both, strict=True) if ok)  # fmt: skip
            claims.append(
                Claim(text, "beyond the source", said, bool(quicker.all()), f"trained/reinforced [s]: {note}")
            )
        return claims
