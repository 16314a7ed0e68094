"""A small four-legged robot stands and walks, on rigid and on soft ground.

Run it as it is: it prints how far the robot comes, how deep its feet go and what that takes, and draws ``walking.png``.
"""

import math

import matplotlib.pyplot as plt
import mujoco
import numpy as np

from sandlot.physics.soil import Soil
from sandlot.places.terrains import shade

SPACING = 0.01  # of the nodes of the ground [m]
STAND, WALK, STRIDES = 1.0, 9.0, 1.2  # how long it stands and walks [s], strides per second
SWING, LIFT = 0.22, 0.08  # of the hips [rad], of the legs [m]; with less, it digs itself in
HIPS = {"fl": (0.13, 0.09), "br": (-0.13, -0.09), "fr": (0.13, -0.09), "bl": (-0.13, 0.09)}

LEG = """
<body pos="{x} {y} 0">
  <joint name="{leg} hip" axis="0 1 0" damping="0.05" armature="0.002"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.08" size="0.012" mass="0.08"/>
  <body pos="0 0 -0.08">
    <joint name="{leg} length" type="slide" axis="0 0 1" damping="5" armature="0.05"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.06" size="0.01" mass="0.05"/>
    <body pos="0 0 -0.07">
      <joint name="{leg} ankle" axis="0 1 0" damping="0.02" armature="0.0005"/>
      <geom name="{leg} sole" type="box" size="0.045 0.035 0.01" mass="0.04"/>
    </body>
  </body>
</body>"""
MOTORS = """
<position joint="{leg} hip" kp="40" dampratio="1" forcerange="-6 6"/>
<position joint="{leg} length" kp="4000" dampratio="1" forcerange="-80 80"/>
<position joint="{leg} ankle" kp="8" dampratio="1" forcerange="-2 2"/>"""
ROBOT = f"""
<mujoco>
  <option timestep="0.001" integrator="implicitfast"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="trunk" pos="0 0 0.2">
      <freejoint/>
      <geom name="trunk" type="box" size="0.16 0.08 0.03" mass="2"/>
      {"".join(LEG.format(leg=leg, x=x, y=y) for leg, (x, y) in HIPS.items())}
    </body>
  </worldbody>
  <actuator>{"".join(MOTORS.format(leg=leg) for leg in HIPS)}</actuator>
</mujoco>"""


def walk(kind: str) -> tuple[Soil, np.ndarray, float]:
    """Stand, then trot; gives the ground, where the trunk was (times, 3) [m], and the work of all motors [J]."""
    model = mujoco.MjModel.from_xml_string(ROBOT)
    data = mujoco.MjData(model)
    # These two lines put soil under a model.
    feet = [f"{leg} sole" for leg in HIPS]
    soil = Soil(np.zeros((121, 221)), SPACING, kind, corner=(-0.4, -0.6)).attach(model, [*feet, "trunk"])
    path, work = [], 0.0
    for now in np.arange(0.0, STAND + WALK, 0.01):
        walking = min(max(now - STAND, 0.0), 1.0)
        for k in range(4):
            # Two legs across from each other move together.
            phase = 2.0 * math.pi * STRIDES * max(now - STAND, 0.0) - (math.pi if k > 1 else 0.0)
            hip = walking * SWING * math.cos(phase)
            data.ctrl[3 * k : 3 * k + 3] = hip, walking * LIFT * max(math.sin(phase), 0.0), -hip
        soil.step(data, 10)
        path.append(data.qpos[:3].copy())
        work += 0.01 * float(np.abs(data.actuator_force * data.actuator_velocity).sum())
    return soil, np.array(path), work


def main() -> None:
    """Walk on both, and compare."""
    figure, axes = plt.subplots(3, 1, figsize=(8.0, 7.4), layout="constrained", height_ratios=(3, 3, 2))
    came = {}
    for axis, kind in zip(axes, ("rigid", "soft"), strict=False):
        soil, path, work = walk(kind)
        heights, came[kind] = soil.surface(), path[-1, 0] - path[0, 0]
        light = shade(heights, SPACING)
        axis.imshow(light, cmap="copper", vmin=0.0, vmax=1.0, origin="lower", extent=(-0.4, 1.8, -0.6, 0.6))
        axis.plot(path[:, 0], path[:, 1], color="white", linewidth=1.0)
        axis.set(title=f"{kind} ground, from above, and the path of the trunk", ylabel="y [m]")
        axes[2].plot(np.arange(len(path)) * 0.01, path[:, 0], label=kind)
        print(f"{kind}: {came[kind]:.2f} m in {WALK:g} s, feet {1000.0 * abs(heights.min()):.0f} mm deep, {work:.0f} J")
    axes[1].set(xlabel="x [m]")
    axes[2].set(xlabel="time [s]", ylabel="x [m]")
    axes[2].legend(frameon=False)
    figure.savefig("walking.png", dpi=110)
    assert came["rigid"] > 1.2 * came["soft"] > 0.0, "on soft ground the robot should be slower"


if __name__ == "__main__":
    main()
