"""Scenes on the page."""

from dataclasses import replace

import numpy as np
import pytest

from sandlot.lab.canvas import Canvas, opacity, quaternions
from sandlot.worlds import WORLDS, load
from sandlot.worlds.scene import Area, Lines, Points, Scene, Shape, upright

LOW, HIGH = np.zeros(2), np.full(2, 10.0)


def make_scene(*items):
    return Scene(items, LOW, HIGH, 100)


def box(name, x, colour=(10, 20, 30), size=(1.0, 1.0, 1.0)):
    return Shape(name, "box", size, *upright(x, 0.0), colour)


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_is_drawn_and_moves_without_new_nodes(scene, name):
    world = load(name)()
    world.reset(seed=0)
    canvas = Canvas(scene, "/stage")
    canvas.draw(world.scene(), 0.0)
    added = scene.added
    assert added > 2
    for _ in range(3):
        world.step(np.zeros(world.action_space.shape, world.action_space.dtype))
    canvas.draw(world.scene(), 0.1)
    tiles = [node for node in scene.nodes.values() if node.method == "add_glb" and not node.visible]
    assert scene.added == added + len(tiles)


def test_shapes_of_the_same_form_are_one_mesh(scene):
    canvas = Canvas(scene, "/stage")
    canvas.draw(make_scene(box("a", 0.0), box("b", 3.0, (200, 0, 0)), box("c", 5.0, size=(2.0, 1.0, 1.0))), 0.0)
    meshes = [node for node in scene.nodes.values() if node.method == "add_batched_meshes_simple"]
    assert sorted(len(node.given[3]) for node in meshes) == [1, 2]


def test_what_moves_is_moved_and_what_is_gone_is_removed(scene):
    canvas = Canvas(scene, "/stage")
    canvas.draw(make_scene(box("a", 0.0), Lines("way", np.zeros((1, 2, 3)), (0, 0, 0))), 0.0)
    (mesh,) = [node for node in scene.nodes.values() if node.method == "add_batched_meshes_simple"]
    canvas.draw(make_scene(box("a", 4.0)), 0.1)
    np.testing.assert_array_equal(mesh.batched_positions, [[4.0, 0.0, 0.0]])
    assert not [node for node in scene.nodes.values() if node.method == "add_line_segments"]
    canvas.remove()
    assert not scene.nodes


def test_lines_with_a_height_are_walls(scene):
    ends = np.array([[[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [1, 2, 0]]], float)
    canvas = Canvas(scene, "/stage")
    canvas.draw(make_scene(Lines("walls", ends, ((0, 0, 0), (90, 90, 90)), 1.0, 0.7)), 0.0)
    walls = [node for node in scene.nodes.values() if node.method == "add_mesh_simple"]
    assert len(walls) == 2
    assert {float(node.given[0][:, 2].max()) for node in walls} == {0.7}


def test_flat_items_lie_above_one_another(scene):
    outline = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], float)
    items = (
        Area("one", outline, (1, 2, 3, 100)),
        Points("two", outline, 0.1, (9, 9, 9)),
        Area("three", outline, (0, 0, 0)),
    )
    canvas = Canvas(scene, "/stage")
    canvas.draw(make_scene(*items), 0.0)
    heights = [scene.nodes[f"/stage/{name}"].given[0][0, 2] for name in ("one", "two", "three")]
    assert heights == sorted(heights)
    assert len(set(heights)) == 3
    assert scene.nodes["/stage/one"].opacity == pytest.approx(100 / 255)


def test_quaternions_have_the_scalar_first():
    quarter = upright(0.0, 0.0, 0.0, 0.5 * np.pi)[1]
    np.testing.assert_allclose(quaternions(np.stack([np.eye(3), quarter])), [[1, 0, 0, 0], [0.5**0.5, 0, 0, 0.5**0.5]])


def test_colours_without_opacity_are_opaque():
    assert opacity((1, 2, 3)) is None
    assert opacity((1, 2, 3, 255)) is None


def test_a_scene_looks_at_its_focus_or_its_middle():
    scene = make_scene()
    focus, reach = scene.looked_at
    np.testing.assert_array_equal(focus, [5.0, 5.0, 0.0])
    assert reach == 5.0
    focus, reach = replace(scene, focus=np.array([1.0, np.nan, 2.0]), reach=3.0).looked_at
    np.testing.assert_array_equal(focus, [1.0, 0.0, 2.0])
    assert reach == 3.0
