"""Rovers on a floor, for the tests of rovers."""

import mujoco
import pytest

from sandlot.robots.rover import BODIES, SHIPPED
from sandlot.robots.rover_model import build_model, drive, move_belts

FLOOR = '<worldbody><geom name="floor" type="plane" size="9 9 1" friction="2 0.005 0.0001"/></worldbody>'
BOTH = pytest.mark.parametrize("name", SHIPPED)
HEIGHT = 0.051
"""Of the chassis above flat ground [m]."""


def run(rovers, seconds, commands=None, data=None):
    data = data or mujoco.MjData(rovers.model)
    if commands is not None:
        drive(rovers, data, commands)
    for _ in range(round(seconds / rovers.model.opt.timestep)):
        move_belts(rovers, data)
        mujoco.mj_step(rovers.model, data)
    return data


def on_floor(*rovers, floor=FLOOR, **options):
    poses = [[0.0, float(k), HEIGHT, 0.0, 0.0, 0.0] for k in range(len(rovers))]
    return build_model(rovers, poses, extra_xml=floor, **options)


def changed(folder, *changes, name="wheeled"):
    """A shipped body with some text replaced; its path."""
    text = (BODIES / f"{name}.urdf").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "rover.urdf"
    path.write_text(text)
    return str(path)
