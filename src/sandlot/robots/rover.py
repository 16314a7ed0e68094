"""Rovers that steer by turning the wheels, or tracks, of their two sides at different speeds.

A robot is a URDF and a few settings; `load_rover` reads them from TOML. `sandlot.robots.rover_model` puts one or
several into a MuJoCo model.
"""

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import AfterValidator, Field, model_validator

from sandlot.errors import SandlotError
from sandlot.robots.urdf import DENSITY, Assembly, read_urdf
from sandlot.settings import Settings, build, distinct, nearest, read_settings
from sandlot.typing import Array

BODIES = Path(__file__).parent / "bodies"
SHIPPED = ("wheeled", "tracked")

Names = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)]


class Rover(Settings):
    """A robot with wheels on two sides. The defaults are the Dagu Rover 5 of the source's section 4.3, on wheels.

    Attributes:
        urdf: A shipped body, ``wheeled`` or ``tracked``, or the path of a file.
        chassis: Name of the link whose frame is the robot's: x forward, y left, z up.
        left: Wheels of that side, each by the name of its link or of its joint. At least one must be powered.
        right: The same of the other side.
        tracks: Whether a belt runs around the wheels of each side; yes for ``tracked`` unless said otherwise.
        radius: Of the powered wheels [m]; measured from their shapes unless given.
        base: The wheel base B, from the middle of the left to that of the right wheels [m]; measured unless given.
        top_speed: Of the motors, at the wheel [rad/s].
        torque: Largest of a motor, at the wheel [N*m]: the Rover 5's stall torque, 10 kg*cm.
        armature: Inertia of a motor as felt at the wheel, through its gears [kg*m^2]: that of the rotor, guessed at
            4e-7, times the square of the ratio, 86.8.
        density: Of links whose URDF does not say what they weigh [kg/m^3].
    """

    urdf: str = Field("wheeled", min_length=1)
    chassis: str = "Body"
    left: Names = ("fl_Wheel", "bl_Wheel")
    right: Names = ("fr_Wheel", "br_Wheel")
    tracks: bool = False
    radius: float | None = Field(None, gt=0.0)
    base: float | None = Field(None, gt=0.0)
    top_speed: float = Field(0.25 / 0.03, gt=0.0)
    torque: float = Field(0.98, gt=0.0)
    armature: float = Field(3e-3, gt=0.0)
    density: float = Field(DENSITY, gt=0.0)

    @model_validator(mode="before")
    @classmethod
    def _tracked_has_tracks(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("urdf") == "tracked":
            return {"tracks": True, **values}
        return values

    def assembly(self) -> Assembly:
        """Its links and joints.

        Raises:
            SandlotError: If its URDF cannot be read.
        """
        return read_urdf(BODIES / f"{self.urdf}.urdf" if self.urdf in SHIPPED else self.urdf, self.density)


def load_rover(path: str | Path) -> Rover:
    """Read a rover from TOML; its URDF is looked for beside that file. ``wheeled`` and ``tracked`` are shipped.

    Raises:
        SandlotError: One line that says what is wrong with the file.
    """
    path = BODIES / f"{path}.toml" if str(path) in SHIPPED else Path(path)
    # A word without a suffix is meant to be a shipped one, rather than a file.
    if not path.suffix and not path.exists():
        raise SandlotError(f"there is no rover {str(path)!r}, and no such file; {nearest(str(path), list(SHIPPED))}")
    rover = build(Rover, read_settings(path))
    if rover.urdf in SHIPPED:
        return rover
    return rover.model_copy(update={"urdf": str(path.parent / rover.urdf)})


def wheel_speeds(
    linear: ArrayLike, angular: ArrayLike, base: float, radius: float, top_speed: float = math.inf
) -> Array:
    """How fast the wheels of the two sides must turn: the source's equations of section 5.1.2.

    Where a side would have to turn faster than the motors can, both are slowed down by the same factor: the rover then
    follows the same curve, more slowly.

    Args:
        linear: (...) wanted speed forward [m/s].
        angular: (...) wanted rate of turning, to the left [rad/s].
        base: From the left to the right wheels [m].
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
