"""Rovers in MuJoCo: a model of one or several, and commands for their motors.

The model has no ground. `sandlot.physics.soil` and `sandlot.physics.particles` apply the forces of the ground to the
geoms and tracks that `RoverParts` lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from sandlot.errors import RobotError, SettingError
from sandlot.geometry.rotations import rotation_matrix
from sandlot.physics.attachment import Track
from sandlot.robots.rover import Rover, wheel_speeds
from sandlot.robots.rover_layout import SIDES, Layout, Side, find_layout
from sandlot.robots.rover_motors import GRAVITY
from sandlot.robots.rover_spec import quaternion, rover_spec


@dataclass(frozen=True)
class DrivenWheel:
    """A powered wheel in a model.

    Attributes:
        joint: Its name in the URDF.
        side: Of the rover.
        body: Its body.
        qpos: Address of its angle [rad].
        dof: Address of its speed [rad/s]; positive drives forward, whatever the sign of its axis in the URDF.
        actuator: Its motor, which takes a speed [rad/s].
    """

    joint: str
    side: Side
    body: int
    qpos: int
    dof: int
    actuator: int


@dataclass(frozen=True, eq=False)
class RoverParts:
    """Addresses of a rover in a model.

    Attributes:
        layout: Its settings, parts and sizes.
        chassis: The body of its chassis, and of all that is fixed to it.
        qpos: Address of its free joint's seven positions (x, y, z, quaternion w, x, y, z).
        dof: Address of its free joint's six speeds (linear along the world's axes, angular about the chassis' own).
        wheels: The powered ones, left then right, from front to back.
        first: The foremost powered wheel on the left and on the right; these have the encoders.
        ground: Geoms that the ground may touch: the chassis, and the wheels unless belts cover them.
        tracks: Left and right; none if it runs on wheels.
        belts: Geoms that let solids touch the tracks between their wheels, in the same order.
        steering: Motors of the joints that steer, which take an angle [rad], in the order of ``layout.steering``.
    """

    layout: Layout
    chassis: int
    qpos: int
    dof: int
    wheels: tuple[DrivenWheel, ...]
    first: tuple[DrivenWheel, DrivenWheel]
    ground: tuple[int, ...]
    tracks: tuple[Track, ...]
    belts: tuple[int, ...]
    steering: tuple[int, ...]

    @property
    def radius(self) -> float:
        """Of its powered wheels [m]."""
        return self.layout.radius

    @property
    def base(self) -> float:
        """Distance of its left from its right wheels [m]."""
        return self.layout.base

    @property
    def top_speed(self) -> float:
        """Of its slowest motor [rad/s]."""
        return self.layout.top_speed


@dataclass(frozen=True, eq=False)
class RoverModel:
    """A MuJoCo model and the rovers in it."""

    model: mujoco.MjModel
    rovers: tuple[RoverParts, ...]


def build_model(rovers: Sequence[Rover], poses: ArrayLike, step: float = 0.001, extra_xml: str = "") -> RoverModel:
    """Put rovers, and perhaps solid things, into a MuJoCo model without ground.

    Rovers collide with each other and with solids, but not with themselves. Motors are speed servos with limited
    torque. Wheels under a belt turn together; see `move_belts` for the belt between them.

    Args:
        rovers: One or several.
        poses: (n, 6) start of each chassis: x, y, z [m], roll, pitch, yaw [rad].
        step: Of the physics [s].
        extra_xml: More MJCF that could stand inside ``<mujoco>``: for a floor,
            ``<worldbody><geom type="plane" size="1 1 1"/></worldbody>``.

    Raises:
        RobotError: If a body has no such chassis or wheels, or MuJoCo refuses the model.
        SettingError: If the poses or the step are impossible.
    """
    starts = np.asarray(poses, np.float64)
    if starts.shape != (len(rovers), 6) or not np.isfinite(starts).all():
        raise SettingError(
            f"poses of shape {starts.shape} for {len(rovers)} rovers; allowed: for each x, y, z, roll, pitch, yaw"
        )
    if not 0.0 < step <= 0.1:
        raise SettingError(f"step={step:g} is not possible; allowed: a number above 0 and at most 0.1")
    layouts = [find_layout(rover) for rover in rovers]
    try:
        spec = mujoco.MjSpec.from_string(f"<mujoco>{extra_xml}</mujoco>")
        spec.option.timestep = step
        spec.option.gravity = [0.0, 0.0, -GRAVITY]
        # Implicit in the velocities, so that the stiff servos stay stable.
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        # With pyramidal cones, a driven wheel explodes at a frictionless wall, and wheels sink deeper.
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        for k, (layout, start) in enumerate(zip(layouts, starts, strict=True)):
            frame = spec.worldbody.add_frame(pos=start[:3], quat=quaternion(rotation_matrix(*start[3:])))
            spec.attach(rover_spec(layout, step), prefix=f"rover{k}/", frame=frame)
        model = spec.compile()
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise RobotError(f"MuJoCo refuses the model: {error}") from None
    model.flg_surfacevel |= any(layout.belts for layout in layouts)
    return RoverModel(model, tuple(_parts(model, f"rover{k}/", layout) for k, layout in enumerate(layouts)))


def _parts(model: mujoco.MjModel, prefix: str, layout: Layout) -> RoverParts:
    """Find a rover in the compiled model."""
    wheels = []
    for wheel in layout.wheels:
        if wheel.joint.powered:
            name = prefix + wheel.joint.name
            joint, motor = model.joint(name), model.actuator(name)
            addresses = int(model.jnt_bodyid[joint.id]), int(joint.qposadr[0]), int(joint.dofadr[0]), motor.id
            wheels.append(DrivenWheel(wheel.joint.name, wheel.side, *addresses))
    all_wheels = {wheel.part for wheel in layout.wheels}
    ground = [
        model.geom(f"{prefix}{part.name} {number}").id
        for k, part in enumerate(layout.parts)
        if not (layout.belts and k in all_wheels)
        for number in range(len(part.collision))
    ]
    tracks = [
        Track(
            model.body(prefix + layout.parts[belt.parent].name).id,
            belt.position,
            belt.rotation,
            belt.half_length,
            belt.driver.radius,
            belt.driver.half_width,
            int(model.joint(prefix + belt.driver.joint.name).dofadr[0]),
        )
        for belt in layout.belts
    ]
    left, right = (next(wheel for wheel in wheels if wheel.side == side) for side in SIDES)
    free = model.joint(f"{prefix}free")
    return RoverParts(
        layout=layout,
        chassis=model.body(prefix + layout.parts[0].name).id,
        qpos=int(free.qposadr[0]),
        dof=int(free.dofadr[0]),
        wheels=tuple(wheels),
        first=(left, right),
        ground=tuple(ground),
        tracks=tuple(tracks),
        belts=tuple(model.geom(f"{prefix}{belt.side} belt").id for belt in layout.belts),
        steering=tuple(
            model.actuator(prefix + name).id for name in (layout.steering.joints if layout.steering else ())
        ),
    )


def drive(rover_model: RoverModel, data: mujoco.MjData, commands: ArrayLike) -> None:
    """Command all rovers, by writing their motors' ``data.ctrl``.

    Args:
        rover_model: The rovers.
        data: Of their model.
        commands: (n, 2) forward speed [m/s] and rate of turning to the left [rad/s]; `wheel_speeds` or
            `Steering.command` limit them to what motors and steering can do.

    Raises:
        SettingError: If there are not two finite numbers for each rover.
    """
    wanted = np.asarray(commands, np.float64)
    if wanted.shape != (len(rover_model.rovers), 2) or not np.isfinite(wanted).all():
        raise SettingError(
            f"commands of shape {wanted.shape} for {len(rover_model.rovers)} rovers, or not finite; "
            "allowed: for each a linear and an angular speed"
        )
    for parts, (speed, turn_rate) in zip(rover_model.rovers, wanted, strict=True):
        if steering := parts.layout.steering:
            angles, wanted_speeds = steering.command(speed, turn_rate, parts.radius, parts.top_speed)
            powered = [k for k, wheel in enumerate(parts.layout.wheels) if wheel.motor]
            data.ctrl[list(parts.steering)] = angles
            data.ctrl[[wheel.actuator for wheel in parts.wheels]] = wanted_speeds[powered]
            continue
        speeds = wheel_speeds(speed, turn_rate, parts.base, parts.radius, parts.top_speed)
        for wheel in parts.wheels:
            data.ctrl[wheel.actuator] = speeds[SIDES.index(wheel.side)]


def move_belts(rover_model: RoverModel, data: mujoco.MjData) -> None:
    """Give the belts the speed of their wheels, for solids that touch them between the wheels; call before every step.

    This writes ``model.geom_surfacevel``, so a model with tracks serves one ``data`` at a time. The belt drags such a
    solid along but, unlike a wheel, feels no reaction: MuJoCo has none for a surface velocity.
    """
    for parts in rover_model.rovers:
        for track, geom in zip(parts.tracks, parts.belts, strict=True):
            # A rotation about the belt's middle: it has the belt's speed at the top and the bottom, and MuJoCo ignores
            # the component that is not tangential.
            rover_model.model.geom_surfacevel[geom, 4] = data.qvel[track.dof]
