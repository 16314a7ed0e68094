"""Nothing is lost: soil keeps its volume, and particles stay in their container."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import Field

from sandlot.physics.particles import Particles
from sandlot.recordings import Quantity
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive
from sandlot.studies.base import Claim, Found
from sandlot.studies.plots import COLOURS
from sandlot.studies.terrain.ride import SPACING, Ride, waves
from sandlot.studies.terrain.trial import ROVERS, YIELDING, Case, Trial, below, rows

HIGH = 0.06
"""Height of the waves of the ground [m]."""
LIMIT = 1e-9
BED, GRAIN = (0.7, 0.4, 0.04), 0.01
"""Length, width and depth of a bed of particles, and their radius [m]."""
EACH = 500
"""Steps that a command lasts."""
CHECKS = 20


def commands(seed: np.random.SeedSequence, steps: int) -> Iterator[tuple[int, float, float]]:
    """A drive at random: steps, speed [m/s] and rate of turning [rad/s]."""
    rng = np.random.default_rng(seed)
    for begin in range(0, steps, EACH):
        yield min(EACH, steps - begin), float(rng.uniform(-0.1, 0.25)), float(rng.uniform(-2.0, 2.0))


class Volume(Trial):
    """How much soil there is during a drive over hills, in which rovers turn often and throw it up.

    Attributes:
        steps: Of 1 ms.
    """

    name: ClassVar[str] = "volume"
    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "volume_change": Quantity("1", "change of the soil's volume since the start", ("volume_check",), (0,)),
        "volume_moved": Quantity("m^3", "volume that lies elsewhere at the end"),
    }

    steps: int = Field(10_000, ge=CHECKS)

    def lengths(self) -> Mapping[str, int]:
        """Times to look."""
        return {"volume_check": CHECKS}

    def cases(self) -> Iterator[Case]:
        """Both rovers on every soil."""
        for body in ROVERS:
            for ground in YIELDING:
                yield Case(body, ground)

    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Drive about; the volume is summed without rounding."""
        start = waves(HIGH)
        ride = Ride(case.body, case.ground, heights=start)
        looks, done, changes = np.linspace(0, self.steps, CHECKS + 1).round()[1:], 0, []
        total = math.fsum(start.ravel())
        for steps, linear, angular in commands(seed, self.steps):
            until = done + steps
            while done < until:
                following = int(looks[looks > done][0])
                part = min(following, until) - done
                ride.go(linear, angular, part * ride.model.opt.timestep)
                done += part
                if done == following:
                    changes.append(math.fsum([*ride.soil.heights.ravel(), -total]) / total)
        moved = 0.5 * float(np.abs(ride.soil.heights - start).sum()) * SPACING**2
        return {"volume_change": np.array(changes), "volume_moved": moved}

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """It is constant."""
        change, moved = np.abs(results["volume_change"].values).max(), 1000 * results["volume_moved"].values
        return [
            Claim(
                f"Soil keeps its volume in a drive of {self.steps:,} steps that throws it about.",
                f"to {LIMIT:g}",
                f"to {change:.1e}",
                below(change, LIMIT) and float(np.median(moved)) > 0.0,
                f"{results.sizes['job']} drives over waves of {100 * HIGH:g} cm; {moved.min():.2g} to "
                f"{moved.max():.2g} litres were moved; hard soil may carry a rover without yielding",
            )
        ]

    def draw(self, panels: Sequence[Axes], results: xr.Dataset) -> None:
        """Change of the volume over steps."""
        (axes,) = panels
        steps = np.linspace(0, self.steps, CHECKS + 1)[1:] / 1000.0
        for case, row in rows(results):
            style = "-" if case.body == "wheeled" else "--"
            change = np.maximum(np.abs(row["volume_change"].values), 1e-17)
            axes.plot(
                steps, change, style, color=COLOURS[YIELDING.index(case.ground)], label=f"{case.body}, {case.ground}"
            )
        axes.axhline(LIMIT, color=COLOURS[5], linestyle=":", label="allowed")
        axes.set(title="volume of soil", xlabel="steps [thousands]", ylabel="change, relative", yscale="log")
        axes.set_ylim(1e-17, 1e-6)
        axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")


class Grains(Trial):
    """Whether particles stay where they can be when a rover drives about in them.

    Attributes:
        steps: Of 1 ms.
    """

    name: ClassVar[str] = "grains"
    panels: ClassVar[int] = 0
    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "grains_count": Quantity("1", "particles"),
        "grains_lost": Quantity("1", "particles outside their container, or nowhere"),
        "grains_low": Quantity("1", "lowest centre of a particle above the floor, in radii"),
    }

    steps: int = Field(10_000, ge=1)

    def cases(self) -> Iterator[Case]:
        """Both rovers."""
        for body in ROVERS:
            yield Case(body, "particles", GRAIN)

    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Drive about in a bed, and back before its walls."""
        shape = (round(BED[1] / (2.0 * GRAIN)), round(BED[0] / (2.0 * GRAIN)))
        particles = Particles(np.full(shape, BED[2]), 2.0 * GRAIN, GRAIN)
        particles.settle(np.random.default_rng(0), shake=0.2, most=2.0)
        made = build_model([load_rover(case.body)], [[0.0, 0.0, BED[2] + 0.06, 0.0, 0.0, 0.0]])
        data, parts, count = mujoco.MjData(made.model), made.rovers[0], len(particles.position)
        particles.attach(made.model, parts.ground, parts.tracks)
        lost, low = 0, np.inf
        for steps, linear, angular in commands(seed, self.steps):
            x = data.qpos[parts.qpos : parts.qpos + 2]
            ahead = data.xmat[parts.chassis, [0, 3]]
            outward = float(ahead @ x) * linear > 0.0 and bool(np.any(np.abs(x) > (0.2, 0.1)))
            drive(made, data, [[-linear if outward else linear, angular]])
            particles.step(data, steps)
            place, (left, right, near, far) = particles.position, particles.state.box
            inside = (place[:, 0] > left) & (place[:, 0] < right) & (place[:, 1] > near) & (place[:, 1] < far)
            lost = max(lost, count - int(inside.sum()), count - len(place))
            low = min(low, float(place[:, 2].min()) / GRAIN)
        return {"grains_count": count, "grains_lost": lost, "grains_low": low}

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """All are there, above the floor."""
        lost, low = int(np.nan_to_num(results["grains_lost"], nan=1e9).sum()), float(results["grains_low"].min())
        return [
            Claim(
                f"In a drive of {self.steps:,} steps no particle is lost, and none falls through the floor.",
                "none",
                f"{lost} lost; lowest centre {low:.2f} radii above it",
                lost == 0 and low > 0.0,
                f"{int(results['grains_count'].sum()):,} particles under {results.sizes['job']} rovers",
            )
        ]
