"""Strips of pictures: a robot at several times of a climb, as figure 15 of Vincent 2008."""

import numpy as np
from matplotlib.figure import Figure

from sandlot.places.course_kinds import Kind
from sandlot.robots.climber import load_climber
from sandlot.robots.climbers import INTERVAL
from sandlot.studies.base import Picture
from sandlot.studies.obstacles.ladder import make_controller, map_rows
from sandlot.studies.plots import show
from sandlot.worlds.obstacles.scene import obstacles_scene
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

COLUMNS, ROWS = 6, 2


def strip(name: str, kind: Kind, caption: str, seconds: float = 5.0) -> Picture:
    """Let a controller climb, and draw it several times.

    Args:
        name: Of the controller, one of `sandlot.studies.obstacles.ladder.CONTROLLERS`.
        kind: Of the course.
        caption: Of the picture.
        seconds: Between the first picture and the last [s], unless the robot passes before; the first shows it after
            1 s.
    """
    world = ObstaclesVector(num_envs=1, autoreset_mode="Disabled", settings=ObstaclesSettings(rows=map_rows(name)))
    first, last = round(1.0 / INTERVAL), round((1.0 + seconds) / INTERVAL)
    shots = [
        (step.number, obstacles_scene(world.task))
        for step in rollout(world, make_controller(name, load_climber()), 0, last, options={"courses": [kind]})
        if step.number >= first
    ]
    figure = Figure(figsize=(11.0, 3.1), layout="constrained")
    chosen = np.round(np.linspace(0, len(shots) - 1, COLUMNS * ROWS)).astype(int)
    for axes, which in zip(figure.subplots(ROWS, COLUMNS).ravel(), chosen.tolist(), strict=True):
        number, scene = shots[which]
        show(axes, scene)
        axes.set(title=f"{number * INTERVAL:.1f} s", xticks=[], yticks=[], xlabel="", ylabel="")
    return Picture(caption, figure)
