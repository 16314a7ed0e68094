"""Which model climbs at which fidelity."""

from collections.abc import Sequence

from sandlot.places.courses import Course
from sandlot.robots.climber import Climber
from sandlot.robots.climbers import Climbers
from sandlot.robots.fast_climbers import FastClimbers
from sandlot.robots.reference_climbers import ReferenceClimbers


def make_climbers(
    fidelity: str,
    climber: Climber,
    courses: Sequence[Course],
    friction: tuple[float, float] | None = None,
    threads: int = 1,
) -> Climbers:
    """Make robots of the model of a fidelity.

    Args:
        fidelity: ``fast`` or ``reference``.
        climber: The robot.
        courses: One for each robot.
        friction: Coefficient of the left and of the right belts, at ``reference``; that of the robot if left out.
        threads: Number of robots that are simulated at the same time.
    """
    if fidelity == "fast":
        return FastClimbers(climber, courses, threads=threads)
    return ReferenceClimbers(climber, courses, friction=friction, threads=threads)
