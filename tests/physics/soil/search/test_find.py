"""The nodes that a shape touches: all of them, and no others."""

import numpy as np
import pytest

from sandlot.physics import shapes
from sandlot.physics.soil.search.find import drop_covered, find
from sandlot.physics.soil.search.nodes import RELEASE_GAP
from sandlot.physics.soil.search.samples import MAX_SAMPLES
from soil_patches import NO_MESH, SLOW, SPACING, STEP, columns, found, level, new_mesh, new_patches, shape_at
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


def samples_of(kind, rotation):
    """At how many points across a cell `find` searches a shape; None if that depends on its size."""
    if kind == shapes.MESH:
        return 3
    upright = abs(rotation[2, 2]) < shapes.STEEP
    flat = max(abs(rotation[2, 0]), abs(rotation[2, 1])) < shapes.STEEP
    sideways = abs(rotation[2, 1]) < shapes.STEEP < abs(rotation[2, 2])
    if (kind == shapes.BOX and flat) or (kind == shapes.CYLINDER and upright) or (kind == shapes.TRACK and sideways):
        return 1
    return None


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(("kind", "size"), SHAPES.values(), ids=SHAPES)
def test_every_node_that_a_shape_touches_is_found(kind, size, wrap):
    mesh = new_mesh(*twin.box_mesh(size)) if kind == shapes.MESH else NO_MESH
    seen = 0
    for seed in range(4 if SLOW else 8):
        rng = np.random.default_rng([seed, kind])
        ground = level(14, 16, SPACING, wrap)
        ground.nodes["undeformed"] += rng.uniform(0.0, 0.03, len(ground.nodes))
        ground.nodes["sinkage"] += rng.choice([0.0, 0.02], len(ground.nodes))
        ground.nodes["loose"] += rng.choice([0.0, 0.02], len(ground.nodes))
        ground.nodes["height"] = ground.nodes["undeformed"] - ground.nodes["sinkage"] + ground.nodes["loose"]
        pos = rng.uniform([-0.2, -0.2, -0.01], [0.2, 0.2, 0.06])
        # Every other one stands upright, as wheels and tracks do.
        rotation = twin.turned(rng)
        if seed % 2:
            rotation = twin.turned(rng, 0.15) @ twin.about(0, np.pi / 2.0 if kind == shapes.CYLINDER else 0.0)
        index, contact = found(ground, kind, size, pos, rotation, mesh)
        ground.nodes["contact"] = 0.0
        answers = []
        wanted = samples_of(kind, rotation)
        for samples in range(1, MAX_SAMPLES + 1) if wanted is None else [wanted]:

            def lowest(x, y, pos=pos, rotation=rotation, samples=samples):
                if kind != shapes.MESH:
                    return shapes.lowest(kind, size, *twin.line(pos, rotation, x, y), SPACING / samples)
                below = np.zeros((1, 1))
                shapes.lowest_mesh(mesh.points @ rotation.T + pos, mesh.faces, x, y, SPACING, below)
                return below[0, 0], 1.0 if below[0, 0] < np.inf else 0.0

            rows = twin.find(ground, lowest, samples, in_part=wanted != 1)
            if kind in (shapes.SPHERE, shapes.CAPSULE) and len(rows):
                rows = twin.centred(ground, rows, kind, size, pos, rotation)
            answers.append(rows)
        # How many points are searched depends on the size of the part of the shape that is low enough.
        agree = [
            np.array_equal(index, each[:, 0])
            and columns(contact, "x", "y", "z", "covered") == pytest.approx(each[:, 1:], abs=1e-9)
            for each in answers
        ]
        assert any(agree)
        seen += len(index)
    assert seen > 30


def test_the_lowest_of_several_shapes_touches_a_node():
    ground = level()
    patches, records = new_patches(ground, 400), []
    ground.queue["highest"] = 0.0
    for z in (0.04, 0.03, 0.045):
        records.append(shape_at(shapes.BOX, (0.05, 0.05, 0.05), (0.0, 0.0, z), np.eye(3)))
    both, end = np.stack(records), 0
    for k in (2, 1, 0):
        both[k]["patch_start"] = end
        end += find(ground, both[k], NO_MESH, patches, end, STEP)
        both[k]["patch_end"] = end
    left = drop_covered(both, patches)
    assert (both["patch_end"] - both["patch_start"]).tolist() == [0, left, 0]
    assert np.unique(patches.indices[:left]).size == left > 20
    assert patches.contact["z"][:left] == pytest.approx(np.full(left, -0.02))


@pytest.mark.parametrize("offset", [0.0, 0.3, 0.5, 0.7])
def test_the_covered_area_of_a_mesh_does_not_depend_on_where_its_edges_lie(offset):
    size, ground = (0.043, 0.037, 0.05), level(21, 21)
    mesh = new_mesh(*twin.box_mesh(size))
    shape = shape_at(shapes.MESH, size, (offset * SPACING, 0.6 * offset * SPACING, 0.04), np.eye(3), mesh)
    shape["samples"], ground.queue["highest"] = 6, 0.0
    patches = new_patches(ground, 400)
    count = find(ground, shape, mesh, patches, 0, STEP)
    assert patches.contact["covered"][:count].sum() * SPACING**2 == pytest.approx(4.0 * size[0] * size[1], rel=0.06)


def test_touched_nodes_stay_touched_until_the_body_is_off_by_the_release_gap():
    for lift, expected in ((-1e-6, 99), (0.5 * RELEASE_GAP, 40), (1.5 * RELEASE_GAP, 0)):
        ground = level()
        ground.nodes["contact"][:40] = STEP - 1.0
        index = found(ground, shapes.BOX, (1.0, 1.0, 0.05), (0.0, 0.0, 0.05 + lift), np.eye(3))[0]
        assert len(index) == expected


def test_only_as_many_nodes_are_found_as_there_is_room_for():
    everything = found(level(), shapes.BOX, (0.05, 0.05, 0.05), np.zeros(3), np.eye(3))[0]
    few = found(level(), shapes.BOX, (0.05, 0.05, 0.05), np.zeros(3), np.eye(3), room=5)[0]
    assert len(everything) > 5
    assert np.array_equal(few, everything[:5])


@pytest.mark.parametrize("pos", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 0.2), (1e9, 1e9, 0.0)])
def test_a_shape_beside_or_above_the_ground_touches_nothing(pos):
    assert len(found(level(), shapes.BOX, (0.05, 0.05, 0.05), pos, np.eye(3))[0]) == 0
