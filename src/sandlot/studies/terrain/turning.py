"""Rovers on hard level ground, compared with the equations of differential drive."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.physics.soil import Soil
from sandlot.recordings import Quantity
from sandlot.robots.rover import wheel_speeds
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain.ride import NODES, SPACING, Ride
from sandlot.studies.terrain.shared import ROVERS, at_most
from sandlot.typing import Array

TRACK_WIDTH, RADIUS, WHEELBASE = 0.191, 0.03, 0.19
"""Of both shipped rovers [m]: from left to right wheels, of their wheels, from front to rear axle."""
COMMANDS = ((0.05, 0.0), (0.1, 0.0), (0.2, 0.0), (0.2, 0.05), (0.2, 0.1), (0.2, 0.2), (0.2, 0.4), (0.0, 0.5))
"""Commanded speed [m/s] and turn rate [rad/s]: straight on, wide arcs, narrower ones, on the spot."""
MOVING, ARCS, SPOT = slice(0, 7), slice(3, 7), slice(7, 8)
"""Of the commands: those with a speed, arcs, and on the spot."""
EXPECTED = {
    "axle": 1.0,
    "wheeled": TRACK_WIDTH**2 / (TRACK_WIDTH**2 + WHEELBASE**2),
    "tracked": TRACK_WIDTH**2 / (TRACK_WIDTH**2 + WHEELBASE**2 / 3.0),
}
"""Turn rate as a share of that of differential drive, if slip is small and friction proportional to it. The moment of
longitudinal slip, with half the track width as lever arm, then balances the moment of lateral slip, whose lever arm is
half the wheelbase for wheels, and runs from 0 to half the wheelbase along tracks."""
LABELS = {"axle": "two wheels on an axle", "wheeled": "wheeled rover", "tracked": "tracked rover"}
SAMPLE = 0.1
"""Time between samples of the pose [s]."""

AXLE = f"""
<mujoco>
  <worldbody>
    <body pos="0 0 {RADIUS}">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
      <joint axis="0 0 1"/>
      <geom size="0.02" mass="1.4" contype="0" conaffinity="0"/>
      <body pos="0 {TRACK_WIDTH / 2} 0">
        <joint axis="0 1 0" armature="1e6"/><geom name="left" type="cylinder" size="{RADIUS} 0.018" euler="90 0 0"
        mass="0.3"/>
      </body>
      <body pos="0 {-TRACK_WIDTH / 2} 0">
        <joint axis="0 1 0" armature="1e6"/><geom name="right" type="cylinder" size="{RADIUS} 0.018" euler="90 0 0"
        mass="0.3"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""
"""The vehicle of the equations: two wheels on one axle. It cannot tip over."""


@study("terrain.turning", source="equations of differential drive, and our own")
class Turning(Study):
    """Do rovers on hard level ground turn as the equations of differential drive say?

    Both rovers, and two wheels on one axle, follow commands of speed and turn rate on rigid ground, each from rest.
    Skid-steered rovers slip sideways in every turn; how much less they turn follows from the balance of friction.

    Attributes:
        seconds: Duration of each command [s], after one second of acceleration.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "speed": Quantity("m/s", "mean speed", ("command",), (0,)),
        "turn_rate": Quantity("rad/s", "mean turn rate", ("command",), (0,)),
    }

    seconds: float = Field(4.0, ge=0.1, le=60.0)

    def jobs(self) -> Iterator[Job]:
        """Two wheels on an axle, and both rovers."""
        return self.cross(vehicle=tuple(EXPECTED))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Follow one command after the other, each from rest."""
        vehicle = str(job.parameters["vehicle"])
        rates = [self._axle(*each) if vehicle == "axle" else self._rover(vehicle, *each) for each in COMMANDS]
        speed, turn_rate = np.array(rates).T
        return {"speed": speed, "turn_rate": turn_rate}

    def _rover(self, name: str, linear: float, angular: float) -> tuple[float, float]:
        ride = Ride(name, "rigid")
        ride.wait(0.5)
        ride.go(linear, angular, 1.0)
        track = [(*ride.position, ride.yaw)]
        for _ in range(round(self.seconds / SAMPLE)):
            ride.wait(SAMPLE)
            track.append((*ride.position, ride.yaw))
        return _mean_rates(np.array(track))

    def _axle(self, linear: float, angular: float) -> tuple[float, float]:
        model = mujoco.MjModel.from_xml_string(AXLE)
        model.opt.timestep, data = 0.001, mujoco.MjData(model)
        soil = Soil(np.zeros((NODES, NODES)), SPACING, "rigid", wrap=True).attach(model, ["left", "right"])
        data.qvel[4:] = wheel_speeds(linear, angular, TRACK_WIDTH, RADIUS)
        soil.step(data, 1500)
        track = [data.qpos[[0, 1, 3]]]
        for _ in range(round(self.seconds / SAMPLE)):
            soil.step(data, 100)
            track.append(data.qpos[[0, 1, 3]])
        return _mean_rates(np.array(track))

    def figure(self, results: xr.Dataset) -> Figure:
        """Turn rate over the commanded one; dotted: expected from the balance of friction."""
        figure, (axes,) = canvas()
        commanded = np.array([angular for _, angular in COMMANDS])
        ends = np.array([0.0, 0.52])
        for k, (vehicle, label) in enumerate(LABELS.items()):
            rate = pick(results, vehicle=vehicle).isel(job=0)["turn_rate"].values
            axes.plot(ends, EXPECTED[vehicle] * ends, ":", color=COLOURS[k], linewidth=1)
            axes.plot(commanded[ARCS], rate[ARCS], "o", color=COLOURS[k], label=label)
            axes.plot(commanded[SPOT], rate[SPOT], "s", color=COLOURS[k], markerfacecolor="white")
        axes.plot([], [], "s", color=COLOURS[5], markerfacecolor="white", label="on the spot")
        axes.plot([], [], ":", color=COLOURS[5], label="expected")
        axes.set(xlabel="commanded turn rate [rad/s]", ylabel="turn rate [rad/s]")
        axes.legend(frameon=False, fontsize=8)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Speed, turn rate, and why four wheels and tracks turn less."""
        linear, angular = np.array(COMMANDS).T
        speed_errors, shares = {}, {}
        for vehicle in EXPECTED:
            row = pick(results, vehicle=vehicle).isel(job=0)
            speed_errors[vehicle] = np.abs(row["speed"].values[MOVING] / linear[MOVING] - 1.0)
            shares[vehicle] = row["turn_rate"].values[3:] / angular[3:]
        arcs = {vehicle: share[:4] for vehicle, share in shares.items()}
        ideal_error = {vehicle: float(np.abs(share - 1.0).max()) for vehicle, share in arcs.items()}
        expected_error = {each: float(np.abs(arcs[each] / EXPECTED[each] - 1.0).max()) for each in ROVERS}
        spot = ", ".join(f"{vehicle} {share[-1]:.0%}" for vehicle, share in shares.items())
        radii = "arcs with radii from 0.5 to 4 m at 0.2 m/s"
        return [
            Claim(
                "On hard level ground rovers are as fast as their wheels.",
                "within 3%",
                "; ".join(f"{rover}: {100 * float(speed_errors[rover].max()):.1f}%" for rover in ROVERS),
                all(at_most(speed_errors[rover], 0.03) for rover in ROVERS),
                f"straight on at 0.05 to 0.2 m/s, and in {radii}",
            ),
            Claim(
                "Two wheels on one axle turn as the equations of differential drive say.",
                "within 3%",
                f"within {ideal_error['axle']:.1%}",
                at_most(ideal_error["axle"], 0.03),
                f"{radii}; nothing slips sideways here",
            ),
            Claim(
                "Rovers turn as the equations of differential drive say.",
                "within 3%",
                "; ".join(f"{rover}: {arcs[rover].min():.0%} to {arcs[rover].max():.0%} of it" for rover in ROVERS),
                all(at_most(ideal_error[rover], 0.03) for rover in ROVERS),
                f"{radii}; on the spot {spot}. However wide the arc, contacts ahead of and behind the centre slip "
                "sideways in proportion to the turn rate, so lateral slip is never negligible",
            ),
            Claim(
                "Rovers turn less, as the balance of longitudinal and lateral slip says.",
                "within 10%",
                "; ".join(f"{b}: {arcs[b].mean():.2f}, expected {EXPECTED[b]:.2f}" for b in ROVERS),
                all(at_most(expected_error[rover], 0.1) for rover in ROVERS),
                "B²/(B²+L²) for wheels, B²/(B²+L²/3) for tracks, with track width B and wheelbase L, if friction is "
                "proportional to slip",
            ),
        ]


def _mean_rates(track: Array) -> tuple[float, float]:
    """Mean speed [m/s] and turn rate [rad/s] of samples of x, y and yaw: (samples, 3)."""
    path_length = float(np.linalg.norm(np.diff(track[:, :2], axis=0), axis=1).sum())
    yaw, seconds = np.unwrap(track[:, 2]), SAMPLE * (len(track) - 1)
    return path_length / seconds, float(yaw[-1] - yaw[0]) / seconds
