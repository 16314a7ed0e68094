"""A single wheel on soil: sinkage and drawbar pull over slip."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.physics.soil import PRESETS, Soil
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain import chrono
from sandlot.studies.terrain.shared import SOILS, PositiveValues, at_most, rows
from sandlot.typing import Array

RADIUS, WIDTH, LOAD, SPEED = 0.25, 0.2, 500.0, 0.4
"""Of the wheel [m], [m], [N], [m/s]."""
STEP = 0.001
"""Time step [s]."""
MARGIN = 0.6
"""Ground behind, ahead of and beside the wheel [m]."""

MODEL = f"""
<mujoco>
  <option timestep="{STEP}"/>
  <worldbody>
    <body>
      <joint type="slide" axis="1 0 0" armature="1e9"/>
      <geom size="0.01" mass="1e-6" contype="0" conaffinity="0"/>
      <body>
        <joint type="slide" axis="0 0 1"/>
        <geom size="0.01" mass="1e-6" contype="0" conaffinity="0"/>
        <body>
          <joint type="hinge" axis="0 1 0" armature="1e9"/>
          <geom name="wheel" type="cylinder" size="{RADIUS} {WIDTH / 2}" euler="90 0 0" mass="{LOAD / 9.81}"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""
"""The large armatures keep forward and angular speed constant; the wheel's weight is its real load."""

Slip = Annotated[float, Field(ge=-0.5, lt=1.0)]
SLIPS = (-0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def max_pull(ground: str, sinkage: float) -> float:
    """Mohr-Coulomb limit of the drawbar pull [N], on a patch from where the wheel enters to its lowest point."""
    soil = PRESETS[ground]
    patch = WIDTH * np.sqrt(max(2.0 * RADIUS * sinkage - sinkage**2, 0.0))
    return float(soil.cohesion * patch + LOAD * np.tan(np.radians(soil.friction)))


@study("terrain.wheel", source="Janosi and Hanamoto 1961; Project Chrono's soil contact model")
class Wheel(Study):
    """How deep does a wheel sink, and how much does it pull, over slip?

    A wheel of 0.25 m radius under 500 N moves and turns at given speeds, and is free to sink. Its pull is compared with
    the Mohr-Coulomb limit, its sinkage and pull with Project Chrono, and its sinkage between grid spacings.

    Attributes:
        spacings: Grid spacings of the soil [m], each about half of the one before.
        slips: 1 - v / (omega r), in increasing order.
        seconds: Duration of a drive [s]; results are means over its second half.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "sinkage": Quantity("m", "mean sinkage", ("slip",), (0,)),
        "pull": Quantity("N", "mean drawbar pull", ("slip",), (0,)),
    }

    spacings: PositiveValues = (0.02, 0.01, 0.005)
    slips: Annotated[tuple[Slip, ...], Field(min_length=2), AfterValidator(distinct)] = SLIPS
    seconds: float = Field(4.0, ge=0.1, le=60.0)

    def jobs(self) -> Iterator[Job]:
        """Every soil at every grid spacing [m]."""
        return self.cross(ground=SOILS, spacing=self.spacings)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive once for every slip."""
        ground, spacing = str(job.parameters["ground"]), float(job.parameters["spacing"])
        sinkage, pull = np.array([self.drive(ground, spacing, slip) for slip in self.slips]).T
        return {"sinkage": sinkage, "pull": pull}

    def drive(self, ground: str, spacing: float, slip: float) -> tuple[float, float]:
        """Mean sinkage [m] and drawbar pull [N] in the second half of a drive."""
        model = mujoco.MjModel.from_xml_string(MODEL)
        data = mujoco.MjData(model)
        length = 2.0 * MARGIN + SPEED * self.seconds
        shape = (round(2.0 * MARGIN / spacing) + 1, round(length / spacing) + 1)
        soil = Soil(np.zeros(shape), spacing, ground, (-MARGIN, -MARGIN)).attach(model, ["wheel"])
        data.qpos[1] = RADIUS
        data.qvel[:] = SPEED, 0.0, SPEED / (RADIUS * (1.0 - slip))
        steps, samples = round(self.seconds / STEP), []
        soil.step(data, steps // 2)
        for _ in range(steps // 2):  # every step: fewer samples would see the wheel at the same offsets to the nodes
            soil.step(data)
            samples.append((RADIUS - data.qpos[1], soil.forces[0, 0]))
        sinkage, pull = np.mean(samples, axis=0)
        return float(sinkage), float(pull)

    def curve(self, results: xr.Dataset, ground: str, spacing: float | None = None) -> tuple[Array, Array]:
        """Sinkage [m] and pull [N] over slip; at the first grid spacing if none is given."""
        row = pick(results, ground=ground, spacing=self.spacings[0] if spacing is None else spacing).isel(job=0)
        return row["sinkage"].values, row["pull"].values

    def figure(self, results: xr.Dataset) -> Figure:
        """Drawbar pull and sinkage over slip.

        Dotted on the left: the Mohr-Coulomb limit. Dashed and dotted on the right: finer grids. Curves leave the top
        where the wheel fell into the ground.
        """
        figure, (left, right) = canvas(2, 11.0, 4.4)
        for k, ground in enumerate(SOILS):
            sinkage, pull = self.curve(results, ground)
            left.plot(self.slips, pull / LOAD, ".-", color=COLOURS[k], label=ground)
            left.axhline(max_pull(ground, sinkage[-1]) / LOAD, color=COLOURS[k], linestyle=":", linewidth=0.8)
            for n, spacing in enumerate(self.spacings):
                depth = 1000 * self.curve(results, ground, spacing)[0]
                label = ground if n == 0 else None
                right.plot(self.slips, depth, ("-", "--", ":")[n % 3], color=COLOURS[k], label=label)
            known = [(slip, *found) for (soil, slip), found in chrono.WHEEL.items() if soil == ground]
            if known:
                slip, depth, force = np.array(known).T
                left.plot(slip, force / LOAD, "x", color=COLOURS[k], markersize=7)
                right.plot(slip, 1000 * depth, "x", color=COLOURS[k], markersize=7)
        left.plot([], [], "x", color=COLOURS[5], label="Project Chrono")
        left.plot([], [], ":", color=COLOURS[5], label="Mohr-Coulomb limit")
        left.axhline(0.0, color="0.6", linewidth=0.7)
        left.set(xlabel="slip", ylabel="drawbar pull / load")
        left.legend(frameon=False, fontsize=8, loc="lower right")
        right.plot([], [], "x", color=COLOURS[5], label="Project Chrono")
        right.set(xlabel="slip", ylabel="sinkage [mm]", yscale="log", ylim=(2, 600))
        right.legend(frameon=False, fontsize=8)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The shape of the pull curve, Project Chrono's values, and independence of the grid."""
        return [*self._pull_claims(results), *self._chrono_claims(results), self._grid_claim(results)]

    def _pull_claims(self, results: xr.Dataset) -> list[Claim]:
        grid, slips = f"at {1000 * self.spacings[0]:g} mm", np.array(self.slips)
        curves = {ground: self.curve(results, ground) for ground in SOILS}
        pulls = {ground: pull for ground, (_, pull) in curves.items()}
        limits = {ground: max_pull(ground, sinkage[-1]) for ground, (sinkage, _) in curves.items()}
        rising = {ground: slips[:-1][(pull[:-1] < 0.0) & (pull[1:] >= 0.0)] for ground, pull in pulls.items()}
        changes = {ground: int(np.diff(pull > 0.0).sum()) for ground, pull in pulls.items()}
        steps = {ground: np.diff(pull) / limits[ground] for ground, pull in pulls.items()}
        ends = {ground: pull[-1] / limits[ground] - 1.0 for ground, pull in pulls.items()}
        return [
            Claim(
                "Pull is negative without slip, and crosses zero once as slip grows.",
                "once, above slip 0",
                "; ".join(f"{ground}: {_crossings(slips, pull)}" for ground, pull in pulls.items()),
                all(len(rising[g]) == changes[g] == 1 and rising[g][0] >= 0.0 for g in SOILS),
                f"between which slips, {grid}",
            ),
            Claim(
                "Pull grows with slip over the whole range.",
                "every step up",
                "; ".join(f"{ground}: {int((step > 0.0).sum())} of {len(step)} up" for ground, step in steps.items()),
                all(bool(np.all(step > 0.0)) for step in steps.values()),
                f"{grid}; greatest fall {max(0.0, *(-float(step.min()) for step in steps.values())):.1%} of the "
                "Mohr-Coulomb limit",
            ),
            Claim(
                f"At slip {slips[-1]:g} the pull is the Mohr-Coulomb limit c A + W tan(phi).",
                "within 5%",
                "; ".join(f"{ground}: {100 * end:+.1f}%" for ground, end in ends.items()),
                at_most(np.abs(list(ends.values())), 0.05),
                f"{grid}; A is the patch from where the wheel enters to its lowest point",
            ),
        ]

    def _chrono_claims(self, results: xr.Dataset) -> list[Claim]:
        """Sinkage and pull compared with Project Chrono, at the slips that both have."""
        shared = [key for key in chrono.WHEEL if key[1] in self.slips]
        if not shared:
            return []
        sinkages, pulls, ratios = [], [], []
        for ground, slip in shared:
            sinkage, pull = (values[self.slips.index(slip)] for values in self.curve(results, ground))
            chrono_sinkage, chrono_pull = chrono.WHEEL[ground, slip]
            sinkages.append(sinkage / chrono_sinkage - 1.0)
            pulls.append((pull - chrono_pull) / (LOAD * np.tan(np.radians(PRESETS[ground].friction))))
            ratios.append(pull / chrono_pull - 1.0)
        where = [f"{ground} {slip:g}" for ground, slip in shared]
        within = int((np.abs(ratios) <= 0.15).sum())
        return [
            Claim(
                "A wheel sinks as deep as in Project Chrono.",
                "within 15%",
                percentages(where, sinkages),
                at_most(np.abs(sinkages), 0.15),
                "by soil and slip; Chrono's bulldozing was off",
            ),
            Claim(
                "A wheel pulls as much as in Project Chrono.",
                "within 15% of W tan(phi)",
                percentages(where, pulls),
                at_most(np.abs(pulls), 0.15),
                f"by soil and slip, as a share of W tan(phi). As a share of Chrono's own pull, which crosses zero: "
                f"{percentages(where, ratios)}; {within} of {len(ratios)} within 15%",
            ),
        ]

    def _grid_claim(self, results: xr.Dataset) -> Claim:
        """How much a halved grid spacing changes the sinkage."""
        changes: dict[str, float] = {}
        for ground in SOILS:
            for coarse, fine in zip(self.spacings[:-1], self.spacings[1:], strict=True):
                one, other = (self.curve(results, ground, each)[0] for each in (coarse, fine))
                changes[f"{ground} {1000 * coarse:g} to {1000 * fine:g} mm"] = float(np.abs(one / other - 1.0).max())
        buried = [
            f"{row['ground'].item()} at {1000 * row['spacing'].item():g} mm and slip {slip:g}"
            for row in rows(results)
            for slip, depth in zip(self.slips, row["sinkage"].values, strict=True)
            if not depth < RADIUS
        ]
        return Claim(
            "Halving the grid spacing changes the sinkage little, on every soil.",
            "under 10%",
            "; ".join(f"{where}: {change:.2%}" for where, change in changes.items()) or "one grid only",
            bool(changes) and at_most(list(changes.values()), 0.1),
            f"the greatest change over {len(self.slips)} slips"
            + (f". The wheel falls into the ground on {', '.join(buried)}" if buried else ""),
        )


def _crossings(slips: Array, pull: Array) -> str:
    """Between which slips the pull changes sign."""
    where = np.flatnonzero(np.diff(pull > 0.0))
    return ", ".join(f"{slips[k]:g} and {slips[k + 1]:g}" for k in where) or "never"


def percentages(where: Sequence[str], shares: Sequence[float]) -> str:
    """Names with shares in percent, as one text."""
    return "; ".join(f"{name}: {100 * share:+.0f}%" for name, share in zip(where, shares, strict=True))
