"""A single wheel on soil: how deep it sinks and how much it pulls, over how much it slips."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import AfterValidator, Field

from sandlot.physics.soil import PRESETS, Soil
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, pick
from sandlot.studies.plots import COLOURS
from sandlot.studies.terrain.trial import YIELDING, Case, Several, Trial, below, rows
from sandlot.typing import Array

RADIUS, WIDTH, LOAD, SPEED = 0.25, 0.2, 500.0, 0.4
STEP = 0.001
AROUND = 0.6
"""How much ground there is behind, ahead and beside [m]."""

CHRONO = {
    ("soft", 0.0): (0.09239, -124.363),
    ("soft", 0.1): (0.08877, 65.337),
    ("soft", 0.3): (0.08372, 173.468),
    ("soft", 0.7): (0.05837, 269.724),
    ("mid", 0.0): (0.02634, -10.534),
    ("mid", 0.1): (0.02613, 77.726),
    ("mid", 0.3): (0.02558, 226.527),
    ("mid", 0.7): (0.02268, 278.209),
}
"""Sinkage [m] and drawbar pull [N] of this wheel by soil and slip, in Project Chrono's soil contact model: measured
beforehand at 20 mm, with steps of 1 ms, and with its bulldozing off."""

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
"""What is so heavy to move and to turn does so as it did at first; only its weight is real."""

Slip = Annotated[float, Field(ge=-0.5, lt=1.0)]
SLIPS = (-0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def limit(ground: str, sinkage: float) -> float:
    """Most that soil can pull [N], by Mohr and Coulomb: on a patch from where the wheel enters to its lowest point."""
    soil = PRESETS[ground]
    patch = WIDTH * np.sqrt(max(2.0 * RADIUS * sinkage - sinkage**2, 0.0))
    return float(soil.cohesion * patch + LOAD * np.tan(np.radians(soil.friction)))


class Wheel(Trial):
    """A wheel moves and turns at given speeds, and is free to sink.

    Attributes:
        spacings: Of the ground's nodes [m], each about half of the one before.
        slips: 1 - v / (omega r), rising.
        seconds: How long it drives [s]; the second half counts.
    """

    name: ClassVar[str] = "wheel"
    panels: ClassVar[int] = 2
    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "wheel_sinkage": Quantity("m", "mean sinkage of a wheel", ("wheel_slip",), (0,)),
        "wheel_pull": Quantity("N", "mean drawbar pull of a wheel", ("wheel_slip",), (0,)),
    }

    spacings: Several = (0.02, 0.01, 0.005)
    slips: Annotated[tuple[Slip, ...], Field(min_length=2), AfterValidator(distinct)] = SLIPS
    seconds: float = Field(4.0, ge=0.1, le=60.0)

    def lengths(self) -> Mapping[str, int]:
        """Slips."""
        return {"wheel_slip": len(self.slips)}

    def cases(self) -> Iterator[Case]:
        """Every soil at every spacing [m]."""
        for ground in YIELDING:
            for spacing in self.spacings:
                yield Case("wheel", ground, spacing)

    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Drive once for every slip."""
        sinkage, pull = np.array([self.drive(case.ground, case.detail, slip) for slip in self.slips]).T
        return {"wheel_sinkage": sinkage, "wheel_pull": pull}

    def drive(self, ground: str, spacing: float, slip: float) -> tuple[float, float]:
        """Mean sinkage [m] and pull [N] in the second half of a drive."""
        model = mujoco.MjModel.from_xml_string(MODEL)
        data = mujoco.MjData(model)
        length = 2.0 * AROUND + SPEED * self.seconds
        shape = (round(2.0 * AROUND / spacing) + 1, round(length / spacing) + 1)
        soil = Soil(np.zeros(shape), spacing, ground, (-AROUND, -AROUND)).attach(model, ["wheel"])
        data.qpos[1] = RADIUS
        data.qvel[:] = SPEED, 0.0, SPEED / (RADIUS * (1.0 - slip))
        steps, samples = round(self.seconds / STEP), []
        soil.step(data, steps // 2)
        for _ in range(steps // 2):  # every step: with fewer, a wheel would meet the nodes in the same few ways
            soil.step(data)
            samples.append((RADIUS - data.qpos[1], soil.forces[0, 0]))
        sinkage, pull = np.mean(samples, axis=0)
        return float(sinkage), float(pull)

    def curve(self, results: xr.Dataset, ground: str, spacing: float | None = None) -> tuple[Array, Array]:
        """Sinkage [m] and pull [N] over slip; at the coarsest grid if not said otherwise."""
        row = pick(results, ground=ground, detail=self.spacings[0] if spacing is None else spacing).isel(job=0)
        return row["wheel_sinkage"].values, row["wheel_pull"].values

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The shape of the curve, Project Chrono's numbers, and the grid."""
        grid = f"at {1000 * self.spacings[0]:g} mm"
        slips, found = np.array(self.slips), []
        pulls = {ground: self.curve(results, ground)[1] for ground in YIELDING}
        crossings = {ground: slips[:-1][(pull[:-1] < 0.0) & (pull[1:] >= 0.0)] for ground, pull in pulls.items()}
        between = {ground: slips[1:][np.diff(pull > 0.0)] for ground, pull in pulls.items()}
        found.append(
            Claim(
                "Pull is negative without slip, and crosses zero once as slip grows.",
                "once, above slip 0",
                "; ".join(f"{ground}: {_between(slips, pull)}" for ground, pull in pulls.items()),
                all(len(crossings[g]) == len(between[g]) == 1 and crossings[g][0] >= 0.0 for g in YIELDING),
                f"between which slips, {grid}",
            )
        )
        most = {ground: limit(ground, self.curve(results, ground)[0][-1]) for ground in YIELDING}
        steps = {ground: np.diff(pull) / most[ground] for ground, pull in pulls.items()}
        found.append(
            Claim(
                "Pull grows with slip, all the way.",
                "every step up",
                "; ".join(f"{ground}: {int((step > 0.0).sum())} of {len(step)} up" for ground, step in steps.items()),
                all(bool(np.all(step > 0.0)) for step in steps.values()),
                f"{grid}; greatest fall {max(0.0, *(-float(step.min()) for step in steps.values())):.1%} of the most "
                "that soil can pull",
            )
        )
        ends = {ground: pull[-1] / most[ground] - 1.0 for ground, pull in pulls.items()}
        found.append(
            Claim(
                f"At slip {slips[-1]:g} it is as much as Mohr and Coulomb allow: c A + W tan(phi).",
                "within 5%",
                "; ".join(f"{ground}: {100 * end:+.1f}%" for ground, end in ends.items()),
                below(np.abs(list(ends.values())), 0.05),
                f"{grid}; A is the patch from where the wheel enters to its lowest point",
            )
        )
        return [*found, *self._against_chrono(results), self._grid(results)]

    def _against_chrono(self, results: xr.Dataset) -> list[Claim]:
        """Sinkage and pull beside those of Project Chrono, where the same slips were measured."""
        shared = [key for key in CHRONO if key[1] in self.slips]
        if not shared:
            return []
        sinks, pulls, plain = [], [], []
        for ground, slip in shared:
            ours = [values[self.slips.index(slip)] for values in self.curve(results, ground)]
            sinkage, pull = CHRONO[ground, slip]
            sinks.append(ours[0] / sinkage - 1.0)
            pulls.append((ours[1] - pull) / (LOAD * np.tan(np.radians(PRESETS[ground].friction))))
            plain.append(ours[1] / pull - 1.0)
        where = [f"{ground} {slip:g}" for ground, slip in shared]
        within = int((np.abs(plain) <= 0.15).sum())
        return [
            Claim(
                "A wheel sinks as deep as in Project Chrono.",
                "within 15%",
                _list(where, sinks),
                below(np.abs(sinks), 0.15),
                "by soil and slip. Chrono's rays, cast by Bullet, end up to 1 cm below the wheel, now more, now less: "
                "nodes are pressed too deep, and then carry nothing for a while. With rays after Bullet's source, and "
                "the wheel taken without an envelope, ours came within 5% in a trial. Bulldozing, which was off, "
                "matters little",
            ),
            Claim(
                "It pulls as much as in Project Chrono.",
                "within 15% of W tan(phi)",
                _list(where, pulls),
                below(np.abs(pulls), 0.15),
                f"by soil and slip, as a share of W tan(phi). As a share of Chrono's own pull, which crosses zero: "
                f"{_list(where, plain)}; {within} of {len(plain)} within 15%. "
                "Slip is a vector here, and has to turn around where a wheel brakes first and drives then; Chrono adds "
                "up its length. So did ours in a trial, and came within 10% of W tan(phi) from a slip of 0.1 on, but "
                "not without slip; with rays like Bullet's as well, within 5% everywhere",
            ),
        ]

    def _grid(self, results: xr.Dataset) -> Claim:
        """How much halving the grid changes the sinkage."""
        changes: dict[str, float] = {}
        for ground in YIELDING:
            for coarse, fine in zip(self.spacings[:-1], self.spacings[1:], strict=True):
                one, other = (self.curve(results, ground, each)[0] for each in (coarse, fine))
                changes[f"{ground} {1000 * coarse:g} to {1000 * fine:g} mm"] = float(np.abs(one / other - 1.0).max())
        lost = [
            f"{case.ground} at {1000 * case.detail:g} mm and slip {slip:g}"
            for case, row in rows(results)
            for slip, depth in zip(self.slips, row["wheel_sinkage"].values, strict=True)
            if not depth < RADIUS
        ]
        return Claim(
            "Halving the grid changes the sinkage little, on every soil.",
            "under 10%",
            "; ".join(f"{where}: {change:.2%}" for where, change in changes.items()) or "one grid only",
            bool(changes) and below(list(changes.values()), 0.1),
            f"the greatest change of {len(self.slips)} slips"
            + (f". The wheel falls into the ground on {', '.join(lost)}" if lost else ""),
        )

    def draw(self, panels: Sequence[Axes], results: xr.Dataset) -> None:
        """Pull and sinkage over slip."""
        left, right = panels
        for k, ground in enumerate(YIELDING):
            sinkage, pull = self.curve(results, ground)
            left.plot(self.slips, pull / LOAD, ".-", color=COLOURS[k], label=ground)
            left.axhline(limit(ground, sinkage[-1]) / LOAD, color=COLOURS[k], linestyle=":", linewidth=0.8)
            for case, row in rows(pick(results, ground=ground)):
                first = case.detail == self.spacings[0]
                style = ("-", "--", ":")[self.spacings.index(case.detail) % 3]
                depth = 1000 * row["wheel_sinkage"].values
                right.plot(self.slips, depth, style, color=COLOURS[k], label=ground if first else None)
            known = [(slip, *found) for (soil, slip), found in CHRONO.items() if soil == ground]
            if known:
                slip, depth, force = np.array(known).T
                left.plot(slip, force / LOAD, "x", color=COLOURS[k], markersize=7)
                right.plot(slip, 1000 * depth, "x", color=COLOURS[k], markersize=7)
        left.plot([], [], "x", color=COLOURS[5], label="Project Chrono")
        left.plot([], [], ":", color=COLOURS[5], label="Mohr and Coulomb's limit")
        left.axhline(0.0, color="0.6", linewidth=0.7)
        left.set(title="a wheel's pull", xlabel="slip", ylabel="drawbar pull / load")
        left.legend(frameon=False, fontsize=8, loc="lower right")
        right.plot([], [], "x", color=COLOURS[5], label="Project Chrono")
        right.set(title="a wheel's sinkage", xlabel="slip", ylabel="sinkage [mm]", yscale="log", ylim=(2, 600))
        right.legend(frameon=False, fontsize=8)


def _between(slips: Array, pull: Array) -> str:
    """Between which slips the pull changes its sign."""
    where = np.flatnonzero(np.diff(pull > 0.0))
    return ", ".join(f"{slips[k]:g} and {slips[k + 1]:g}" for k in where) or "never"


def _list(where: Sequence[str], shares: Sequence[float]) -> str:
    return "; ".join(f"{name}: {100 * share:+.0f}%" for name, share in zip(where, shares, strict=True))
