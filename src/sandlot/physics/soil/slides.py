"""Slopes steeper than the angle of repose slide.

A node that has changed is queued. A step checks some of the queued nodes, so that a slide takes time, and a step costs
no more on a large terrain than on a small one.
"""

import math

from sandlot.kernels import kernel
from sandlot.physics.soil.ground import Ground, add_soil, enqueue, is_held, node_at

REPOSE_TOLERANCE = 1e-2
"""Slopes that exceed the tangent of the angle of repose by no more than this fraction do not slide."""


@kernel(error_model="numpy", allocates=False)
def slide(ground: Ground, repose: float, step: float, max_nodes: int) -> None:
    """Check queued nodes, and let soil slide from and to them.

    Args:
        ground: Changed in place.
        repose: Tangent of the angle of repose.
        step: Number of the step; nodes that a body touches in it, or above which it is in its rut, do not slide.
        max_nodes: Check no more nodes than this.
    """
    nodes, ring, queue = ground.nodes, ground.ring, ground.queue
    ny, nx, wrap = ground.ny, ground.nx, ground.wrap
    straight, diagonal = repose * ground.spacing, math.sqrt(2.0) * repose * ground.spacing
    for _ in range(min(max_nodes, queue["count"])):
        here = ring[queue["first"]]
        queue["first"] = queue["first"] + 1 if queue["first"] + 1 < len(ring) else 0
        queue["count"] -= 1
        ground.queued[here] = False
        node = nodes[here]
        if is_held(node, step):
            continue
        i = here // nx
        j = here - i * nx
        inside = 0 < i < ny - 1 and 0 < j < nx - 1
        for di in range(-1, 2):
            for dj in range(-1, 2):
                there = here + di * nx + dj if inside else node_at(i + di, j + dj, ny, nx, wrap)
                if there < 0:
                    continue
                other = nodes[there]
                stable = straight if di == 0 or dj == 0 else diagonal
                fall = node["height"] - other["height"]
                if abs(fall) > (1.0 + REPOSE_TOLERANCE) * stable and not is_held(other, step):
                    amount = math.copysign(0.5 * (abs(fall) - stable), fall)
                    add_soil(node, -amount)
                    add_soil(other, amount)
                    enqueue(ground, here)
                    enqueue(ground, there)
