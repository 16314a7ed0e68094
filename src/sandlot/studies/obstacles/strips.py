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
        seconds: Between the first picture and the last [s]; the first shows the robot after 1 s.
    """
    world = ObstaclesVector(num_envs=1, autoreset=False, settings=ObstaclesSettings(rows=map_rows(name)))
    times = np.round(np.linspace(1.0, 1.0 + seconds, COLUMNS * ROWS) / INTERVAL).astype(int)
    figure = Figure(figsize=(11.0, 4.2), layout="constrained")
    grid = iter(figure.subplots(ROWS, COLUMNS).ravel())
    for step in rollout(world, make_controller(name, load_climber()), 0, int(times[-1]), options={"courses": [kind]}):
        if step.number in times:
            axes = next(grid)
            show(axes, obstacles_scene(world.task))
            axes.set(title=f"{step.number * INTERVAL:.1f} s", xticks=[], yticks=[], xlabel="", ylabel="")
    for axes in grid:
        axes.set_axis_off()
    return Picture(caption, figure)
