"""Compiles or loads all kernels that a rover needs, before it listens.

Compiling takes seconds, in which no other thread of Python runs.
"""

import numpy as np

from sandlot.control.navigation.avoiding import load_avoider
from sandlot.control.navigation.navigator import Navigator
from sandlot.control.navigation.near import Avoidance
from sandlot.control.navigation.pilot import Pilot
from sandlot.control.navigation.precise import PreciseManeuvers
from sandlot.link.modes import new_map
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings

SECONDS = 8.0
"""Of a simulated drive [s]."""


def warm_up() -> None:
    """Let a simulated rover turn, and drive to a waypoint."""
    driver, _ = simulate(IndoorSettings(robot="tracked", plan="apartment", start=(3.0, 1.6, 1.57)), seed=1)
    PreciseManeuvers(driver).turn(0.3)
    avoidance = Avoidance(load_avoider())
    avoidance.avoider.act(np.ones((1, int(avoidance.avoider.net.sizes[0]))))
    pilot = Pilot(driver, Navigator(new_map(), avoidance=avoidance))
    pilot.navigator.go_to(1.0, 0.5)
    for _ in pilot.run(SECONDS):
        pass
    pilot.navigator.set_mode("autonomous")
    for _ in pilot.run(0.5):
        pass
