"""The avoider in the navigating rover: near obstacles it steers, then the planner goes on."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from pydantic import AfterValidator, Field

from sandlot.control.navigation.avoiding import load_avoider
from sandlot.control.navigation.near import Avoidance, Near
from sandlot.geometry.planar import between, compose
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.indoor import expeditions
from sandlot.studies.indoor.agents import SOURCE
from sandlot.studies.indoor.expeditions import Expedition
from sandlot.studies.plots import COLOURS, canvas
from sandlot.worlds.indoor.settings import IndoorSettings

Driver = Literal["planner", "avoider"]
Scenario = Literal["obstacle", "wall"]
ROOM = (6.0, 4.0)
"""Sides of the room [m]."""
BEGIN, END = 1.5, 4.5
"""x of the start and of the waypoint [m]."""
ARRIVED = 0.25
"""The waypoint is reached if the rover truly is this near to it [m]."""


@study("indoor.avoider", source=f"{SOURCE}, 7.2.3")
class AvoiderDrives(Study):
    """Does it help the navigating rover to let a trained avoider steer near obstacles?

    The tracked rover maps a room that it does not know and drives to a waypoint 3 m ahead. In scenario ``obstacle``, a
    pillar stands in the way; in ``wall``, the way leads along a wall, and a pillar stands beside it. With ``planner``,
    the planner steers everywhere: it searches speeds and turn rates that can always be braked. With ``avoider``, the
    shipped net steers while an obstacle is within the threshold, as in the source, and then the planner goes on.

    Attributes:
        drivers: ``planner`` or ``avoider``.
        scenarios: ``obstacle`` or ``wall``.
        replicates: Drives of each; pillars stand elsewhere in each.
        threshold: Distance at which the avoider takes over [m]. The source says 1.5 m, and that it can be changed.
        seconds: At most so long [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "arrived": Quantity("1", "whether the rover reaches the waypoint"),
        "bumps": Quantity("1", "how often it touches something"),
        "time": Quantity("s", "how long it takes"),
        "pose_error": Quantity("m", "distance from its own estimate to its true place at the end"),
        "yaw_error": Quantity("rad", "error of its yaw at the end, absolute"),
        "decisions": Quantity("1", "decisions of the avoider"),
    }

    drivers: Annotated[tuple[Driver, ...], Field(min_length=1), AfterValidator(distinct)] = ("planner", "avoider")
    scenarios: Annotated[tuple[Scenario, ...], Field(min_length=1), AfterValidator(distinct)] = ("obstacle", "wall")
    replicates: int = Field(20, ge=1, le=1000)
    threshold: float = Field(1.0, gt=0.0)
    seconds: float = Field(90.0, gt=0.0, le=3600.0)

    def jobs(self) -> Iterator[Job]:
        """Both drivers in the same rooms."""
        return self.cross(scenario=self.scenarios, driver=self.drivers, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive to the waypoint."""
        made, decisions, goal = self.drive(job)
        end, believed = made.true[-1], made.estimated[-1]
        wrong = between(end, believed)
        left = float(np.hypot(*(between(made.start, (*goal, 0.0)) - end)[:2]))
        return {
            "arrived": float(left <= ARRIVED),
            "bumps": float(made.bumps),
            "time": made.time,
            "pose_error": float(np.hypot(*wrong[:2])),
            "yaw_error": float(abs(wrong[2])),
            "decisions": float(decisions),
        }

    def drive(self, job: Job) -> tuple[Expedition, int, tuple[float, float]]:
        """The drive of a job, how often the avoider decided, and the waypoint [m]."""
        scenario, driver = job.parameters["scenario"], job.parameters["driver"]
        # Both drivers meet the same rooms and draw the same slip.
        shared = np.random.SeedSequence(
            self.seed, spawn_key=(("obstacle", "wall").index(str(scenario)), int(job.parameters["replicate"]))
        )
        places, slip = shared.spawn(2)
        rng = np.random.default_rng(places)
        x, size = rng.uniform(2.8, 3.2), rng.uniform(0.1, 0.2)
        if scenario == "obstacle":
            way, y = 0.5 * ROOM[1], 0.5 * ROOM[1] + rng.uniform(-0.1, 0.1)
        else:
            way, y = rng.uniform(0.35, 0.5), rng.uniform(0.6, 0.9) + size
        avoidance = Avoidance(load_avoider(), Near(threshold=self.threshold)) if driver == "avoider" else None
        with tempfile.TemporaryDirectory() as folder:
            plan = Path(folder) / "room.toml"
            plan.write_text(
                f"[[walls]]\nrectangle = [0, 0, {ROOM[0]}, {ROOM[1]}]\n"
                f"[[circles]]\ncentre = [{float(x)!r}, {float(y)!r}]\nradius = {float(size)!r}\n",
                encoding="utf-8",
            )
            settings = IndoorSettings(robot="tracked", plan=plan, start=(BEGIN, float(way), 0.0))
            goal = END, float(way)
            made = expeditions.explore(settings, slip, "reputation", self.seconds, (goal,), avoidance)
        return made, 0 if avoidance is None else avoidance.decisions, goal

    def figure(self, results: xr.Dataset) -> Figure:
        """The true paths of the first drives of both drivers; the pillar in grey."""
        figure, axes = canvas(len(self.scenarios), 6.5 * len(self.scenarios), 4.2)
        for job in self.jobs():
            if job.parameters["replicate"] == 0:
                panel = axes[self.scenarios.index(job.parameters["scenario"])]
                colour = COLOURS[self.drivers.index(job.parameters["driver"])]
                made, _, goal = self.drive(job)
                path = compose(made.start, made.true)
                panel.plot(*path[:, :2].T, color=colour, label=str(job.parameters["driver"]))
                panel.plot(*goal, "*", color=COLOURS[2], markersize=12)
                for x, y, size in made.plan.circles:
                    panel.add_patch(Circle((x, y), size, color="#999999"))
                panel.set(title=str(job.parameters["scenario"]), xlabel="x [m]", ylabel="y [m]")
                panel.set(xlim=(0.0, ROOM[0]), ylim=(0.0, ROOM[1]), aspect="equal")
                panel.legend()
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source reports of its scenarios, and how the planner alone compares."""
        found = []
        for scenario in self.scenarios:
            mine = {driver: pick(results, scenario=scenario, driver=driver) for driver in self.drivers}
            clean = {
                driver: int(((each["arrived"].values > 0) & (each["bumps"].values == 0)).sum())
                for driver, each in mine.items()
            }
            if "avoider" in mine:
                drives = mine["avoider"]
                error, yaw = 100.0 * drives["pose_error"].values, np.degrees(drives["yaw_error"].values)
                found.append(
                    Claim(
                        f"With the avoider, the rover reaches the waypoint and touches nothing; {scenario}.",
                        "passes" if scenario == "obstacle" else "fails",
                        f"{clean['avoider']} of {drives.sizes['job']} drives",
                        clean["avoider"] == drives.sizes["job"],
                        f"{drives['decisions'].values.min():.0f} to {drives['decisions'].values.max():.0f} decisions, "
                        f"{drives['time'].values.mean():.0f} s",
                    )
                )
                found.append(
                    Claim(
                        f"Its position is no further off than the source's; {scenario}.",
                        "4 cm and 1 degree",
                        f"{error.mean():.1f} cm and {yaw.mean():.2f} degrees",
                        bool(error.mean() <= 4.0 and yaw.mean() <= 1.0),
                        "means over all drives, at the end",
                    )
                )
            if len(mine) == 2:
                times = {driver: float(each["time"].values.mean()) for driver, each in mine.items()}
                found.append(
                    Claim(
                        f"The avoider does better than the planner alone; {scenario}.",
                        f"planner: {clean['planner']} drives without a touch, {times['planner']:.0f} s",
                        f"avoider: {clean['avoider']} drives without a touch, {times['avoider']:.0f} s",
                        clean["avoider"] > clean["planner"]
                        or (clean["avoider"] == clean["planner"] and times["avoider"] < times["planner"]),
                        "more drives without a touch, or as many and faster",
                    )
                )
        return found
