"""Settings of the indoor world."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from sandlot.places.plan_names import SHIPPED
from sandlot.robots.round_robot import RoundRobot
from sandlot.robots.tracked_rover import TrackedRover
from sandlot.schema import MODEL
from sandlot.sensing.laser import Laser
from sandlot.sensing.spinning_lidar import SpinningLidar
from sandlot.sensing.track_encoders import TrackEncoders
from sandlot.settings import Named
from sandlot.worlds.settings import WorldSettings

ONLY = {"laser": "round", "interval": "round", "model": "round", "lidar": "tracked", "encoders": "tracked"}
"""Settings that only one kind of robot uses, and which."""


class IndoorSettings(WorldSettings):
    """Settings of the indoor world.

    Attributes:
        fidelity: ``fast``, the laser's rays are cast; ``learned``, a model of the laser predicts the scan.
        plan: ``arena``, 100 m^2 with cartons along its walls; ``cluttered``, with cartons all over it; ``office``;
            ``flat``, of 80 m^2 with much furniture; ``apartment``, of 80 m^2 after the indoor source's figure 67;
            ``warehouse``; ``random``, a random flat; or the path of a floor plan: TOML, a ROS ``map.yaml``, or an image
            whose dark pixels are walls.
        plan_seed: Seed of the ``random`` flat.
        furniture: If given, all furniture is moved; the seed of its new places.
        people: How many people walk about.
        resolution: Scale of an image [m/pixel].
        robot: Body, motors and slip: ``round`` or ``tracked``, or a table whose kind is one of them.
        laser: The scanner of the round robot, mounted above its centre.
        lidar: The spinning lidar of the tracked rover, mounted above its centre.
        encoders: Of the tracks of the tracked rover.
        start: x [m], y [m] and yaw [rad]; random at each reset if not given.
        task: ``cover`` the floor, reach a ``goal``, or ``explore`` until all of the floor was seen.
        goal: x [m], y [m] and yaw [rad] to reach; random at each reset if not given.
        goal_distance: So near to the goal it is reached [m].
        goal_angle: So near to the yaw of the goal it is reached [rad]; pi if any yaw will do.
        goal_reward: Of reaching the goal, besides the path that was covered [m].
        bump_penalty: Of a collision, with ``task="goal"`` [m].
        enough: Share of the floor within reach of the robot that must be seen to end exploring.
        observe_pose: Whether the pose by odometry is observed.
        observe_coverage: Whether it is observed which points around the robot its body has covered.
        time_limit: Episodes of ``goal`` and ``explore`` are truncated after this time [s].
        interval: Time between frames of the round robot [s]. The source's robot takes a scan every 0.25 s. A frame of
            the tracked rover is one turn of its lidar.
        model: At ``learned``: directory of a sensor model, written by ``sandlot fit sensor``. If not given, a robot
            first wanders through this plan for 1,400 scans, and a model is fitted to them, which takes some seconds.
    """

    fidelity: Literal["fast", "learned"] = "fast"
    plan: Annotated[
        Literal["arena", "cluttered", "office", "flat", "apartment", "warehouse", "random"] | Path,
        Named("plan", (*SHIPPED, "random")),
    ] = "arena"
    plan_seed: int = Field(0, ge=0, lt=2**63)
    furniture: int | None = Field(None, ge=0, lt=2**63)
    people: int = Field(0, ge=0, le=1000)
    resolution: float = Field(0.05, gt=0.0, le=100.0)
    robot: RoundRobot | TrackedRover = Field(RoundRobot(), discriminator="kind")
    laser: Laser = Laser()
    lidar: SpinningLidar = SpinningLidar()
    encoders: TrackEncoders = TrackEncoders()
    start: tuple[float, float, float] | None = None
    task: Literal["cover", "goal", "explore"] = "cover"
    goal: tuple[float, float, float] | None = None
    goal_distance: float = Field(0.15, gt=0.0)
    goal_angle: float = Field(0.25, gt=0.0)
    goal_reward: float = Field(0.0, ge=0.0)
    bump_penalty: float = Field(0.0, ge=0.0)
    enough: float = Field(0.99, gt=0.0, le=1.0)
    observe_pose: bool = False
    observe_coverage: bool = False
    time_limit: float = Field(900.0, gt=0.0)
    interval: float = Field(0.25, gt=0.0, le=10.0)
    model: Path | None = Field(None, json_schema_extra={"fidelity": "learned", MODEL: True})

    @field_validator("robot", mode="before")
    @classmethod
    def _named_robot(cls, robot: Any) -> Any:
        """A name stands for the robot of that kind; without a kind, a table is of the round one."""
        if isinstance(robot, str):
            return {"kind": robot}
        return {"kind": "round", **robot} if isinstance(robot, Mapping) else robot

    @model_validator(mode="after")
    def _robot_uses_all(self) -> Self:
        for name, kind in ONLY.items():
            # The settings of a recording name all of them, with their defaults.
            if self.robot.kind != kind and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is only for robot.kind={kind}, not {self.robot.kind}; leave it out")
        if self.fidelity == "learned" and self.robot.kind != "round":
            raise ValueError(
                "fidelity=learned is only for robot.kind=round: its model is of a laser that does not turn"
            )
        if self.goal is not None and self.task != "goal":
            raise ValueError(f"goal is only for task=goal, not {self.task}; leave it out")
        return self

    @property
    def scanner(self) -> Laser:
        """The laser or lidar of the robot."""
        return self.lidar if self.robot.kind == "tracked" else self.laser

    @property
    def period(self) -> float:
        """Time of one step [s]."""
        return self.lidar.period if self.robot.kind == "tracked" else self.interval
