"""Rovers that drive over a terrain by a rule, for the studies of leveling by driving alone."""

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from sandlot.control.controller import Controller, as_controller
from sandlot.control.passive_leveling import PassiveLeveling, PassiveRule
from sandlot.kernels.randomness import children
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.recordings import Quantity
from sandlot.settings import Settings
from sandlot.studies.base import Found
from sandlot.studies.leveling.bodies import make_body
from sandlot.studies.leveling.flatness import MEASURES, measure
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.world import Terrain

REST = "rest"
"""A rule: rovers are put down and stand still."""
SOILS: Mapping[str, SoilKind] = {
    "soft": PRESETS["soft"],
    "mid": PRESETS["mid"],
    "loose": PRESETS["soft"].model_copy(update={"repose": 15.0}),
}
"""``loose`` is ``soft``, but slides at 15 degrees instead of 30."""
SPACING = 0.01
"""Of nodes [m]."""
SAMPLES = 9
"""Times at which a terrain is measured, with the start and the end."""

OUTCOMES = {
    **{
        name: Quantity(each.units, each.long_name, ("sample",), (SAMPLES,))
        for name, each in {"time": Quantity("s", "robot time: of all rovers together"), **MEASURES}.items()
    },
    "path": Quantity("m", "length of the path of a rover, mean of all"),
    "slip": Quantity("1", "1 minus distance driven over distance rolled by the wheels"),
    "climbs": Quantity("1", "hills that all rovers began to climb"),
    "stuck": Quantity("1", "hills that they gave up"),
    "spins": Quantity("1", "peaks where they span"),
    "visits": Quantity("1", "remembered peaks that they reached"),
    "odometry_error": Quantity("m", "distance of where a rover thinks it is from where it is, at the end, mean of all"),
    "overturned": Quantity("1", "rovers that lie on their back at the end"),
    "exploded": Quantity("1", "whether the simulation exploded"),
    "before": Quantity("m", "heights at first", ("map_y", "map_x"), (0, 0)),
    "after": Quantity("m", "heights at the end", ("map_y", "map_x"), (0, 0)),
}
"""What `drive` returns."""


class Hills(Settings):
    """A terrain that wraps around, another one for each seed.

    Attributes:
        nodes: Along each side, 10 mm apart.
        hill_size: Typical radius of a hill [m].
        relief: Height of the highest point above the lowest [m].
    """

    nodes: int = Field(180, ge=60, le=2000)
    hill_size: float = Field(0.3, gt=0.0)
    relief: float = Field(0.1, gt=0.0, le=2.0)


def lattice(count: int, size: float, seed: np.random.SeedSequence) -> tuple[tuple[float, float, float], ...]:
    """Start poses x, y [m] and yaw [rad], spread over a square of side ``size`` [m], looking in random directions."""
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    yaws = np.random.default_rng(seed).uniform(-np.pi, np.pi, count).tolist()
    place = [divmod(k, columns) for k in range(count)]
    return tuple(
        (size * ((column + 0.5) / columns - 0.5), size * ((row + 0.5) / rows - 0.5), yaw)
        for (row, column), yaw in zip(place, yaws, strict=True)
    )


@dataclass(frozen=True)
class Case:
    """What `drive` is to run.

    Attributes:
        fidelity: Of the terrain world.
        soil: Of SOILS.
        rule: A kind of `PassiveRule`, or REST.
        rovers: Their number.
        minutes: Robot time [min]: every rover drives for this over their number.
        body: A kind of `make_body`.
        terrain: Number of the terrain.
        step: Of the physics [s].
    """

    fidelity: str
    soil: str
    rule: str
    rovers: int
    minutes: float
    body: str = "plain"
    terrain: int = 0
    step: float = 0.001


def drive(case: Case, hills: Hills, seed: np.random.SeedSequence) -> dict[str, Found]:
    """Let rovers drive, and measure the terrain from time to time; the seed is that of start poses and random walks.

    Returns:
        The values of OUTCOMES. An overturned rover stays where it is, and the others go on.
    """
    rovers = case.rovers
    pose_seed, rule_seed = children(seed, 2)
    with tempfile.TemporaryDirectory() as folder:
        world = Terrain(
            fidelity=case.fidelity,
            soil=SOILS[case.soil],
            rovers=(make_body(case.body, Path(folder)),) * rovers,
            poses=lattice(rovers, SPACING * hills.nodes, pose_seed),
            terrain="hills",
            hill_size=hills.hill_size,
            relief=hills.relief,
            shape=(hills.nodes, hills.nodes),
            spacing=SPACING,
            step=case.step,
            window=0,
        )
    task = world.task
    resting = as_controller(lambda _: np.zeros((rovers, 2)))
    controller: Controller = (
        resting if case.rule == REST else world.passive_leveling(PassiveRule.model_validate({"kind": case.rule}))
    )
    frames = max(round(60.0 * case.minutes / rovers / world.settings.interval), SAMPLES - 1)
    at = np.linspace(0, frames, SAMPLES).round().astype(int).tolist()
    never = np.zeros(1, np.bool_)
    found: list[dict[str, float]] = []
    steps = rollout(world, controller, case.terrain, frames, controller_seeds=[rule_seed], until=lambda: never)
    for step in steps:
        if step.number == at[len(found)]:
            now = {"time": step.number * world.settings.interval * rovers}
            found.append({**now, **measure(task.ground.initial, task.ground.heights, SPACING)})
    found += [found[-1]] * (SAMPLES - len(found))  # an explosion ends a run early
    return {
        **{name: np.array([each[name] for each in found]) for name in found[0]},
        "path": float(task.path_length.mean()),
        "slip": task.outcomes()["slip"],
        **_counts(controller, task.state.position),
        "overturned": float(task.state.overturned.sum()),
        "exploded": float(world.exploded),
        "before": task.ground.initial.round(5),
        "after": task.ground.heights.round(5),
    }


def _counts(controller: Controller, position: np.ndarray) -> dict[str, float]:
    """What rovers did, and how wrong their odometry is; NaN for rovers that stand still."""
    names = ("climbs", "stuck", "spins", "visits")
    if not isinstance(controller, PassiveLeveling):
        return {**dict.fromkeys(names, 0.0), "odometry_error": np.nan}
    minds = controller.minds[0]
    error = np.hypot(*(minds["position"][:, :2] - position[:, :2]).T)
    return {**{name: float(minds[name].sum()) for name in names}, "odometry_error": float(error.mean())}
