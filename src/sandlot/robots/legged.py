"""Robots with legs, for ground under them: MuJoCo models written from published masses and dimensions.

Their joints are springs with dampers about the pose in which they stand. So a robot that is put down has only the
energy of its fall, and whatever it gains on the way is an error of the ground.
"""

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from sandlot.typing import Array

STEP = 0.002
"""Time step of these models [s], that of most models that others publish."""
COLOUR = [0.85, 0.87, 0.9, 1.0]
"""Of its parts: red, green, blue, opacity."""
MESH_POINTS = 300
"""Of a mesh that rounds off a box."""


@dataclass(frozen=True)
class Legged:
    """A robot with legs.

    Attributes:
        name: How tables call it.
        mass: All of it [kg].
        trunk: Length, width and height of its trunk [m].
        hips: (x, y) of the hip joints in the trunk's frame [m].
        thigh: Length from hip to knee [m].
        shank: Length from knee to foot [m].
        bend: Angle of the thigh to the vertical when it stands; the knee bends so that the foot is below the hip [rad].
            Knees are behind the hips if it is positive, and before them, as a human's, if it is negative.
        foot: Radius of a foot, a sphere [m]; or length, width and height of a flat one.
        stiffness: Of each joint [N*m/rad].
        meshes: Whether its parts collide as meshes, as those of most published models do.
    """

    name: str
    mass: float
    trunk: tuple[float, float, float]
    hips: tuple[tuple[float, float], ...]
    thigh: float
    shank: float
    bend: float
    foot: tuple[float, ...]
    stiffness: float
    meshes: bool = False

    @property
    def flat(self) -> bool:
        """Whether its feet are flat."""
        return len(self.foot) == 3


def _corners(x: float, y: float) -> tuple[tuple[float, float], ...]:
    return ((x, y), (x, -y), (-x, y), (-x, -y))


ROBOTS = {
    each.name: each
    for each in (
        Legged(
            "hexapod",
            2.0,
            (0.24, 0.12, 0.05),
            (*_corners(0.1, 0.1), (0.0, 0.12), (0.0, -0.12)),
            0.08,
            0.12,
            0.7,
            (0.01,),
            20.0,
        ),
        Legged("small quadruped", 12.0, (0.38, 0.1, 0.11), _corners(0.19, 0.13), 0.21, 0.21, 0.8, (0.02,), 150.0),
        Legged("large quadruped", 50.0, (0.6, 0.28, 0.24), _corners(0.3, 0.24), 0.29, 0.33, 0.6, (0.03,), 1500.0),
        Legged(
            "humanoid",
            35.0,
            (0.2, 0.26, 0.6),
            ((0.0, 0.12), (0.0, -0.12)),
            0.3,
            0.3,
            -0.25,
            (0.2, 0.08, 0.03),
            3000.0,
            meshes=True,
        ),
    )
}
"""Of the size of a hobbyist's hexapod, a Unitree Go1, an ANYbotics ANYmal C and a Unitree G1: masses, trunks, legs and
feet are rounded from published ones. Stiffnesses are chosen so that they sag by a few degrees."""


def rounded_box(size: tuple[float, float, float]) -> Array:
    """Points of a box with rounded edges [m]: (MESH_POINTS, 3)."""
    k = np.arange(MESH_POINTS) + 0.5
    height, turn = 1.0 - 2.0 * k / MESH_POINTS, math.pi * (1.0 + math.sqrt(5.0)) * k
    away = np.sqrt(1.0 - height**2)
    ball = np.stack([away * np.cos(turn), away * np.sin(turn), height], axis=1)
    # A superellipsoid.
    return 0.5 * np.sign(ball) * np.abs(ball) ** 0.4 * np.array(size)


class _Builder:
    """Adds the parts of a robot to a MuJoCo specification."""

    def __init__(self, robot: Legged) -> None:
        self.robot, self.spec = robot, mujoco.MjSpec()
        self.spec.option.timestep, self.spec.option.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY

    def part(self, body: mujoco.MjsBody, name: str, size: tuple[float, float, float], at: float, mass: float) -> None:
        """A box with its centre at a height, or a mesh of its size."""
        if self.robot.meshes:
            self.spec.add_mesh(name=name, uservert=rounded_box(size).ravel())
            geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
        else:
            geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * each for each in size])
        geom.name, geom.pos, geom.mass, geom.rgba = name, [0.0, 0.0, at], mass, COLOUR

    def joint(self, body: mujoco.MjsBody, axis: list[float]) -> None:
        """A hinge with a spring and a damper."""
        stiffness = self.robot.stiffness
        body.add_joint(axis=axis, stiffness=stiffness, damping=0.03 * stiffness, armature=1e-5 * stiffness)

    def leg(self, trunk: mujoco.MjsBody, number: int, place: tuple[float, float]) -> None:
        """A hip that turns about x and y, a knee, and a foot, with an ankle if it is flat."""
        robot = self.robot
        share, thick = 0.5 * robot.mass / len(robot.hips), 0.15 * robot.thigh
        knee = math.asin(robot.thigh / robot.shank * math.sin(robot.bend))
        thigh = trunk.add_body(pos=[*place, -0.25 * robot.trunk[2]], euler=[0.0, math.degrees(robot.bend), 0.0])
        self.joint(thigh, [1.0, 0.0, 0.0])
        self.joint(thigh, [0.0, 1.0, 0.0])
        self.part(thigh, f"thigh {number}", (thick, thick, 0.9 * robot.thigh), -0.5 * robot.thigh, 0.6 * share)
        back = -math.degrees(robot.bend + knee)
        shank = thigh.add_body(pos=[0.0, 0.0, -robot.thigh], euler=[0.0, back, 0.0])
        self.joint(shank, [0.0, 1.0, 0.0])
        self.part(
            shank, f"shank {number}", (0.8 * thick, 0.8 * thick, 0.8 * robot.shank), -0.45 * robot.shank, 0.3 * share
        )
        foot = shank.add_body(pos=[0.0, 0.0, -robot.shank], euler=[0.0, math.degrees(knee), 0.0])
        if robot.flat:
            self.joint(foot, [0.0, 1.0, 0.0])
            self.joint(foot, [1.0, 0.0, 0.0])
            half = [0.5 * each for each in robot.foot]
            foot.add_geom(
                name=f"foot {number}", type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=[0.03, 0.0, 0.0], mass=0.1 * share
            )
        else:
            foot.add_geom(
                name=f"foot {number}",
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[robot.foot[0], 0.0, 0.0],
                mass=0.1 * share,
            )


def standing_height(robot: Legged) -> float:
    """Height of the trunk's centre when the feet just touch the ground [m]."""
    knee = math.asin(robot.thigh / robot.shank * math.sin(robot.bend))
    leg = robot.thigh * math.cos(robot.bend) + robot.shank * math.cos(knee)
    return 0.25 * robot.trunk[2] + leg + (0.5 * robot.foot[2] if robot.flat else robot.foot[0])


def legged_spec(robot: Legged, above: float = 0.0, floor: bool = False) -> mujoco.MjSpec:
    """A robot, its feet at a height above the ground.

    Args:
        robot: Its dimensions.
        above: Of its feet [m].
        floor: Whether there is a plane, named "floor".
    """
    builder = _Builder(robot)
    world = builder.spec.worldbody
    if floor:
        world.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
    trunk = world.add_body(name="trunk", pos=[0.0, 0.0, standing_height(robot) + above])
    trunk.add_freejoint()
    builder.part(trunk, "trunk", robot.trunk, 0.0, 0.5 * robot.mass)
    for number, place in enumerate(robot.hips):
        builder.leg(trunk, number, place)
    return builder.spec
