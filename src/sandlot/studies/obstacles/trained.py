"""What the trained policy can do in the reference, in which it was never trained."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.places.course_kinds import Box, Kind, Rubble, Stairs
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.obstacles.trials import (
    ENDINGS,
    FIDELITIES,
    OVERTURNED,
    PASSED,
    TYPICAL_RISERS,
    TYPICAL_TREADS,
    endings,
    in_percent,
    rate_interval,
)
from sandlot.studies.plots import COLOURS, canvas

DISTANCE = 1.0
"""From the start to the obstacles [m]."""
HIGH = 0.45
"""Of the boxes [m]."""
DEPTHS = tuple(round(0.3 + 0.05 * k, 2) for k in range(20))
"""Of the boxes [m]: as deep as a step of 1.25 m."""
SETS = ("stairs", "boxes", "rubble")


@study("obstacles.trained", source="what the trained policy must do, beyond Vincent 2008")
class Trained(Study):
    """Does the policy that was trained in the fast model climb what it must in the reference?

    It drives over staircases of typical size, 6 steps up and 6 down, over boxes of 45 cm at depths from 30 cm, and over
    random rubble up to 20 cm high. Sizes and starts are random; each run is also made in the fast model.

    Attributes:
        stairs: Number of staircases.
        starts: Runs on each box.
        rubble: Number of runs on rubble.
        block: Runs of a job.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "across": Quantity("m", "tread of the stairs or depth of the box", ("run",), (0,)),
        "level": Quantity("m", "riser of the stairs, or height of box or rubble", ("run",), (0,)),
        **{
            name: Quantity("1", f"how each run ends in the {name} model: {', '.join(ENDINGS)}", ("run",), (0,))
            for name in FIDELITIES
        },
    }

    stairs: int = Field(200, ge=1, le=100_000)
    starts: int = Field(5, ge=1, le=1000)
    rubble: int = Field(1000, ge=1, le=100_000)
    block: int = Field(20, ge=1, le=1000)

    def jobs(self) -> Iterator[Job]:
        """Blocks of runs on every kind of obstacle; the last block of a kind may have spare runs."""
        return self.each(
            {"set": name, "block": k} for name in SETS for k in range(-(-self._wanted(name) // self.block))
        )

    def _wanted(self, name: str) -> int:
        return {"stairs": self.stairs, "boxes": self.starts * len(DEPTHS), "rubble": self.rubble}[name]

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive over a block of obstacles in both models."""
        name, rng = str(job.parameters["set"]), np.random.default_rng(job.seed)
        numbers = int(job.parameters["block"]) * self.block + np.arange(self.block)
        sizes = np.array([_size(name, int(k), rng) for k in numbers])
        kinds, seed = (
            [_obstacle(name, across, level, rng) for across, level in sizes.tolist()],
            int(rng.integers(2**31)),
        )
        found = {fidelity: endings("trained", kinds, fidelity, seed) for fidelity in FIDELITIES}
        return {"across": sizes[:, 0], "level": sizes[:, 1], **found}

    def runs(self, results: xr.Dataset, name: str) -> xr.Dataset:
        """The runs on one kind of obstacle, along ``row``."""
        mine = results.isel(job=results["set"].values == name).drop_vars(["set", "block"])
        return mine.stack(row=("job", "run")).isel(row=slice(self._wanted(name))).reset_index("row")

    def figure(self, results: xr.Dataset) -> Figure:
        """Staircases and boxes of the reference, green if passed; and how runs on rubble end."""
        figure, axes = canvas(3, 13.0, 4.0)
        stairs, boxes, rubble = (self.runs(results, name) for name in SETS)
        failed = stairs["reference"].values != PASSED
        for mask, colour, label in ((~failed, COLOURS[2], "passed"), (failed, COLOURS[1], "failed")):
            row = stairs.isel(row=mask)
            axes[0].scatter(
                100.0 * row["across"], 100.0 * row["level"], s=14, color=colour, label=f"{label}: {mask.sum()}"
            )
        axes[0].set(xlabel="tread [cm]", ylabel="riser [cm]", title="typical staircases, up and down")
        axes[0].legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, -0.15), ncols=2)
        for fidelity, colour, style in zip(FIDELITIES, COLOURS, ("o-", "x--"), strict=False):
            shares = [float((boxes.isel(row=boxes["across"].values == d)[fidelity] == PASSED).mean()) for d in DEPTHS]
            axes[1].plot(100.0 * np.array(DEPTHS), shares, style, color=colour, label=fidelity)
            counts = [(rubble[fidelity].values == code).mean() for code in range(len(ENDINGS))]
            axes[2].barh(
                np.arange(len(counts)) + 0.4 * FIDELITIES.index(fidelity) - 0.2, counts, 0.36, color=colour,
                label=fidelity,
            )  # fmt: skip
        axes[1].set(xlabel="depth [cm]", ylabel="share that passes", ylim=(0.0, 1.05), title="boxes of 45 cm")
        axes[2].set_yticks(np.arange(len(ENDINGS)), ENDINGS)
        axes[2].set(xlabel="share of runs", xlim=(0.0, 1.0), title="rubble up to 20 cm")
        for each in axes[1:]:
            each.legend(frameon=False, loc="upper right" if each is axes[2] else "lower left")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The bars."""
        stairs, boxes, rubble = (self.runs(results, name) for name in SETS)
        passed = {name: stairs[name].values == PASSED for name in FIDELITIES}
        climbs = rate_interval(passed["reference"])
        worst = {d: _share(boxes, d) for d in DEPTHS}
        able = sum(share == 1.0 for share in worst.values())
        least = min(worst, key=lambda d: worst[d])
        fell = rate_interval(rubble["reference"].values == OVERTURNED)
        crossed = rate_interval(rubble["reference"].values == PASSED)
        fast = {
            name: float((each["fast"].values == PASSED).mean())
            for name, each in zip(SETS, (stairs, boxes, rubble), strict=True)
        }
        said = ", ".join(f"{name} {share:.1%}" for name, share in fast.items())
        return [
            Claim(
                "It climbs and descends typical staircases.",
                "at least 99%",
                f"{climbs.mean:.1%}",
                climbs.mean >= 0.99,
                f"{stairs.sizes['row']} staircases, interval {in_percent(climbs)}; in fast it passes {said}",
            ),
            Claim(
                "It climbs boxes of 45 cm at every depth from 30 cm.",
                f"all of {len(DEPTHS)} depths, in each of {self.starts} runs",
                f"{able} of {len(DEPTHS)} depths",
                able == len(DEPTHS),
                f"least at {100.0 * least:.0f} cm: {worst[least]:.0%} of runs",
            ),
            Claim(
                "It rarely ends on its back on random rubble.",
                "at most 1%",
                f"{fell.mean:.1%}",
                fell.mean <= 0.01,
                f"{rubble.sizes['row']} runs, interval {in_percent(fell)}",
            ),
            Claim(
                "It crosses random rubble.",
                "beyond the source",
                in_percent(crossed),
                crossed.mean >= 0.99,
                "holds from 99%",
            ),
        ]


def _share(boxes: xr.Dataset, depth: float) -> float:
    return float((boxes.isel(row=boxes["across"].values == depth)["reference"].values == PASSED).mean())


def _size(name: str, number: int, rng: np.random.Generator) -> tuple[float, float]:
    """Tread and riser, or depth and height [m], of the run of a number."""
    if name == "stairs":
        return rng.uniform(*TYPICAL_TREADS), rng.uniform(*TYPICAL_RISERS)
    return (DEPTHS[number % len(DEPTHS)], HIGH) if name == "boxes" else (3.0, 0.2)


def _obstacle(name: str, across: float, level: float, rng: np.random.Generator) -> Kind:
    if name == "stairs":
        return Stairs(distance=DISTANCE, tread=across, riser=level)
    if name == "boxes":
        return Box(distance=DISTANCE, depth=across, height=level)
    return Rubble(distance=DISTANCE, length=across, height=level, seed=int(rng.integers(2**31)))
