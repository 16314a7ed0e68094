"""What there is to draw of the indoor world: the floor plan, a robot and its last scan, its goal and people."""

from dataclasses import replace

import numpy as np

from sandlot.geometry.planar import compose
from sandlot.places.plans import Plan
from sandlot.robots.round_robot import RoundRobot
from sandlot.typing import Array
from sandlot.worlds.indoor.missions import Explore, Reach
from sandlot.worlds.indoor.task import GAIT, IndoorTask
from sandlot.worlds.scene import (
    DONE,
    FLOOR,
    FRONT,
    GLASS,
    GOAL,
    GRID_LINE,
    LASER,
    PERSON,
    RETURN,
    ROBOT,
    TYRE,
    WALL,
    Area,
    Colour,
    HeightField,
    Item,
    Lines,
    Points,
    Scene,
    Shape,
    blend,
    grid_lines,
    upright,
)

PIXELS, BORDER = 640, 0.03
"""Longer side of a picture, and the border around the plan as a share of its longer side."""
WIDEST = 36.0
"""A picture is at most so many times as wide as the robot."""
WALL_HEIGHT, ROBOT_HEIGHT = 0.5, 0.5
"""Height above the floor of walls and of the round robot, both chosen for drawing [m]."""
PERSON_HEIGHT, ROVER_HEIGHT = 0.85, 0.1
"""The same of people and of the tracked rover [m]."""
SEEN = 4.0
"""Radius around the robot that a camera in space shows [m]."""
NOSE_CORNERS = np.array([(0.85, 0.0), (0.25, 0.4), (0.25, -0.4)])
"""Of the mark that points forward, relative to the radius of the robot."""


def indoor_scene(task: IndoorTask, robot: int = 0) -> Scene:
    """One of the robots with what its laser measured, its goal and people; reflective walls are blue."""
    radius = task.settings.robot.radius
    pose, ranges, beams = task.poses[robot], task.ranges[robot], task.body.beams(robot)
    seen = np.isfinite(ranges)
    yaws = beams[seen, 2]
    ends = beams[seen, :2] + ranges[seen, None] * np.column_stack([np.cos(yaws), np.sin(yaws)])
    nose = compose(pose, np.column_stack([NOSE_CORNERS * radius, np.zeros(3)]))[:, :2]
    around = [
        Shape(f"person {k}", "cylinder", (GAIT.radius, PERSON_HEIGHT), *upright(each["x"], each["y"]), PERSON)
        for k, each in enumerate(task.people[robot])
    ]
    goals = [] if task.goals is None else [_goal(task.goals[robot], task.settings.goal_distance)]
    scene = plan_scene(
        task.plan,
        _floor(task, robot),
        *goals,
        Area("scan", _flat(np.concatenate([pose[None, :2], ends])), LASER),
        Points("returns", _flat(ends), 0.0025 * _extent(task.plan), RETURN),
        *around,
        *_body(task, pose),
        Area("nose", np.column_stack([nose, np.full(3, _top(task))]), FRONT),
    )
    low, high = _framed(task.plan, scene, pose[:2], radius)
    about, legend = _labels(task, robot)
    return replace(
        scene,
        low=low,
        high=high,
        caption=f"{task.time[robot]:.1f} s   {about}",
        legend=legend,
        focus=np.array([*pose[:2], 0.0]),
        reach=min(SEEN, 0.5 * _extent(task.plan)),
    )


def _framed(plan: Plan, scene: Scene, place: Array, radius: float) -> tuple[Array, Array]:
    """Corners (2,) of the picture [m]: the whole plan, or as much around the robot as lets it be seen."""
    half = WIDEST * radius
    low, high = scene.low.copy(), scene.high.copy()
    for axis in (0, 1):
        if high[axis] - low[axis] > 2.0 * half:
            middle = min(max(float(place[axis]), low[axis] + half), high[axis] - half)
            low[axis], high[axis] = middle - half, middle + half
    return low, high


def _floor(task: IndoorTask, robot: int) -> HeightField:
    """The floor, in another colour where its task is done: where the robot was, or what it has seen."""
    floor, mission = task.floor, task.mission
    done = mission.seen[robot] if isinstance(mission, Explore) else floor.covered[robot]
    colours = np.where(done[..., None], np.array(DONE, np.uint8), np.array(FLOOR, np.uint8))
    corner = floor.corner + 0.5 * floor.spacing
    return HeightField("floor", np.zeros(done.shape), floor.spacing, corner, colours, cells=True)


def _labels(task: IndoorTask, robot: int) -> tuple[str, tuple[tuple[str, Colour], ...]]:
    """A caption about the task, and the legend."""
    mission = task.mission
    legend: list[tuple[str, Colour]] = [("robot", ROBOT), ("front", FRONT), ("laser", LASER), ("returns", RETURN)]
    if isinstance(mission, Reach):
        about = f"{mission.left[robot]:.1f} m to the goal"
        legend += [("goal", GOAL), ("was here", DONE)]
    elif isinstance(mission, Explore):
        about = f"seen {mission.area[robot] / mission.total:.0%} of the floor"
        legend += [("seen", DONE)]
    else:
        about = f"covered {task.covered[robot] / task.floor.area:.0%} of the floor"
        legend += [("covered", DONE)]
    if task.settings.people:
        legend += [("person", PERSON)]
    if (task.plan.shine > 0.5).any():
        legend += [("shiny wall", GLASS)]
    return f"{about}   bumps {task.bumps[robot]}", tuple(legend)


def _top(task: IndoorTask) -> float:
    """Height of the robot [m]."""
    return ROBOT_HEIGHT if isinstance(task.settings.robot, RoundRobot) else ROVER_HEIGHT


def _goal(goal: Array, distance: float) -> Shape:
    return Shape("goal", "cylinder", (distance, 0.01), *upright(goal[0], goal[1], yaw=goal[2]), GOAL)


def _body(task: IndoorTask, pose: Array) -> list[Item]:
    """A disc, or a hull between two tracks that fits into the disc."""
    robot = task.settings.robot
    if isinstance(robot, RoundRobot):
        return [
            Shape("robot", "cylinder", (robot.radius, ROBOT_HEIGHT), *upright(pose[0], pose[1], yaw=pose[2]), ROBOT)
        ]
    half = 0.5 * robot.track_width
    length, belt = 0.8 * robot.radius, 0.2 * half
    tracks = compose(pose, np.array([(0.0, half, 0.0), (0.0, -half, 0.0)]))
    parts: list[Item] = [
        Shape(f"{name} track", "box", (length, belt, ROVER_HEIGHT), *upright(place[0], place[1], yaw=pose[2]), TYRE)
        for name, place in zip(("left", "right"), tracks, strict=True)
    ]
    return [
        *parts,
        Shape("robot", "box", (0.9 * length, half, ROVER_HEIGHT), *upright(pose[0], pose[1], yaw=pose[2]), ROBOT),
    ]


def plan_scene(plan: Plan, *items: Item) -> Scene:
    """The walls of a plan on a grid, height fields below and other items in front of them."""
    extent = _extent(plan)
    low, high = plan.bounds[:2] - BORDER * extent, plan.bounds[2:] + BORDER * extent
    # A grid of metres, or of ten or a hundred in large plans.
    gap = 10.0 ** max(0.0, np.ceil(np.log10(extent / 40.0)))
    floor = [item for item in items if isinstance(item, HeightField)]
    above = [item for item in items if not isinstance(item, HeightField)]
    grid = grid_lines("grid", low, high, gap, GRID_LINE)
    return Scene((*floor, grid, *_walls(plan), *above), low, high, PIXELS, FLOOR)


def _extent(plan: Plan) -> float:
    """The longer side of a plan [m]."""
    return float(max(plan.bounds[2:] - plan.bounds[:2]))


def _walls(plan: Plan) -> list[Item]:
    colours = [tuple(each) for each in blend(WALL, GLASS, plan.shine).tolist()]
    straight = len(plan.segments)
    ends = np.concatenate([plan.segments.reshape(-1, 2, 2), np.zeros((straight, 2, 1))], axis=2)
    round_walls = [
        Shape(f"round wall {k}", "cylinder", (radius, WALL_HEIGHT), *upright(x, y), colours[straight + k])
        for k, (x, y, radius) in enumerate(plan.circles)
    ]
    return [Lines("walls", ends, tuple(colours[:straight]), 2.0, WALL_HEIGHT), *round_walls]


def _flat(points: Array) -> Array:
    """Points (n, 2) on the floor: (n, 3)."""
    return np.column_stack([points, np.zeros(len(points))])
