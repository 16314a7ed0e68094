"""Soil under small MuJoCo models: plates, wheels and bodies, for the tests."""

import mujoco
import numpy as np
import pytest
from numba import config

from sandlot.physics.attachment import Track
from sandlot.physics.mujoco_bridge import dynamics_arrays, simulation_arrays
from sandlot.physics.soil import Soil
from sandlot.physics.soil.step import exchange, leave_traces, touch

SLOW = bool(config.DISABLE_JIT)
compiled = pytest.mark.skipif(SLOW, reason="only compiled code calls MuJoCo by its address")
YIELDING = ("soft", "mid", "LETE sand")
DT, GRAVITY = 1e-3, 9.81
BOX = (0.15, 0.1, 0.08)
BODIES = {
    "sphere": 'type="sphere" size="0.12"',
    "capsule": 'type="capsule" size="0.1 0.1" euler="90 0 0"',
    "ellipsoid": 'type="ellipsoid" size="0.2 0.15 0.1"',
    "wheel": 'type="cylinder" size="0.15 0.08" euler="90 0 0"',
    "drum": 'type="cylinder" size="0.15 0.08"',
    "box": f'type="box" size="{BOX[0]} {BOX[1]} {BOX[2]}"',
    "mesh": 'type="mesh" mesh="brick"',
}


def make(world, more="", dt=DT, **options):
    """A model and a simulation of bodies given as MJCF."""
    corners = " ".join(f"{x * BOX[0]} {y * BOX[1]} {z * BOX[2]}" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    written = " ".join(f'{name}="{value}"' for name, value in options.items())
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{dt}" {written}/><asset><mesh name="brick" vertex="{corners}"/></asset>
        <worldbody>{world}</worldbody>{more}</mujoco>"""
    )
    return model, mujoco.MjData(model)


def loose_body(geom, place=(0.0, 0.0, 0.2), mass=20.0, turn=(0.0, 0.0, 0.0), **options):
    x, y, z, a, b, c = (*place, *turn)
    return make(
        f"""<body name="it" pos="{x} {y} {z}" euler="{a} {b} {c}"><freejoint/>
        <geom name="it" {geom} mass="{mass}"/></body>""",
        **options,
    )


def plate(turn=0.0, mass=1e9, damping=0.0, gravity="0 0 0"):
    """A plate of 0.4 by 0.2 m on a vertical slide; at 0 it lies on level ground. So heavy, no force moves it."""
    return make(
        f"""<body pos="0 0 0.05"><joint type="slide" axis="0 0 1" damping="{damping}"/>
        <geom type="box" size="0.2 0.1 0.05" mass="{mass}" euler="0 0 {turn}"/></body>""",
        gravity=gravity,
    )


def field(side=1.2, spacing=0.02, kind="soft", **options):
    """Level ground, whose nodes are not aligned with the bodies."""
    count = round(side / spacing) + 1
    options = {"corner": (-0.5 * side - 0.003, -0.5 * side - 0.007), **options}
    return Soil(np.zeros((count, count)), spacing, kind, **options)


def hills(shape=(41, 121), spacing=0.02, high=0.05):
    """Waves that are periodic on the ground, so that it may wrap: (ny, nx) [m]."""
    y, x = (2.0 * np.pi * np.arange(n) / n for n in shape)
    return high * (np.sin(3.0 * x)[None, :] + np.cos(y)[:, None])


def hold(soil, data, z):
    """Force on a plate that is held at a height for one step [N]."""
    data.qpos[0], data.qvel[0] = z, 0.0
    soil.step(data)
    return soil.forces[0, 2]


def hold_by_kernels(soil, data, z):
    """As `hold`, without MuJoCo's integrator, so that it also runs without compilation."""
    model, contacts, simulation = data.model, soil._contacts, simulation_arrays(data)
    data.qpos[0] = z
    mujoco.mj_step1(model, data)
    mujoco.mj_fwdActuation(model, data)
    mujoco.mj_fwdAcceleration(model, data)
    total = touch(soil._ground, contacts, simulation, DT)
    exchange(soil._ground, soil._soils, contacts, simulation, dynamics_arrays(model, data), DT)
    leave_traces(soil._ground, soil._soils, contacts, simulation, total, DT)
    return soil.forces[0, 2]


def wheel(kind, slip, spacing=0.02, seconds=3.0, load=500.0, speed=0.4, heights=None, **options):
    """A wheel of 0.25 m at a given speed and slip: mean sinkage [m] and pull [N] in the second half, and the soil."""
    model, data = make(
        f"""<body><joint type="slide" axis="1 0 0" armature="1e9"/>
        <geom size="0.01" mass="1e-6" contype="0" conaffinity="0"/>
        <body><joint type="slide" axis="0 0 1"/><geom size="0.01" mass="1e-6"/>
        <body><joint type="hinge" axis="0 1 0" armature="1e9"/>
        <geom name="wheel" type="cylinder" size="0.25 0.1" euler="90 0 0" mass="{load / GRAVITY}"/>
        </body></body></body>"""
    )
    heights = np.zeros((int(0.8 / spacing) + 1, int(2.4 / spacing) + 1)) if heights is None else heights
    soil = Soil(heights, spacing, kind, **options).attach(model, ["wheel"])
    data.qpos[:2] = -0.6, 0.25 + float(soil.height_at(-0.6, 0.0))
    data.qvel[:] = speed, 0.0, speed / (0.25 * (1.0 - slip))
    steps, sinkage, pull = round(seconds / DT), [], []
    soil.step(data, steps // 2)
    for _ in range(steps // 2):
        soil.step(data)
        sinkage.append(0.25 - data.qpos[1])
        pull.append(soil.forces[0, 0])
    return np.mean(sinkage), np.mean(pull), soil


def energy(model, data):
    """Potential and kinetic energy at the same time [J]."""
    now = mujoco.MjData(model)
    now.qpos[:], now.qvel[:] = data.qpos, data.qvel
    mujoco.mj_forward(model, now)
    mujoco.mj_energyPos(model, now)
    mujoco.mj_energyVel(model, now)
    return now.energy.copy()


def tracked(place=0.16, dofs="<freejoint/>", inertia=0.01, gain=200.0, more=""):
    """A box on two belts with motors, and more of a world."""
    drums = "".join(
        f"""<body name="{name}" pos="0 {y} 0"><joint name="{name}" axis="0 1 0" armature="{inertia}"/>
        <geom type="sphere" size="0.02" mass="0.1" contype="0" conaffinity="0"/></body>"""
        for name, y in (("left", 0.2), ("right", -0.2))
    )
    motors = "".join(f'<velocity joint="{name}" kv="{gain}"/>' for name in ("left", "right")) if gain else ""
    model, data = make(
        f"""{more}<body name="hull" pos="0 0 {place}">{dofs}
        <geom name="hull" type="box" size="0.25 0.1 0.05" mass="40"/>{drums}</body>""",
        f"<actuator>{motors}</actuator>" if motors else "",
        integrator="implicitfast",
    )
    tracks = [
        Track(
            body=model.body("hull").id, position=np.array([0.0, y, -0.05]), rotation=np.eye(3), half_length=0.2,
            radius=0.1, half_width=0.06, dof=int(model.joint(name).dofadr[0]),
        )
        for name, y in (("left", 0.2), ("right", -0.2))
    ]  # fmt: skip
    return model, data, tracks
