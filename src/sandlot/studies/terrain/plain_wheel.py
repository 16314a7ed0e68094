"""A plain model of a wheel on soil, in which each choice of Project Chrono's soil contact model can be made alone.

The wheel moves and turns at given speeds and is free to sink. Every node under it is pressed down to the wheel; its
normal stress is elastic up to yield and Bekker's from there on, with damping; its shear stress is that of Janosi and
Hanamoto, up to the limit of Mohr and Coulomb. Stresses act along the normal of level ground. There are no rims, and
no soil slides.
"""

import math
from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.soil.kinds import SoilParameters
from sandlot.studies.terrain.bullet_rays import BELOW, ray_end
from sandlot.typing import Array

GRAVITY = 9.81
"""[m/s^2]"""
RAY_REACH = 0.02
"""No ray ends so far from the wheel [m]: none is cast at nodes that are farther away."""


class PlainWheel(NamedTuple):
    """Radius [m], width [m], load [N], speed [m/s] and angular speed [rad/s] of a wheel."""

    radius: float
    width: float
    load: float
    speed: float
    turning: float


class Choices(NamedTuple):
    """What differs between this soil and Project Chrono's; all true is Chrono's.

    Attributes:
        summed: Shear grows with the sum of the distances slipped since first contact, and acts against the present
            slip. Otherwise the mobilised shear is a vector that turns with the slip.
        full: A cell that is touched counts in full. Otherwise, cells at the sides count as far as the wheel covers
            them.
        rays: The level of the wheel above a node is where a ray of `bullet_rays` ends. Otherwise it is exact.
    """

    summed: bool
    full: bool
    rays: bool


@kernel(error_model="numpy", allocates=False)
def mobilised(before: float, speed: float, dt: float, reach: float, summed: bool) -> tuple[float, float]:
    """Shear of a node after a step, and the fraction of the shear strength that it mobilises against the motion.

    Args:
        before: Distance slipped so far [m] if ``summed``, or else the fraction mobilised.
        speed: Of slip [m/s].
        dt: Length of the step [s].
        reach: Janosi and Hanamoto's shear displacement [m].
        summed: Of `Choices`.
    """
    way = abs(speed) * dt
    side = 1.0 if speed >= 0.0 else -1.0
    if summed:
        return before + way, side * (1.0 - math.exp(-(before + way) / reach))
    left = math.exp(-way / reach)
    after = before * left + side * (1.0 - left)
    return after, after


@kernel(error_model="numpy")
def drive_wheel(
    wheel: PlainWheel, soil: SoilParameters, choices: Choices, nodes: Array, spacing: float, dt: float, steps: int
) -> tuple[float, float]:
    """Drive a wheel, from x = 0 on; returns mean sinkage [m] and drawbar pull [N] in the second half of the drive.

    Args:
        wheel: Its dimensions and speeds.
        soil: Parameters of the soil, without cohesion and with kc = 0.
        choices: Chrono's choices to make.
        nodes: (columns, rows, 4) level, plastic sinkage [m], yield stress [Pa] and shear of nodes, which are 0 at
            first; the first column is at x = -radius, the rows are symmetric about y = 0.
        spacing: Distance of nodes [m].
        dt: Time step [s].
        steps: Number of steps.
    """
    rows, half = nodes.shape[1], 0.5 * wheel.width
    x, z, sinking, sinkage, pull = 0.0, wheel.radius, 0.0, 0.0, 0.0
    for step in range(steps):
        up, along = 0.0, 0.0
        for i in range(math.ceil(x / spacing), math.floor((x + 2.0 * wheel.radius) / spacing) + 1):
            ahead = i * spacing - wheel.radius - x
            exact = z - math.sqrt(max(wheel.radius * wheel.radius - ahead * ahead, 0.0))
            for j in range(rows):
                node, beside = nodes[i, j], (j - 0.5 * (rows - 1)) * spacing
                level = exact
                if choices.rays:
                    if math.hypot(ahead, z + node[1]) > wheel.radius + RAY_REACH:
                        continue
                    level = z + ray_end(wheel.radius, half, ahead, beside, node[0] - BELOW - z)
                stress = soil.elastic * (-level - node[1])
                if not stress >= 0.0:  # also of rays that miss
                    continue
                # Chrono takes the velocity where the ray ended in the step before.
                slip = wheel.speed + wheel.turning * ((node[0] if choices.rays else level) - z)
                node[0] = level
                node[3], share = mobilised(node[3], slip, dt, soil.shear, choices.summed)
                if stress > node[2]:
                    stress = soil.kphi * max(-level, 0.0) ** soil.exponent
                    node[1], node[2] = -level - stress / soil.elastic, stress
                stress -= soil.damping * (sinking - wheel.turning * ahead)
                covered = 1.0 if choices.full else min(max((half - abs(beside)) / spacing + 0.5, 0.0), 1.0)
                up += covered * spacing * spacing * stress
                along -= covered * spacing * spacing * stress * soil.friction * share
        sinking += dt * GRAVITY * (up / wheel.load - 1.0)
        z += dt * sinking
        x += dt * wheel.speed
        if step >= steps // 2:
            sinkage += (wheel.radius - z) / (steps - steps // 2)
            pull += along / (steps - steps // 2)
    return sinkage, pull


def plain_drive(
    wheel: PlainWheel, soil: SoilParameters, choices: Choices, spacing: float, dt: float, steps: int
) -> tuple[float, float]:
    """Mean sinkage [m] and drawbar pull [N] of a wheel on untouched soil; arguments as of `drive_wheel`."""
    columns = math.ceil((2.0 * wheel.radius + wheel.speed * dt * steps) / spacing) + 2
    nodes = np.zeros((columns, 2 * math.floor(0.5 * wheel.width / spacing + 1e-9) + 1, 4))
    sinkage, pull = drive_wheel(wheel, soil, choices, nodes, spacing, dt, steps)
    return float(sinkage), float(pull)
