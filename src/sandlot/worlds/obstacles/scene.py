"""What there is to draw of the obstacles world: the robot, seen from its right, and the ground."""

import numpy as np

from sandlot.robots.climber_shape import hull
from sandlot.typing import Array, IntArray
from sandlot.worlds.obstacles.task import ObstaclesTask
from sandlot.worlds.scene import FRONT, GROUND, ROBOT, SKY, TYRE, Camera, Colour, Scene, Shape

PIXELS = 480
AROUND = (1.1, 0.7)
"""Half the width and half the height of a picture [m]."""
DISTANCE, AZIMUTH, ELEVATION = 3.7, -100.0, 14.0
"""Of the camera: from the robot [m], counter-clockwise from x and above the horizon [degree]."""
AHEAD, RISE = 0.15, 1.0
"""How far ahead of the robot the middle of the picture is, and steps of its height, in tenths [m]."""
GROUND_WIDTH = 1.5
"""Of the ground that is drawn [m]."""


def obstacles_scene(task: ObstaclesTask, robot: int = 0) -> Scene:
    """One of the robots; a picture follows it, and shows it from its right."""
    climbers = task.climbers
    course, climber = climbers.courses[robot], climbers.climber
    ground = [
        prism(f"ground {k}", solid, GROUND_WIDTH, np.zeros(3), np.eye(3), GROUND)
        for k, solid in enumerate(course.solids())
    ]
    middle = np.nan_to_num(task.position[robot])
    body = _turn(task.attitude[robot])
    track, radius, axles = climber.track, 0.5 * climber.body.height, climber.axles
    straight = max(climber.body.length - climber.body.height, 1e-6)
    parts = [
        prism("body", hull(radius, radius, straight) - (0.5 * straight, 0.0), climber.body.width, middle, body, TYRE)
    ]
    belt = hull(track.wheel, track.tip, track.reach)
    for name, way, offset, angle, colour in (
        ("back", -1.0, axles.back_offset, climbers.axles[robot, 1], ROBOT),
        ("front", 1.0, axles.front_offset, climbers.axles[robot, 0], FRONT),
    ):
        turned = body @ _turn(np.array([0.0, -angle, 0.0]))
        for side, y in (("right", -offset), ("left", offset)):
            at = middle + body @ np.array([way * 0.5 * axles.span, y, axles.height])
            parts.append(prism(f"{name} {side}", belt * (way, 1.0), track.width, at, turned, colour))
    laser = Shape(
        "laser",
        "sphere",
        (0.03,),
        middle + body @ np.array([climber.laser.ahead, 0.0, climber.laser.above]),
        body,
        TYRE,
    )
    low, high = middle[[0, 2]] - AROUND, middle[[0, 2]] + AROUND
    (_, pitch, _), (front, rear) = np.degrees(task.attitude[robot]), np.degrees(climbers.axles[robot])
    # The height of the view changes slowly: rocking of the body would shake the picture.
    target = np.array([middle[0] + AHEAD, 0.0, RISE * round(float(middle[2]) / RISE, 1)])
    return Scene(
        (*ground, *parts, laser),
        low,
        high,
        PIXELS,
        SKY,
        side=True,
        camera=Camera(target, DISTANCE, np.radians(AZIMUTH), np.radians(ELEVATION)),
        caption=f"{climbers.time[robot]:.1f} s   x {middle[0]:.2f} m   z {middle[2]:.2f} m   "
        f"pitch {pitch:.0f}°   axles: front {front:.0f}°, rear {rear:.0f}°",
        legend=(("front tracks", FRONT), ("rear tracks", ROBOT), ("body and laser", TYRE), ("ground", GROUND)),
    )


def prism(name: str, outline: Array, width: float, position: Array, rotation: Array, colour: Colour) -> Shape:
    """A convex outline (n, 2) in x and z [m], as wide as told along y."""
    n = len(outline)
    vertices = np.concatenate([np.insert(outline, 1, y, axis=1) for y in (-0.5 * width, 0.5 * width)])
    return Shape(name, "mesh", (), position, rotation, colour, vertices, _faces(n))


def _faces(n: int) -> IntArray:
    """Triangles of a prism of n corners."""
    fan = [(0, k, k + 1) for k in range(1, n - 1)]
    sides = [(k, (k + 1) % n, n + k) for k in range(n)] + [((k + 1) % n, n + (k + 1) % n, n + k) for k in range(n)]
    return np.array([*fan, *((n, n + b, n + a) for _, a, b in fan), *sides], np.int64)


def _turn(attitude: Array) -> Array:
    """From the body's axes to the world's (3, 3), by roll, pitch and yaw: yaw, then roll, then pitch."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(attitude), np.cos(attitude)
    yaw = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    roll = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    pitch = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    return yaw @ roll @ pitch
