"""What there is to draw of the leveling world: cells of earth, and the agents with what they carry."""

import numpy as np

from sandlot.physics.swarm import HIGH, LOW, MOVED, Swarm
from sandlot.worlds.scene import (
    EARTH_HIGH,
    EARTH_LOW,
    LOAD,
    ROBOT,
    SKY,
    Camera,
    HeightField,
    Item,
    Scene,
    Shape,
    blend,
    upright,
)

UNIT = 0.3
"""Height of a unit of material, as drawn [cell]."""
AGENT, CARRIED = (0.46, 0.46, 0.4), (0.36, 0.36, 0.3)
"""Half the sides of an agent and of the unit on top of it, as drawn [cell]."""
PIXELS = 8
"""Along a side of a cell, seen from above."""
DISTANCE, AZIMUTH, ELEVATION = 2.05, -60.0, 40.0
"""Of the camera: relative to the longer side of the terrain; counter-clockwise from x, above the horizon [degree]."""


def leveling_scene(swarm: Swarm, cycles: int, relief: int) -> Scene:
    """The terrain in cells, brightest at the height ``relief``, and the agents; a metre of the scene is a cell."""
    heights, agents, tally = swarm.heights.astype(np.float64), swarm.agents, swarm.tally
    ny, nx = heights.shape
    colours = blend(EARTH_LOW, EARTH_HIGH, heights / max(relief, 1))
    items: list[Item] = [HeightField("cells", UNIT * heights, 1.0, np.zeros(2), colours, cells=True)]
    for k, agent in enumerate(agents):
        x, y = int(agent["x"]), int(agent["y"])
        top = UNIT * heights[y, x]
        body = Shape(f"agent {k}", "box", AGENT, *upright(x, y, top + AGENT[2]), ROBOT, outlined=False)
        # If the agent carries nothing, its unit is inside it.
        above = 2.0 * AGENT[2] + CARRIED[2] if agent["carrying"] else AGENT[2]
        unit = Shape(f"unit {k}", "box", CARRIED, *upright(x, y, top + above), LOAD, outlined=False)
        items += (body, unit) if agent["carrying"] else (unit, body)
    low, high = np.full(2, -0.5), np.array([nx - 0.5, ny - 0.5])
    middle = np.array([*(0.5 * (low + high)), 0.35 * UNIT * relief])
    loaded = int(agents["carrying"].sum())
    return Scene(
        tuple(items),
        low,
        high,
        PIXELS * max(ny, nx),
        SKY,
        camera=Camera(middle, DISTANCE * max(ny, nx), np.radians(AZIMUTH), np.radians(ELEVATION)),
        caption=f"{cycles:,} cycles   highest minus lowest cell: {int(tally[HIGH] - tally[LOW])} units   "
        f"{int(tally[MOVED]):,} moved   {loaded} of {agents.size} agents loaded",
        legend=(("agent", ROBOT), ("carried unit", LOAD), ("high ground", EARTH_HIGH), ("low ground", EARTH_LOW)),
    )
