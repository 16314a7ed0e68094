"""Rovers on hard level ground, beside the equations of differential drive."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import Field

from sandlot.physics.soil import Soil
from sandlot.recordings import Quantity
from sandlot.robots.rover import wheel_speeds
from sandlot.studies.base import Claim, Found, pick
from sandlot.studies.plots import COLOURS
from sandlot.studies.terrain.ride import SIDE, SPACING, Ride
from sandlot.studies.terrain.trial import ROVERS, Case, Trial, below
from sandlot.typing import Array

BASE, RADIUS = 0.191, 0.03
"""Of both shipped rovers [m]: from left to right, and of their wheels."""
BETWEEN = 0.19
"""From the front to the back axle of both [m]."""
COMMANDS = ((0.05, 0.0), (0.1, 0.0), (0.2, 0.0), (0.2, 0.05), (0.2, 0.1), (0.2, 0.2), (0.2, 0.4), (0.0, 0.5))
"""Wanted speed [m/s] and rate of turning [rad/s]: straight on, wide arcs, narrower ones, on the spot."""
DRIVES, ARCS, SPOT = slice(0, 7), slice(3, 7), slice(7, 8)
EXPECTED = {
    "axle": 1.0,
    "wheeled": BASE**2 / (BASE**2 + BETWEEN**2),
    "tracked": BASE**2 / (BASE**2 + BETWEEN**2 / 3.0),
}
"""Rate of turning as a share of that of differential drive, if slip is small and friction grows in proportion to it:
the moment of what slips along, over half the base, equals that of what slips across, over half the way between the
axles, or all along the tracks."""

AXLE = f"""
<mujoco>
  <worldbody>
    <body pos="0 0 {RADIUS}">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
      <joint axis="0 0 1"/>
      <geom size="0.02" mass="1.4" contype="0" conaffinity="0"/>
      <body pos="0 {BASE / 2} 0">
        <joint axis="0 1 0" armature="1e6"/><geom name="left" type="cylinder" size="{RADIUS} 0.018" euler="90 0 0"
        mass="0.3"/>
      </body>
      <body pos="0 {-BASE / 2} 0">
        <joint axis="0 1 0" armature="1e6"/><geom name="right" type="cylinder" size="{RADIUS} 0.018" euler="90 0 0"
        mass="0.3"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""
"""What the equations are about: two wheels on one axle, which cannot fall over."""


class Turning(Trial):
    """Speed and turning on hard ground.

    Attributes:
        seconds: How long each command is followed [s], after one second to get going.
    """

    name: ClassVar[str] = "turning"
    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "turning_speed": Quantity("m/s", "mean speed", ("turning_command",), (0,)),
        "turning_rate": Quantity("rad/s", "mean rate of turning", ("turning_command",), (0,)),
    }

    seconds: float = Field(4.0, ge=0.1, le=60.0)

    def lengths(self) -> Mapping[str, int]:
        """Commands."""
        return {"turning_command": len(COMMANDS)}

    def cases(self) -> Iterator[Case]:
        """Two wheels on an axle, and both rovers."""
        for body in EXPECTED:
            yield Case(body, "rigid")

    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Follow one command after the other, from rest."""
        found = [self._axle(*each) if case.body == "axle" else self._rover(case.body, *each) for each in COMMANDS]
        speed, rate = np.array(found).T
        return {"turning_speed": speed, "turning_rate": rate}

    def _rover(self, name: str, linear: float, angular: float) -> tuple[float, float]:
        ride = Ride(name, "rigid")
        ride.wait(0.5)
        ride.go(linear, angular, 1.0)
        track = [(*ride.place, ride.heading)]
        for _ in range(round(10 * self.seconds)):
            ride.wait(0.1)
            track.append((*ride.place, ride.heading))
        return _rates(np.array(track), 0.1)

    def _axle(self, linear: float, angular: float) -> tuple[float, float]:
        model = mujoco.MjModel.from_xml_string(AXLE)
        model.opt.timestep, data, count = 0.001, mujoco.MjData(model), round(SIDE / SPACING)
        soil = Soil(np.zeros((count, count)), SPACING, "rigid", wrap=True).attach(model, ["left", "right"])
        data.qvel[4:] = wheel_speeds(linear, angular, BASE, RADIUS)
        soil.step(data, 1500)
        track = [data.qpos[[0, 1, 3]]]
        for _ in range(round(10 * self.seconds)):
            soil.step(data, 100)
            track.append(data.qpos[[0, 1, 3]])
        return _rates(np.array(track), 0.1)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Speed, turning, and why four wheels and tracks turn less."""
        linear, angular = np.array(COMMANDS).T
        speeds, shares = {}, {}
        for body in EXPECTED:
            row = pick(results, body=body).isel(job=0)
            speeds[body] = row["turning_speed"].values[DRIVES] / linear[DRIVES] - 1.0
            shares[body] = row["turning_rate"].values[3:] / angular[3:]
        arcs = {body: share[:4] for body, share in shares.items()}
        off = {body: float(np.abs(share - 1.0).max()) for body, share in arcs.items()}
        told = {body: float(np.abs(arcs[body] / EXPECTED[body] - 1.0).max()) for body in ROVERS}
        spot = ", ".join(f"{body} {share[-1]:.0%}" for body, share in shares.items())
        wide = "arcs with radii from 0.5 to 4 m at 0.2 m/s"
        return [
            Claim(
                "On hard level ground rovers are as fast as their wheels.",
                "within 3%",
                "; ".join(f"{body}: {100 * float(np.abs(speeds[body]).max()):.1f}%" for body in ROVERS),
                all(below(np.abs(speeds[body]), 0.03) for body in ROVERS),
                f"straight on at 0.05 to 0.2 m/s, and in {wide}",
            ),
            Claim(
                "Two wheels on one axle turn as the equations of differential drive say.",
                "within 3%",
                f"within {off['axle']:.1%}",
                below(off["axle"], 0.03),
                f"{wide}; nothing slips sideways here",
            ),
            Claim(
                "Rovers turn as the equations of differential drive say.",
                "within 3%",
                "; ".join(f"{body}: {arcs[body].min():.0%} to {arcs[body].max():.0%} of it" for body in ROVERS),
                all(below(off[body], 0.03) for body in ROVERS),
                f"{wide}; on the spot {spot}. However wide the arc, what is ahead of or behind the middle slips "
                "sideways as fast as the two sides differ, so slip is never small beside the turning",
            ),
            Claim(
                "They turn less, as the balance of what slips along and across says.",
                "within 10%",
                "; ".join(f"{b}: {arcs[b].mean():.2f}, expected {EXPECTED[b]:.2f}" for b in ROVERS),
                all(below(told[body], 0.1) for body in ROVERS),
                "B²/(B²+L²) for wheels, B²/(B²+L²/3) for tracks, B from left to right and L from front to back, if "
                "friction is in proportion to slip",
            ),
        ]

    def draw(self, panels: Sequence[Axes], results: xr.Dataset) -> None:
        """Rate of turning over the wanted one."""
        (axes,) = panels
        wanted = np.array([angular for _, angular in COMMANDS])
        names = {"axle": "two wheels on an axle", "wheeled": "wheeled rover", "tracked": "tracked rover"}
        ends = np.array([0.0, 0.52])
        for k, (body, label) in enumerate(names.items()):
            rate = pick(results, body=body).isel(job=0)["turning_rate"].values
            axes.plot(ends, EXPECTED[body] * ends, ":", color=COLOURS[k], linewidth=1)
            axes.plot(wanted[ARCS], rate[ARCS], "o", color=COLOURS[k], label=label)
            axes.plot(wanted[SPOT], rate[SPOT], "s", color=COLOURS[k], markerfacecolor="white")
        axes.plot([], [], "s", color=COLOURS[5], markerfacecolor="white", label="on the spot")
        axes.plot([], [], ":", color=COLOURS[5], label="expected")
        axes.set(title="turning on hard ground", xlabel="wanted [rad/s]", ylabel="rate of turning [rad/s]")
        axes.legend(frameon=False, fontsize=8)


def _rates(track: Array, every: float) -> tuple[float, float]:
    """Mean speed [m/s] and rate of turning [rad/s] of x, y and heading over time: (samples, 3)."""
    way = float(np.linalg.norm(np.diff(track[:, :2], axis=0), axis=1).sum())
    turned, seconds = np.unwrap(track[:, 2]), every * (len(track) - 1)
    return way / seconds, float(turned[-1] - turned[0]) / seconds
