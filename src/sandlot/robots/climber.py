"""A robot that changes its shape to climb: a body with four tracks on two axles that turn.

The names and signs are those of Vincent 2008. Pitch is positive with the nose down. An axle's angle is 0 with its
tracks stretched away from the body; it is positive with the front tips up, and with the rear tips *down*: both axles
turn the same way (figure 7 and equation 31; annex A). Annex A counts the pitch the other way, positive with the nose
up, unlike equations 23 to 34; here it is always the latter.
"""

import math
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from sandlot.errors import SettingError, quote
from sandlot.settings import Settings, build, nearest, read_settings
from sandlot.typing import Array

BODIES = Path(__file__).parent / "bodies"
SHIPPED = ("climber",)
NOMINAL_SPEED = 2.0 / 3.6
"""Of the source's tests [m/s]."""
AXLE_LIMIT = math.pi
"""Largest angle that an axle is commanded to, either way [rad]."""


class Body(Settings):
    """The body: a box with a round front and back.

    Attributes:
        length: [m]
        height: [m]
        width: [m]
        mass: [kg]
        friction: Coefficient of its surface on the ground.
    """

    length: float = Field(gt=0.0, le=10.0)
    height: float = Field(gt=0.0, le=10.0)
    width: float = Field(gt=0.0, le=10.0)
    mass: float = Field(gt=0.0, le=1e4)
    friction: float = Field(ge=0.0, le=10.0)

    @model_validator(mode="after")
    def _longer_than_high(self) -> Self:
        if self.length < self.height:
            raise ValueError("a body's length must be at least its height, as its front and back are round")
        return self


class Track(Settings):
    """One track: a belt around a big wheel at the axle and a small one.

    Attributes:
        wheel: Radius R of the big wheel [m].
        tip: Radius u of the small wheel [m].
        reach: Distance K from the one to the other [m].
        width: [m]
        mass: [kg]
        friction: Coefficient of the belt on the ground.
    """

    wheel: float = Field(gt=0.0, le=10.0)
    tip: float = Field(gt=0.0, le=10.0)
    reach: float = Field(gt=0.0, le=10.0)
    width: float = Field(gt=0.0, le=10.0)
    mass: float = Field(gt=0.0, le=1e4)
    friction: float = Field(ge=0.0, le=10.0)

    @model_validator(mode="after")
    def _belt_has_straight_parts(self) -> Self:
        if self.reach <= abs(self.wheel - self.tip):
            raise ValueError("a track's reach must be more than the difference of its wheels' radii")
        return self

    @property
    def taper(self) -> float:
        """Angle beta between the centre line and the straight part of the belt [rad].

        It is that of a tangent to both wheels. Equation 29 has the arc tangent in place of the arc sine.
        """
        return math.asin((self.wheel - self.tip) / self.reach)


class Axles(Settings):
    """The two axles, each a position servo that turns a pair of tracks.

    A servo wants a rate of gain times error, at most its speed. Its torque is damping times the error of the rate.

    Attributes:
        span: Distance G between the axles [m].
        height: Height B_V of the axles above the middle of the body [m].
        front_offset: From the middle plane to the middle of a front track [m].
        back_offset: From the middle plane to the middle of a rear track [m].
        speed: Largest rate [rad/s].
        torque: Largest torque on a pair of tracks [N*m].
        gain: Wanted rate over error of the angle [1/s].
        damping: Torque over error of the rate [N*m*s/rad].
        inertia: Of the motor, reflected to the axle [kg*m^2].
    """

    span: float = Field(gt=0.0, le=10.0)
    height: float = Field(ge=-10.0, le=10.0)
    front_offset: float = Field(gt=0.0, le=10.0)
    back_offset: float = Field(gt=0.0, le=10.0)
    speed: float = Field(gt=0.0, le=100.0)
    torque: float = Field(gt=0.0, le=1e6)
    gain: float = Field(gt=0.0, le=100.0)
    damping: float = Field(gt=0.0, le=1e6)
    inertia: float = Field(ge=0.0, le=1e4)


class Belts(Settings):
    """The motor of each belt: its thrust is damping times the error of the speed, within its torque-speed line.

    Attributes:
        torque: At standstill, at the big wheel [N*m].
        speed: Without load [m/s].
        damping: Thrust over error of the speed [N*s/m].
        inertia: Of belt, gears and motor, as a mass that moves with the belt [kg].
    """

    torque: float = Field(gt=0.0, le=1e6)
    speed: float = Field(gt=0.0, le=100.0)
    damping: float = Field(gt=0.0, le=1e6)
    inertia: float = Field(gt=0.0, le=1e4)


class Laser(Settings):
    """Where the laser is.

    Attributes:
        ahead: Distance T_H before the middle of the body [m].
        above: Distance T_V above it [m].
    """

    ahead: float = Field(ge=-10.0, le=10.0)
    above: float = Field(ge=-10.0, le=10.0)


class Climber(Settings):
    """A robot with four tracks on two axles.

    Attributes:
        body: The body.
        track: Each of the four tracks.
        axles: The axles and their servos.
        belts: The belts and their motors.
        laser: Where the laser is.
    """

    body: Body
    track: Track
    axles: Axles
    belts: Belts
    laser: Laser

    @property
    def mass(self) -> float:
        """Of the whole robot [kg]."""
        return self.body.mass + 4.0 * self.track.mass

    @property
    def reach(self) -> float:
        """Distance L from the middle of the body to the end of a stretched track [m]."""
        return 0.5 * self.axles.span + self.track.reach + self.track.tip

    @property
    def thrust(self) -> float:
        """Largest thrust of one belt [N]."""
        return self.belts.torque / self.track.wheel

    @property
    def body_inertia(self) -> Array:
        """Of the body about its middle: (3,) about x, y, z [kg*m^2]."""
        return _box_inertia(self.body.mass, self.body.length, self.body.width, self.body.height)

    @property
    def track_inertia(self) -> Array:
        """Of one track about its middle, halfway between the wheels: (3,) about x, y, z [kg*m^2]."""
        track = self.track
        return _box_inertia(track.mass, track.reach + track.wheel + track.tip, track.width, track.wheel + track.tip)


def _box_inertia(mass: float, length: float, width: float, height: float) -> Array:
    squares = np.array([width**2 + height**2, length**2 + height**2, length**2 + width**2])
    return mass * squares / 12.0


def load_climber(path: str | Path = "climber") -> Climber:
    """Read a robot from TOML; ``climber`` is shipped.

    Raises:
        SettingError: If there is no such robot or file, or a setting is missing or impossible.
    """
    path = BODIES / f"{path}.toml" if str(path) in SHIPPED else Path(path)
    if not path.suffix and not path.exists():
        known = nearest(str(path), list(SHIPPED))
        raise SettingError(f"there is no climbing robot {quote(path)!r}, and no such file; {known}")
    return build(Climber, read_settings(path))


def mass_centre(climber: Climber, pitch: Array, axles: Array) -> Array:
    """Where the mass centre of the robot is, from the middle of the body, in its horizontal frame: annex A.

    Args:
        climber: The robot.
        pitch: (...) positive with the nose down [rad].
        axles: (..., 2) angles of the front and the rear axle [rad].

    Returns:
        (..., 2) forward and up [m].
    """
    front, back = (axles[..., k] - np.asarray(pitch) for k in (0, 1))
    share = 2.0 * climber.track.mass / climber.mass
    arm, up = 0.5 * share * climber.track.reach, 2.0 * share * climber.axles.height
    forward = arm * (np.cos(front) - np.cos(back)) + up * np.sin(pitch)
    return np.stack([forward, arm * (np.sin(front) - np.sin(back)) + up * np.cos(pitch)], axis=-1)
