"""Settings of the indoor world."""

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from sandlot.places.plans import SHIPPED
from sandlot.robots.round_robot import RoundRobot
from sandlot.sensing.laser import Laser
from sandlot.worlds.base import WorldSettings, name_or_file


class IndoorSettings(WorldSettings):
    """Settings of the indoor world.

    Attributes:
        fidelity: ``fast``, the laser's rays are cast; ``learned``, a model of the laser predicts the scan.
        plan: ``arena``, 100 m^2 with cartons along its walls; ``cluttered``, with cartons all over it; ``office``;
            ``flat``, of 80 m^2; or the path of a floor plan: TOML, a ROS ``map.yaml``, or an image whose dark pixels
            are walls.
        resolution: Scale of an image [m/pixel].
        robot: Body, motors and slip.
        laser: The scanner, mounted above the centre of the robot.
        start: x [m], y [m] and yaw [rad]; random at each reset if not given.
        interval: Time between frames [s]. The source's robot takes a scan every 0.25 s.
        model: At ``learned``: directory of a sensor model, written by ``sandlot fit sensor``. If not given, a robot
            first wanders through this plan for 1,400 scans, and a model is fitted to them, which takes some seconds.
    """

    fidelity: Literal["fast", "learned"] = "fast"
    plan: Literal["arena", "cluttered", "office", "flat"] | Path = "arena"
    resolution: float = Field(0.05, gt=0.0, le=100.0)
    robot: RoundRobot = RoundRobot()
    laser: Laser = Laser()
    start: tuple[float, float, float] | None = None
    interval: float = Field(0.25, gt=0.0, le=10.0)
    model: Path | None = Field(None, json_schema_extra={"fidelity": "learned"})

    @field_validator("plan")
    @classmethod
    def _known_plan(cls, plan: str | Path) -> str | Path:
        return name_or_file(plan, "plan", SHIPPED)
