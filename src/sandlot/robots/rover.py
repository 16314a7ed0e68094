"""Rovers on wheels or tracks: their settings, and the equations of differential drive.

A robot is a URDF and a few settings; `load_rover` reads them from TOML. `sandlot.robots.rover_model` puts one or
several into a MuJoCo model.
"""

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import AfterValidator, Field, model_validator

from sandlot.errors import SettingError, quote
from sandlot.robots.urdf import DENSITY, Assembly, read_urdf
from sandlot.settings import Named, Settings, build, distinct, nearest, read_settings
from sandlot.typing import Array

BODIES = Path(__file__).parent / "bodies"
SHIPPED = ("wheeled", "tracked")

Names = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)]


class Rover(Settings):
    """A robot with wheels on two sides. The defaults are the Dagu Rover 5 of the source's section 4.3, on wheels.

    Attributes:
        urdf: A shipped body, ``wheeled`` or ``tracked``, or the path of a file.
        chassis: Name of the link whose frame is the robot's: x forward, y left, z up.
        left: Wheels on the left, each by the name of its link or of its joint. At least one must be powered.
        right: Wheels on the right.
        tracks: Whether a belt runs around the wheels of each side; yes for ``tracked`` unless set.
        radius: Of the powered wheels [m]; measured from their shapes unless given.
        base: Distance B of the left from the right wheels, centre to centre [m]; measured unless given.
        top_speed: Of the motors, at the wheel [rad/s]; that of the ``<limit>`` of a continuous joint unless given, or
            else the Rover 5's.
        torque: Maximum of a motor, at the wheel [N*m]; the effort of the joint's ``<limit>`` unless given, or else
            enough for all motors together to push the robot with its own weight.
        armature: Inertia of a motor reflected to the wheel through its gears [kg*m^2]; in proportion to torque over
            top speed unless given, as for the Rover 5.
        freeze: Joints that are held at zero, by name, as if they were fixed.
        free: Joints that turn freely, by name, as those of casters; others without a motor are warned of.
        density: Of links without ``<inertial>`` in the URDF [kg/m^3].
    """

    urdf: str = Field("wheeled", min_length=1)
    chassis: str = "Body"
    left: Names = ("fl_Wheel", "bl_Wheel")
    right: Names = ("fr_Wheel", "br_Wheel")
    tracks: bool = False
    radius: float | None = Field(None, gt=0.0)
    base: float | None = Field(None, gt=0.0)
    top_speed: float | None = Field(None, gt=0.0)
    torque: float | None = Field(None, gt=0.0)
    armature: float | None = Field(None, gt=0.0)
    freeze: Annotated[tuple[str, ...], AfterValidator(distinct)] = ()
    free: Annotated[tuple[str, ...], AfterValidator(distinct)] = ()
    density: float = Field(DENSITY, gt=0.0)

    @model_validator(mode="before")
    @classmethod
    def _tracked_has_tracks(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("urdf") == "tracked":
            return {"tracks": True, **values}
        return values

    def assembly(self) -> Assembly:
        """Read its links and joints.

        Raises:
            RobotError: If its URDF cannot be read.
        """
        path = BODIES / f"{self.urdf}.urdf" if self.urdf in SHIPPED else self.urdf
        return read_urdf(path, self.density, self.freeze)


RoverName = Annotated[str, Named("rover", SHIPPED)]
"""A shipped rover, or the path of a TOML file."""


def load_rover(path: str | Path) -> Rover:
    """Read a rover from TOML; the path of its URDF is relative to that file. ``wheeled`` and ``tracked`` are shipped.

    Raises:
        SettingError: If there is no such rover or file, or a setting is impossible.
    """
    path = BODIES / f"{path}.toml" if str(path) in SHIPPED else Path(path)
    # A name without a suffix is a misspelt shipped rover rather than a file.
    if not path.suffix and not path.exists():
        raise SettingError(f"there is no rover {quote(path)!r}, and no such file; {nearest(str(path), list(SHIPPED))}")
    rover = build(Rover, read_settings(path))
    if rover.urdf in SHIPPED:
        return rover
    return rover.model_copy(update={"urdf": str(path.parent / rover.urdf)})


def wheel_speeds(
    linear: ArrayLike, angular: ArrayLike, base: float, radius: float, top_speed: float = math.inf
) -> Array:
    """Wheel speeds of the two sides for a commanded motion: the equations of the source's section 5.1.2.

    If a side would have to turn faster than its motors can, both are slowed down by the same factor, so that the rover
    follows the same curve, more slowly.

    Args:
        linear: (...) commanded forward speed [m/s].
        angular: (...) commanded rate of turning to the left [rad/s].
        base: Distance of the left from the right wheels [m].
        radius: Of the wheels [m].
        top_speed: Of the motors [rad/s].

    Returns:
        (..., 2) left and right [rad/s].
    """
    forward, turning = np.broadcast_arrays(np.asarray(linear, np.float64), np.asarray(angular, np.float64))
    half = 0.5 * base * turning
    speeds = np.stack([forward - half, forward + half], axis=-1) / radius
    fastest = np.abs(speeds).max(axis=-1, keepdims=True)
    return speeds * np.minimum(1.0, top_speed / np.maximum(fastest, 1e-12))
