"""What there is to draw of the avoid world: the rover, its goal, obstacles, walls and vision lines."""

import numpy as np

from sandlot.geometry.planar import compose
from sandlot.robots.tracked_rover import TrackedRover
from sandlot.typing import Array
from sandlot.worlds.avoid.moves import COLLIDED, LATE, REACHED
from sandlot.worlds.avoid.task import AvoidTask
from sandlot.worlds.scene import (
    DONE,
    FLOOR,
    FRONT,
    GOAL,
    GRID_LINE,
    LASER,
    LOAD,
    ROBOT,
    TYRE,
    WALL,
    Area,
    Item,
    Lines,
    Scene,
    Shape,
    grid_lines,
    upright,
)

PIXELS = 560
LOW, HIGH = np.array([-1.2, -1.6]), np.array([3.4, 1.6])
"""Corners of a picture [m]; the rover starts at the origin, and its goal is on the x axis."""
HEIGHT, ROVER_HEIGHT = 0.4, 0.1
"""Of walls and obstacles, and half that of the rover, chosen for drawing [m]."""
NOSE = np.array([(0.85, 0.0), (0.25, 0.4), (0.25, -0.4)])
"""Of the mark that points forward, relative to the radius of the rover."""
WORDS = {REACHED: "reached the goal", COLLIDED: "collided", LATE: "too many moves"}


def avoid_scene(task: AvoidTask, robot: int = 0) -> Scene:
    """One of the rovers and what is around it."""
    settings, rovers, pose = task.settings, task.rovers, task.poses[robot]
    situation, radius = rovers.situations, task.settings.robot.radius
    goal = situation.goals[robot]
    walls, obstacles = situation.counts[robot]
    ends = situation.segments[robot, :walls].reshape(-1, 2, 2)
    nose = compose(pose, np.column_stack([NOSE * radius, np.zeros(3)]))[:, :2]
    items: list[Item] = [
        grid_lines("grid", LOW, HIGH, 1.0, GRID_LINE),
        Shape("goal", "cylinder", (settings.near, 0.01), *upright(goal[0], goal[1]), GOAL),
        Lines("walls", np.concatenate([ends, np.zeros((walls, 2, 1))], axis=2), WALL, 3.0, HEIGHT),
        Lines("vision lines", _lines(task, robot, pose), LASER[:3], 1.0),
        *(
            Shape(f"obstacle {k}", "cylinder", (size, HEIGHT), *upright(x, y), LOAD)
            for k, (x, y, size) in enumerate(situation.circles[robot, :obstacles])
        ),
        *_body(settings.robot, pose),
        Area("nose", np.column_stack([nose, np.full(3, 2.0 * ROVER_HEIGHT)]), FRONT),
    ]
    said = WORDS.get(int(rovers.endings[robot]), f"{rovers.distances[robot]:.2f} m to the goal")
    return Scene(
        tuple(items),
        LOW,
        HIGH,
        PIXELS,
        FLOOR,
        caption=f"{task.time[robot]:.1f} s   move {rovers.moves[robot]}   {said}",
        legend=(
            ("rover", ROBOT),
            ("front", FRONT),
            ("goal", GOAL),
            ("obstacle", LOAD),
            ("wall", WALL),
            ("vision lines", LASER[:3]),
        ),
        focus=np.array([*pose[:2], 0.0]),
        reach=2.0,
    )


def _lines(task: AvoidTask, robot: int, pose: Array) -> Array:
    """Ends of the vision lines: (lines, 2, 3) [m]."""
    lengths = np.minimum(task.rovers.ranges[robot], task.settings.reach)
    yaws = pose[2] + task.bearings
    tips = pose[:2] + lengths[:, None] * np.column_stack([np.cos(yaws), np.sin(yaws)])
    ends = np.stack([np.broadcast_to(pose[:2], tips.shape), tips], axis=1)
    return np.concatenate([ends, np.full((len(tips), 2, 1), ROVER_HEIGHT)], axis=2)


def _body(rover: TrackedRover, pose: Array) -> list[Item]:
    """A hull between two tracks, on the disc that must not touch anything."""
    half, length = 0.5 * rover.track_width, 0.8 * rover.radius
    tracks = compose(pose, np.array([(0.0, half, 0.0), (0.0, -half, 0.0)]))
    at = upright(pose[0], pose[1], yaw=pose[2])
    parts: list[Item] = [Shape("body disc", "cylinder", (rover.radius, 0.005), *at, DONE)]
    parts += [
        Shape(f"{name} track", "box", (length, 0.2 * half, ROVER_HEIGHT), *upright(x, y, yaw=pose[2]), TYRE)
        for name, (x, y, _) in zip(("left", "right"), tracks, strict=True)
    ]
    return [*parts, Shape("rover", "box", (0.9 * length, half, ROVER_HEIGHT), *at, ROBOT)]
