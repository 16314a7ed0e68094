"""A batch of tracked rovers that steer by skidding, as the rover of the indoor source.

Each track is commanded a speed. Its motor is switched by an H-bridge without a brake: a track that is to go slower
coasts. The body moves less than the tracks do: both slip, one more than the other, and in a turn they scrub sideways.
How much they slip changes as the rover drives on, so that no fixed factor corrects it. `sandlot.sensing.track_encoders`
reads the tracks, and `sandlot.sensing.spinning_lidar` measures from the poses of the trace that a drive returns.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sandlot.geometry.planar import wrap_compiled
from sandlot.geometry.walls import Walls
from sandlot.kernels import kernel
from sandlot.kernels.randomness import normal
from sandlot.physics.walls import slide
from sandlot.robots.driver import tracks
from sandlot.settings import Settings
from sandlot.typing import Array, BoolArray

TRACKED = np.dtype(
    [
        ("x", np.float64),  # [m]
        ("y", np.float64),
        ("yaw", np.float64),  # [rad]
        ("left", np.float64),  # travel of the tracks, forward [m]
        ("right", np.float64),
        ("speed_left", np.float64),  # of the tracks [m/s]
        ("speed_right", np.float64),
        ("slip", np.float64),  # deviations from the mean, in standard deviations: slip of both tracks,
        ("imbalance", np.float64),  # slip of the right track minus that of the left one,
        ("pivot", np.float64),  # and the point about which the body turns
        ("stream", np.uint64),  # of random numbers
    ]
)
"""The true state of a rover. A batch is a record array (n,)."""
MAX_STEP = 0.02
"""Longest time step [s]."""
MAX_SLIP = 0.9
"""Largest share of a track's motion that is lost or gained."""
X, Y, YAW, LEFT, RIGHT = range(5)
"""Columns of a trace."""


class Grip(NamedTuple):
    """How tracks hold on a kind of floor.

    Attributes:
        slip: Mean share of the tracks' motion that is lost.
        slip_deviation: Standard deviation of that share.
        imbalance: Standard deviation of the difference between the shares of the right and the left track.
        scrub: The body turns as if the tracks were so many times further apart.
        pivot: Standard deviation of the distance, along the body, from its centre to where it turns about [m].
        memory: Travel over which slip stays similar [m].
        pivot_memory: Travel over which that point stays about the same [m].
    """

    slip: float
    slip_deviation: float
    imbalance: float
    scrub: float
    pivot: float
    memory: float
    pivot_memory: float


GRIPS = {
    "wood": Grip(0.08, 0.07, 0.019, 1.6, 0.04, 2.0, 0.5),
    "tiles": Grip(0.12, 0.1, 0.03, 1.4, 0.05, 2.0, 0.5),
    "carpet": Grip(0.05, 0.04, 0.015, 1.9, 0.03, 2.0, 0.5),
}


class TrackedRover(Settings):
    """A rover on two tracks; for walls it is a disc.

    The slip on ``wood`` was chosen so that half of all drives of 5 m there and back end more than 55 cm and 10 degrees
    off, which is what the source reports of one such drive, and half of all series of ten half turns more than 12 cm.
    Its size, its speed and the other floors were chosen here.

    Attributes:
        kind: ``tracked``.
        radius: Of the disc around the body [m].
        track_width: Distance between the middles of the tracks [m].
        top_speed: Of a track, forward and backward [m/s].
        acceleration: Of a powered track [m/s^2].
        coasting: Deceleration of a track without power [m/s^2].
        coasting_deviation: Standard deviation of that deceleration, relative to it, from one command to the next.
        floor: Kind of floor: ``wood``, ``tiles`` or ``carpet``.
        slip: Multiplies all slip of that floor, except its scrub; 0 for none.
        assumed_scrub: The scrub that odometry assumes.
    """

    kind: Literal["tracked"] = "tracked"
    radius: float = Field(0.17, ge=0.01, le=10.0)
    track_width: float = Field(0.2, gt=0.0, le=10.0)
    top_speed: float = Field(0.3, gt=0.0, le=10.0)
    acceleration: float = Field(1.5, gt=0.0)
    coasting: float = Field(1.0, gt=0.0)
    coasting_deviation: float = Field(0.15, ge=0.0, le=1.0)
    floor: Literal["wood", "tiles", "carpet"] = "wood"
    slip: float = Field(1.0, ge=0.0, le=5.0)
    assumed_scrub: float = Field(1.6, gt=0.0, le=10.0)

    @property
    def turning_width(self) -> float:
        """Difference between the travels of the tracks by which odometry assumes that the rover turns 1 rad [m]."""
        return self.track_width * self.assumed_scrub

    @property
    def top_turn(self) -> float:
        """Largest turn rate by odometry [rad/s]."""
        return 2.0 * self.top_speed / self.turning_width

    @property
    def grip(self) -> Grip:
        """How the tracks hold on its floor, with its share of slip."""
        grip = GRIPS[self.floor]
        return Grip(
            min(self.slip * grip.slip, MAX_SLIP),
            self.slip * grip.slip_deviation,
            self.slip * grip.imbalance,
            grip.scrub,
            self.slip * grip.pivot,
            grip.memory,
            grip.pivot_memory,
        )

    def motion(self, step: float) -> "Motion":
        """What `drive_tracks` needs to know of the rover, for time steps of this length [s]."""
        return Motion(step, self.acceleration, self.coasting, self.coasting_deviation, self.track_width, self.radius)

    def tracks(self, commands: Array) -> Array:
        """Speeds (n, 2) of the left and the right track for a speed [m/s] and a turn rate [rad/s] (n, 2)."""
        return np.stack(tracks(commands[:, 0], commands[:, 1], self.turning_width), axis=-1)

    def start(self, poses: Array, streams: NDArray[np.uint64]) -> Any:
        """State of rovers at rest: (n,) of `TRACKED`.

        Args:
            poses: (n, 3) [m, m, rad]
            streams: (n,) start of the random numbers of each.
        """
        state = np.zeros(len(poses), TRACKED).view(np.recarray)
        state.x, state.y, state.yaw = poses.T
        state.stream = streams
        begin(state)
        return state

    def drive(
        self, state: Any, speeds: Array, walls: Walls, interval: float, steps: int | None = None
    ) -> tuple[Array, BoolArray]:
        """Drive rovers for ``interval``.

        Args:
            state: (n,) of `TRACKED`, changed in place.
            speeds: (n, 2) of the left and the right track [m/s], clipped to what they can do; 0 switches a motor off.
            walls: Around them.
            interval: How long [s].
            steps: Number of equal time steps; `substeps` if not given.

        Returns:
            (n, steps + 1, 5) trace in equal time steps: x, y [m], yaw [rad], travel of the left and the right track
            [m]; and (n,) whether each has touched a wall.
        """
        steps = substeps(self, interval) if steps is None else steps
        motion = self.motion(interval / steps)
        trace, bumped = np.empty((len(state), steps + 1, 5)), np.zeros(len(state), np.bool_)
        limited = np.clip(np.asarray(speeds, np.float64), -self.top_speed, self.top_speed)
        drive_tracks(state, limited, motion, self.grip, walls, trace, bumped)
        return trace, bumped


def substeps(rover: TrackedRover, interval: float) -> int:
    """Number of time steps of an interval [s], so that each is short and moves the body less than an eighth of it."""
    return max(math.ceil(interval / MAX_STEP), math.ceil(8.0 * interval * rover.top_speed / rover.radius), 1)


class Motion(NamedTuple):
    """Time step [s]; accelerations [m/s^2] and the deviation of coasting; track width and radius of the body [m]."""

    step: float
    power: float
    coasting: float
    coasting_deviation: float
    width: float
    radius: float


@kernel(allocates=False)
def begin(state: Any) -> None:
    """Draw the first slip of each rover."""
    for k in range(state.shape[0]):
        rover = state[k]
        rover.slip = normal(rover)
        rover.imbalance = normal(rover)
        rover.pivot = normal(rover)


@kernel(error_model="numpy", allocates=False)
def change_speed(speed: float, wanted: float, motion: Motion, brake: float) -> float:
    """Speed of a track after a time step [m/s]; only speeding up needs power, and reversing is speeding up."""
    powered = wanted != 0.0 and (speed * wanted <= 0.0 or abs(wanted) > abs(speed))
    change = motion.step * (motion.power if powered else brake)
    return speed + min(max(wanted - speed, -change), change)


@kernel(error_model="numpy", nogil=True, allocates=False)
def drive_tracks(
    state: Any, speeds: Array, motion: Motion, grip: Grip, walls: Walls, trace: Array, bumped: BoolArray
) -> None:
    """Compute the steps of `TrackedRover.drive`.

    Args:
        state: (n,) of `TRACKED`, changed in place.
        speeds: (n, 2) of the left and the right track [m/s], within what they can do.
        motion: Of the rovers.
        grip: Of the floor.
        walls: Around them.
        trace: (n, steps + 1, 5) to be filled, as `TrackedRover.drive` returns it.
        bumped: (n,) set where a rover touches a wall.
    """
    step = motion.step
    for k in range(state.shape[0]):
        rover = state[k]
        brake_left = motion.coasting * max(1.0 + motion.coasting_deviation * normal(rover), 0.2)
        brake_right = motion.coasting * max(1.0 + motion.coasting_deviation * normal(rover), 0.2)
        for i in range(trace.shape[1]):
            if i > 0:
                rover.speed_left = change_speed(rover.speed_left, speeds[k, 0], motion, brake_left)
                rover.speed_right = change_speed(rover.speed_right, speeds[k, 1], motion, brake_right)
                left, right = step * rover.speed_left, step * rover.speed_right
                rover.left += left
                rover.right += right
                travel = 0.5 * (abs(left) + abs(right))
                if travel > 0.0:
                    kept = math.exp(-travel / grip.memory)
                    new = math.sqrt(1.0 - kept * kept)
                    rover.slip = kept * rover.slip + new * normal(rover)
                    rover.imbalance = kept * rover.imbalance + new * normal(rover)
                    kept = math.exp(-travel / grip.pivot_memory)
                    rover.pivot = kept * rover.pivot + math.sqrt(1.0 - kept * kept) * normal(rover)
                loss = grip.slip + grip.slip_deviation * rover.slip
                half = 0.5 * grip.imbalance * rover.imbalance
                left *= 1.0 - min(max(loss - half, -MAX_SLIP), MAX_SLIP)
                right *= 1.0 - min(max(loss + half, -MAX_SLIP), MAX_SLIP)
                ahead, rotation = 0.5 * (left + right), (right - left) / (motion.width * grip.scrub)
                aside = -grip.pivot * rover.pivot * rotation
                c, s = math.cos(rover.yaw + 0.5 * rotation), math.sin(rover.yaw + 0.5 * rotation)
                dx, dy = c * ahead - s * aside, s * ahead + c * aside
                x, y, touched = slide(rover.x, rover.y, dx, dy, motion.radius, walls)
                bumped[k] |= touched
                rover.x, rover.y = x, y
                rover.yaw = wrap_compiled(rover.yaw + rotation)
            trace[k, i, X], trace[k, i, Y], trace[k, i, YAW] = rover.x, rover.y, rover.yaw
            trace[k, i, LEFT], trace[k, i, RIGHT] = rover.left, rover.right
