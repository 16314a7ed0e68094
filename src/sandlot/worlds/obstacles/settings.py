"""Settings of the obstacles world."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sandlot.places.course_kinds import CourseKind, Flat, Kind, Mixed
from sandlot.robots.climber import SHIPPED, load_climber
from sandlot.sensing.panned_laser import PannedLaser
from sandlot.settings import Named
from sandlot.worlds.settings import WorldSettings

Friction = Annotated[float, Field(ge=0.0, le=10.0)]


class ObstaclesSettings(WorldSettings):
    """Settings of the obstacles world.

    Attributes:
        fidelity: ``fast``, a compiled planar model; ``reference``: MuJoCo, in space.
        robot: ``climber``, or the path of a TOML file with another robot.
        course: The ground: a table whose ``kind`` is ``box``, ``stairs``, ``step``, ``ramp``, ``trench``, ``rubble``,
            ``flat``, or ``mixed``, which draws a box, stairs or rubble at each reset.
        start: The robot starts at a random x between these [m].
        yaw: The robot starts turned by up to this, to either side [rad]; at ``reference``.
        friction: Coefficient of the left and of the right belts on the ground [1], in place of the robot's; at
            ``reference``.
        perception: How the robot knows the elevation ahead: ``exact``, or with its ``laser``.
        laser: With which it measures if it perceives.
        cells: Number of cells of a row of the elevation map, each 1 cm; 201 in the source.
        rows: Of the elevation map: 1, straight ahead; 5, from -20 to 20 degrees; 19, from -45 to 45 degrees.
        patience: An episode ends when the robot has not come further for this long [s].
        seconds: An episode is truncated after this long [s].
    """

    fidelity: Literal["fast", "reference"] = "fast"
    robot: Annotated[Literal["climber"] | Path, Named("climbing robot", SHIPPED)] = "climber"
    course: CourseKind = Mixed()
    start: tuple[float, float] = (-0.1, 0.1)
    yaw: float = Field(0.0, ge=0.0, le=0.5, json_schema_extra={"fidelity": "reference"})
    friction: tuple[Friction, Friction] | None = Field(None, json_schema_extra={"fidelity": "reference"})
    perception: Literal["exact", "laser"] = "exact"
    laser: PannedLaser = PannedLaser()
    cells: int = Field(201, ge=1, le=1000)
    rows: Literal[1, 5, 19] = 1
    patience: float = Field(10.0, gt=0.0)
    seconds: float = Field(60.0, gt=0.0)

    @model_validator(mode="after")
    def _starts_before_the_obstacle(self) -> Self:
        self.check_start(self.course, load_climber(self.robot).reach)
        return self

    def check_start(self, course: Kind, reach: float) -> None:
        """Refuse a course whose obstacle is where a robot starts that reaches so far ahead [m].

        Raises:
            ValueError: If it is.
        """
        low, high = self.start
        last = course.distance if isinstance(course, Flat) else course.distance - reach
        if not -20.0 <= low <= high <= last:
            raise ValueError(
                f"start={[low, high]}: allowed are two ascending numbers from -20 to {last:.3g}, where the robot "
                f"reaches the obstacle at {course.distance:g}"
            )
