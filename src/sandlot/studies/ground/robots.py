"""Robots of several sizes and feet that are put down on soil."""

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field, field_validator

from sandlot.errors import DivergedError, RobotError, RobotWarning
from sandlot.physics.soil import PRESETS, Soil
from sandlot.recordings import Quantity
from sandlot.robots.legged import ROBOTS, legged_spec, standing_height
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.ground.bekker import foot_depth, resistance
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain.shared import GROUNDS, Ground, at_most, rows

REST = 1e-3
"""A robot is at rest if none of its feet is faster than this [m/s]."""
WATCHED = 0.5
"""The last part of a simulation, in which it has to be at rest [s]."""
RAMP = 3.0
"""Time in which the weight of a robot grows that is put down slowly [s]."""
DEPTH, GAINED, ALLOWED = 0.2, 0.05, (0.05, 0.15)
"""Allowed: error of the depth; rise of energy; change of depth with steps of 1 and of 2 ms."""


@study("ground.robots", source="Bekker 1969, and our own")
class Robots(Study):
    """Does soil carry robots of any size, at the time step of their models?

    Each robot is put down with its feet on the ground, and its springs hold it up. It sinks until soil carries it. Its
    joints are springs with dampers, so that all its energy is that of its fall. Put down slowly, a foot should sink as
    deep as Bekker's equation says for the load on it.

    Attributes:
        robots: Names of robots (see `sandlot.robots.legged`), or files with MuJoCo models of others; the root of a file
            is put down as its first keyframe, or else its own pose, says.
        grounds: Presets of soil.
        steps: Time steps [s]; the last one is that of the models.
        seconds: Duration of a simulation [s].
        spacing: Distance of the ground's nodes [m].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "load": Quantity("N", "load on the foot that carries most, put down slowly"),
        "depth": Quantity("m", "depth of its lowest point"),
        "expected": Quantity("m", "depth by Bekker's equation under that load"),
        "dropped": Quantity("m", "how deep the ground is pressed under a foot at the end, put down at once"),
        "speed": Quantity("m/s", "largest speed of a part that soil carries in the last half second"),
        "gained": Quantity("1", "largest rise of energy over that lost in sinking, at least that of a fall of 1 mm"),
        "height": Quantity("m", "height of the trunk at the end"),
        "diverged": Quantity("1", "whether the simulation diverged"),
    }

    robots: tuple[str, ...] = Field(tuple(ROBOTS), min_length=1)
    grounds: tuple[Ground, ...] = Field(GROUNDS, min_length=1)
    steps: tuple[float, ...] = Field((0.0005, 0.001, 0.002), min_length=1)
    seconds: float = Field(6.0, gt=WATCHED, le=100.0)
    spacing: float = Field(0.01, gt=0.0, le=1.0)

    @field_validator("robots")
    @classmethod
    def _exist(cls, robots: tuple[str, ...]) -> tuple[str, ...]:
        for each in robots:
            if each not in ROBOTS and not Path(each).is_file():
                raise ValueError(f"no robot {each!r}; allowed: {', '.join(ROBOTS)}, or a file with a MuJoCo model")
        return distinct(robots)

    def jobs(self) -> Iterator[Job]:
        """Every robot on every ground, with every step."""
        return self.cross(robot=self.robots, ground=self.grounds, step=self.steps)

    def _model(self, robot: str, step: float) -> tuple[mujoco.MjModel, mujoco.MjData]:
        if robot in ROBOTS:
            model = legged_spec(ROBOTS[robot]).compile()
        else:
            try:
                model = mujoco.MjModel.from_xml_path(robot)
            except ValueError as error:
                raise RobotError(f"{robot} is no model of MuJoCo: {error}") from None
        model.opt.timestep = step
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        mujoco.mj_forward(model, data)
        return model, data

    def run(self, job: Job) -> Mapping[str, Found]:
        """Put the robot down slowly, and at once."""
        robot, ground, step = (job.parameters[name] for name in ("robot", "ground", "step"))
        try:
            slow = self._stand(str(robot), str(ground), float(step), RAMP)
            return slow | self._stand(str(robot), str(ground), float(step), 0.0)
        except DivergedError:
            return {**dict.fromkeys(self.outcomes, np.nan), "diverged": 1.0}

    def _stand(self, robot: str, ground: str, step: float, ramp: float) -> dict[str, Found]:
        """Outcomes of a simulation in which gravity grows to its full value within a time [s]."""
        kind, (model, data) = PRESETS[ground], self._model(robot, step)
        side = 2 * round(1.2 / self.spacing) + 1
        soil = Soil(np.zeros((side, side)), self.spacing, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RobotWarning)  # of parts that are thinner than the spacing
            soil.attach(model, replaces=True)
        start = lowest = float(data.energy.sum())
        gained, speed, gravity = 0.0, 0.0, model.opt.gravity.copy()
        while data.time < ramp + self.seconds:
            model.opt.gravity[:] = gravity * (min(data.time / ramp, 1.0) if ramp > 0.0 else 1.0)
            soil.step(data)
            if ramp == 0.0:
                lowest = min(lowest, float(data.energy.sum()))
                gained = max(gained, float(data.energy.sum()) - lowest)
                if data.time >= self.seconds - WATCHED:
                    speed = max(speed, _foot_speed(model, data, soil))
            elif data.time >= ramp:
                break
        contacts = soil.contacts()
        mine = ROBOTS.get(robot)
        feet = [k for k, each in enumerate(contacts) if mine is None or each.name.startswith("foot")]
        if ramp > 0.0:
            foot = max(feet, key=lambda k: float(contacts[k].force[2]))
            load, geom = float(contacts[foot].force[2]), contacts[foot].geom
            half = model.geom_size[geom, 2 if mine is not None and mine.flat else 0]
            return {
                "load": load,
                "depth": float(half - data.geom_xpos[geom, 2]) if mine else contacts[foot].sinkage,
                "expected": foot_depth(kind, mine.foot, load) if mine else np.nan,
            }
        weight = -gravity[2] * float(model.body_mass.sum())
        return {
            "dropped": max(contacts[k].sinkage for k in feet),
            "speed": speed,
            "gained": float(gained / max(start - lowest, 1e-3 * weight)),
            "height": float(data.qpos[2]),
            "diverged": 0.0,
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """Left: depth over Bekker's, of robots that stand. Right: speed of feet at the end. With the longest step."""
        figure, axes = canvas(2, 11.0, 4.2)
        usual = pick(results, step=self.steps[-1])
        for colour, robot in zip(COLOURS, self.robots, strict=False):
            mine = pick(usual, robot=robot)
            up = mine.isel(job=[_stands(row) for row in rows(mine)])
            axes[0].plot(100.0 * up["expected"], 100.0 * up["depth"], "o", color=colour, label=Path(robot).stem)
            axes[1].plot(mine["ground"].values, 1e3 * np.maximum(mine["speed"], 1e-9), "o", color=colour)
        top = 100.0 * float(np.nanmax([usual["depth"].max(), usual["expected"].max(), 1e-3]))
        axes[0].plot([0.0, top], [0.0, top], ":", color=COLOURS[5], label="as deep")
        axes[0].set(xlabel="depth by Bekker's equation [cm]", ylabel="depth of the foot [cm]")
        axes[0].legend(frameon=False)
        axes[1].axhline(1e3 * REST, color=COLOURS[5], linestyle=":")
        axes[1].set(yscale="log", ylabel="speed of the feet at the end [mm/s]")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """They rest, sink as Bekker says, gain no energy, and any step gives the same depth."""
        usual, lost = pick(results, step=self.steps[-1]), int(results["diverged"].sum())
        fallen = [_name(row) for row in rows(usual) if not _stands(row)]
        claims = [
            Claim("No simulation diverges.", "none", f"{lost} of {results.sizes['job']}", lost == 0),
            Claim("No robot falls over.", "none", ", ".join(fallen) or "none", not fallen, "their joints are springs"),
            self._claim_falls(fallen),
            _worst(
                f"Every robot comes to rest within {self.seconds - WATCHED:g} s.",
                f"feet slower than {1e3 * REST:g} mm/s",
                {_name(row): 1e3 * float(row["speed"]) for row in rows(usual)},
                1e3 * REST,
                "{:.3f} mm/s",
            ),
        ]
        # Others have motors, which do work.
        gained = {_name(row): 100.0 * float(row["gained"]) for row in rows(results) if row["robot"].item() in ROBOTS}
        if gained:
            text, source = "A robot gains no more energy than soil can store.", f"at most {GAINED:.0%} of what it lost"
            claims.append(_worst(text, source, gained, 100.0 * GAINED, "{:.2f}%"))
        soft = [row for row in rows(usual) if float(row["expected"]) > 0.0 and _stands(row)]
        if soft:
            errors = {_name(row): 100.0 * abs(float(row["depth"] / row["expected"]) - 1.0) for row in soft}
            text = "A foot sinks as deep as Bekker's equation says."
            claims.append(_worst(text, f"within {DEPTH:.0%}", errors, 100.0 * DEPTH, "{:.1f}%"))
        return [*claims, *self._claim_steps(results)]

    def _claim_falls(self, fallen: list[str]) -> Claim:
        """That robots without balance fall only where statics lets them."""
        least, tipping = {}, []
        for name in (each for each in self.robots if each in ROBOTS):
            weight, height = _weight(name)
            for ground in self.grounds:
                least[f"{name} on {ground}"] = share = resistance(PRESETS[ground], ROBOTS[name], weight) / (
                    weight * height
                )
                tipping += [f"{name} on {ground}"] if share < 1.0 else []
        said = [f"{name} ({least[name]:.2f} of it)" if name in least else name for name in fallen]
        return Claim(
            "Robots fall over only where soil resists tilting less than gravity overturns them.",
            ", ".join(tipping) or "none",
            ", ".join(said) or "none",
            set(fallen) <= set(tipping),
            "Bekker's tangent under the feet, against weight times height of the centre of mass",
        )

    def _claim_steps(self, results: xr.Dataset) -> Iterator[Claim]:
        """That long steps give the depth of the shortest one."""
        fine = pick(results, step=self.steps[0])
        for step, limit in zip(self.steps[1:], ALLOWED[-len(self.steps) + 1 :], strict=False):
            errors = {}
            for row, other in zip(rows(pick(results, step=step)), rows(fine), strict=True):
                if float(other["dropped"]) > 0.0 and _stands(other):
                    errors[_name(row)] = 100.0 * abs(float(row["dropped"] / other["dropped"]) - 1.0)
            text = f"With steps of {1e3 * step:g} ms feet sink as deep as with {1e3 * self.steps[0]:g} ms."
            yield _worst(text, f"within {limit:.0%}", errors, 100.0 * limit, "{:.1f}%")


def _foot_speed(model: mujoco.MjModel, data: mujoco.MjData, soil: Soil) -> float:
    """Largest speed of a geom that soil carries [m/s]."""
    fastest, velocity = 0.0, np.zeros(6)
    for contact, force in zip(soil.contacts(), soil.forces, strict=True):
        if force[2] > 0.0 and contact.geom >= 0:
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_GEOM, contact.geom, velocity, 0)
            fastest = max(fastest, float(np.linalg.norm(velocity[3:])))
    return fastest


def _weight(name: str) -> tuple[float, float]:
    """Weight of a robot of ours [N], and height of its centre of mass when it stands [m]."""
    model = legged_spec(ROBOTS[name]).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return -float(model.opt.gravity[2] * model.body_mass.sum()), float(data.subtree_com[0, 2])


def _name(row: xr.Dataset) -> str:
    return f"{Path(row['robot'].item()).stem} on {row['ground'].item()}"


def _stands(row: xr.Dataset) -> bool:
    """Whether a robot has not fallen over; feet of those that have are not pressed by their weight."""
    robot = ROBOTS.get(row["robot"].item())
    return robot is None or float(row["height"]) > 0.5 * (standing_height(robot) - float(row["depth"]))


def _worst(text: str, source: str, values: Mapping[str, float], limit: float, form: str) -> Claim:
    """A claim that all values are at most a limit; it names the largest."""
    name = max(values, key=lambda each: np.nan_to_num(values[each], nan=np.inf)) if values else ""
    said = f"at most {form.format(values[name])} ({name})" if values else "no robot"
    return Claim(text, source, said, bool(values) and at_most(list(values.values()), limit))
