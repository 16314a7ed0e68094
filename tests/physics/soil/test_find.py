"""The nodes that a shape touches: all of them, and no others."""

import numpy as np
import pytest

from sandlot.physics import shapes
from sandlot.physics.soil.find import RELEASE_GAP, Mesh
from soil_patches import NO_MESH, SLOW, SPACING, STEP, columns, found, level
from twins import soil as twin

SHAPES = {
    "sphere": (shapes.SPHERE, (0.06, 0.0, 0.0)),
    "capsule": (shapes.CAPSULE, (0.04, 0.05, 0.0)),
    "ellipsoid": (shapes.ELLIPSOID, (0.03, 0.05, 0.08)),
    "cylinder": (shapes.CYLINDER, (0.07, 0.03, 0.0)),
    "box": (shapes.BOX, (0.04, 0.06, 0.05)),
    "track": (shapes.TRACK, (0.05, 0.03, 0.03)),
    "mesh": (shapes.MESH, (0.04, 0.06, 0.05)),
}


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(("kind", "size"), SHAPES.values(), ids=SHAPES)
def test_every_node_that_a_shape_touches_is_found(kind, size, wrap):
    mesh = Mesh(*twin.box_mesh(size)) if kind == shapes.MESH else NO_MESH
    seen = 0
    for seed in range(6 if SLOW else 20):
        rng = np.random.default_rng([seed, kind])
        ground = level(14, 16, SPACING, wrap)
        ground.nodes["undeformed"] += rng.uniform(0.0, 0.03, len(ground.nodes))
        ground.nodes["sinkage"] += rng.choice([0.0, 0.02], len(ground.nodes))
        ground.nodes["loose"] += rng.choice([0.0, 0.02], len(ground.nodes))
        pos = rng.uniform([-0.2, -0.2, -0.01], [0.2, 0.2, 0.06])
        # Every other one stands upright, as wheels and tracks do.
        rotation = twin.turned(rng)
        if seed % 2:
            rotation = twin.turned(rng, 0.15) @ twin.about(0, np.pi / 2.0 if kind == shapes.CYLINDER else 0.0)

        def lowest(x, y, pos=pos, rotation=rotation):
            if kind != shapes.MESH:
                return shapes.lowest(kind, size, *twin.line(pos, rotation, x, y), SPACING)
            below = np.zeros((1, 1))
            shapes.lowest_mesh(mesh.points @ rotation.T + pos, mesh.faces, x, y, SPACING, below)
            return below[0, 0], 1.0 if below[0, 0] < np.inf else 0.0

        expected = twin.find(ground, lowest)
        index, contact = found(ground, kind, size, pos, rotation, mesh)
        assert np.array_equal(index, expected[:, 0])
        assert columns(contact, "x", "y", "z", "covered") == pytest.approx(expected[:, 1:], abs=1e-9)
        seen += len(index)
    assert seen > 30


def test_touched_nodes_stay_touched_until_the_body_is_off_by_the_release_gap():
    ground, size = level(), (0.05, 0.05, 0.05)
    ground.nodes["contact"][:40] = STEP - 1.0
    for lift, expected in ((-1e-6, 99), (0.5 * RELEASE_GAP, 40), (1.5 * RELEASE_GAP, 0)):
        index = found(ground, shapes.BOX, (1.0, 1.0, 0.05), (0.0, 0.0, size[2] + lift), np.eye(3))[0]
        assert len(index) == expected


def test_only_as_many_nodes_are_found_as_there_is_room_for():
    ground = level()
    everything = found(ground, shapes.BOX, (0.05, 0.05, 0.05), np.zeros(3), np.eye(3))[0]
    few = found(ground, shapes.BOX, (0.05, 0.05, 0.05), np.zeros(3), np.eye(3), room=5)[0]
    assert len(everything) > 5
    assert np.array_equal(few, everything[:5])


@pytest.mark.parametrize("pos", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 0.2), (1e9, 1e9, 0.0)])
def test_a_shape_beside_or_above_the_ground_touches_nothing(pos):
    assert len(found(level(), shapes.BOX, (0.05, 0.05, 0.05), pos, np.eye(3))[0]) == 0
