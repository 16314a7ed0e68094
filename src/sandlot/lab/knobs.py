"""What can be turned on the page in each world: a few of its settings, chosen because one sees what they do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Knob:
    """A choice or a number.

    Attributes:
        name: Unique in its world.
        label: On the page, with its unit.
        value: At first.
        options: What to choose from; or, for a number,
        low: the lowest,
        high: the highest,
        step: and the step between them.
        live: Whether it acts at once; otherwise the world begins anew.
    """

    name: str
    label: str
    value: Any
    options: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    live: bool = False


@dataclass(frozen=True)
class Panel:
    """The knobs of a world.

    Attributes:
        knobs: In the order of the page.
        settings: Settings of the world, from the values of the knobs and the name of the robot.
        read: Values of knobs, and ``robot``, from settings that were given; what they do not say is left out.
        robots: Names of robots to choose from.
        speed: Simulated time over time of the wall, at first.
        plotted: Two quantities of its frames that are plotted at first.
    """

    knobs: tuple[Knob, ...]
    settings: Callable[[Values, str], dict[str, Any]]
    read: Callable[[Values], dict[str, Any]]
    robots: tuple[str, ...]
    speed: str
    plotted: tuple[str, str]


def _terrain(values: Values, robot: str) -> dict[str, Any]:
    rovers, count = robot, int(values["count"])
    chosen = {"both": ["wheeled", "tracked"] * count}.get(rovers, [rovers] * count)[:count]
    settings = {"ground": values["ground"], "terrain": values["terrain"], "rovers": chosen}
    return settings | ({"soil": values["soil"]} if values["ground"] == "soil" else {})


def _read_terrain(given: Values) -> dict[str, Any]:
    found = {name: given[name] for name in ("ground", "soil", "terrain") if name in given}
    if rovers := given.get("rovers"):
        each = [rovers] if isinstance(rovers, str) else list(rovers)
        both = each == (["wheeled", "tracked"] * len(each))[: len(each)] and len(each) > 1
        found |= {"count": len(each), "robot": "both" if both else each[0]}
    return found


def _water(values: Values, robot: str) -> dict[str, Any]:
    return {
        "snake": {"links": int(robot.split()[0])},
        "current": [values["current"], 0.0],
        "distance": values["distance"],
    }


def _read_water(given: Values) -> dict[str, Any]:
    found = {"distance": given["distance"]} if "distance" in given else {}
    if "current" in given:
        found["current"] = given["current"][0]
    links = given.get("snake", {}).get("links")
    return found if links is None else found | {"robot": f"{links} links"}


def _indoor(values: Values, robot: str) -> dict[str, Any]:
    # The slip of the round robot is a share, that of the tracked rover a factor.
    slip = values["slip"] / 100.0 if robot == "round" else values["slip"] / 12.0
    return {"plan": values["plan"], "people": int(values["people"]), "robot": {"kind": robot, "slip": slip}}


def _read_indoor(given: Values) -> dict[str, Any]:
    found = {name: given[name] for name in ("plan", "people") if name in given}
    robot = given.get("robot", {})
    if "kind" in robot:
        found["robot"] = robot["kind"]
    if "slip" in robot:
        found["slip"] = robot["slip"] * (100.0 if robot.get("kind") == "round" else 12.0)
    return found


COURSES = {
    "box": "height",
    "stairs": "riser",
    "rubble": "height",
    "step": "height",
    "ramp": "height",
    "trench": "width",
}
"""Kinds of courses, and which of their settings the height is."""


def _obstacles(values: Values, robot: str) -> dict[str, Any]:
    kind = values["course"]
    return {"course": {"kind": kind, COURSES[kind]: values["height"], "distance": 1.2}}


def _avoid(values: Values, robot: str) -> dict[str, Any]:
    return {"situation": values["situation"]}


def _read_avoid(given: Values) -> dict[str, Any]:
    return {"situation": given["situation"]} if "situation" in given else {}


def _read_obstacles(given: Values) -> dict[str, Any]:
    course = given.get("course", {})
    kind = course.get("kind", "box")
    found = {"course": kind} if "kind" in course else {}
    size = course.get(COURSES.get(kind, "height"))
    return found if size is None else found | {"height": size}


def _leveling(values: Values, robot: str) -> dict[str, Any]:
    side = int(values["side"])
    return {"agents": int(values["agents"]), "relief": int(values["relief"]), "shape": [side, side]}


def _read_leveling(given: Values) -> dict[str, Any]:
    found = {name: given[name] for name in ("agents", "relief") if name in given}
    return found | ({"side": given["shape"][0]} if "shape" in given else {})


PANELS = {
    "terrain": Panel(
        (
            Knob("ground", "Ground", "soil", ("soil", "particles", "rigid")),
            Knob("soil", "Soil", "soft", ("soft", "mid", "LETE sand", "rigid")),
            Knob("terrain", "Terrain", "A", ("A", "B", "hills", "flat")),
            Knob("count", "Rovers", 1, low=1, high=8, step=1),
        ),
        _terrain,
        _read_terrain,
        ("wheeled", "tracked", "both"),
        "1x",
        ("z", "pitch"),
    ),
    "water": Panel(
        (
            Knob("amplitude", "Gait: amplitude [rad]", 0.7, low=0.0, high=1.4, live=True),
            Knob("frequency", "Gait: frequency [Hz]", 0.9, low=0.1, high=2.0, live=True),
            Knob("phase", "Gait: phase [rad]", 0.8, low=-1.6, high=1.6, live=True),
            Knob("veer", "Gait: veer [rad]", 0.0, low=-0.3, high=0.3, live=True),
            Knob("current", "Current [m/s]", 0.0, low=-1.0, high=1.0, step=0.1),
            Knob("distance", "Target within [m]", 60.0, low=30.0, high=120.0, step=5.0),
        ),
        _water,
        _read_water,
        ("17 links", "12 links", "25 links"),
        "5x",
        ("drive", "velocity_x"),
    ),
    "indoor": Panel(
        (
            Knob("plan", "Floor plan", "apartment", ("arena", "cluttered", "office", "flat", "apartment", "warehouse")),
            Knob("slip", "Floor slip [%]", 12.0, low=0.0, high=40.0, step=1.0),
            Knob("people", "People", 2, low=0, high=10, step=1),
        ),
        _indoor,
        _read_indoor,
        ("tracked", "round"),
        "2x",
        ("speed", "turn_rate"),
    ),
    "obstacles": Panel(
        (
            Knob("course", "Obstacle", "box", tuple(COURSES)),
            Knob("height", "Height (of a trench: width) [m]", 0.2, low=0.05, high=0.5),
        ),
        _obstacles,
        _read_obstacles,
        ("climber",),
        "1x",
        ("pitch", "velocity_forward"),
    ),
    "avoid": Panel(
        (Knob("situation", "Situation", "wall", ("mixed", "easy", "medium", "hard", "obstacle", "wall")),),
        _avoid,
        _read_avoid,
        ("tracked",),
        "2x",
        ("goal_distance", "obstacle_distance"),
    ),
    "leveling": Panel(
        (
            Knob("agents", "Agents", 8, low=1, high=64, step=1),
            Knob("relief", "Height of hills [unit]", 12, low=1, high=30, step=1),
            Knob("side", "Cells along each side", 32, low=16, high=64, step=8),
        ),
        _leveling,
        _read_leveling,
        ("agents",),
        "50x",
        ("height_range", "units_moved"),
    ),
}
"""By the name of a world."""


def shown(knob: Knob, value: Any) -> bool:
    """Whether a knob can show a value."""
    if knob.options:
        return value in knob.options
    return isinstance(value, int | float) and knob.low <= value <= knob.high


def without(given: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that were given, without those that are the same in ``base``; tables are looked through."""
    left = {}
    for key, value in given.items():
        inner = base.get(key)
        if isinstance(value, Mapping) and isinstance(inner, Mapping):
            value = without(value, inner)
            if value:
                left[key] = value
        elif not _same(value, inner):
            left[key] = value
    return left


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def merge(base: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with those that were given in place of others; tables are merged."""
    merged = dict(base)
    for key, value in given.items():
        inner = merged.get(key)
        merged[key] = merge(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return merged
