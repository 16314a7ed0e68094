"""Height fields in tiles."""

import numpy as np
import pytest

from sandlot.lab.ground import AT_ONCE, BELOW, HIDDEN, NOTICED, TILE, Ground
from sandlot.worlds.scene import HeightField

SPACING = 0.01
MIDDLE = np.zeros(3)


def make_field(shape=(4 * TILE, 3 * TILE), wrap=False):
    rng = np.random.default_rng(0)
    heights = 0.01 * rng.random(shape)
    corner = -0.5 * SPACING * (np.array(shape[::-1]) - 1)
    return HeightField("ground", heights, SPACING, corner, np.full((*shape, 3), 150, np.uint8), wrap)


def press(field, rows, columns, depth=0.01):
    heights = field.heights.copy()
    heights[rows, columns] -= depth
    return HeightField("ground", heights, SPACING, field.corner, field.colours, field.wrap)


def shown(scene):
    """Names of the tiles that can be seen, without those that lie below another."""
    return {
        name
        for name, node in scene.nodes.items()
        if node.method == "add_glb" and node.visible and getattr(node, "position", (0.0, 0.0, 0.0))[2] == 0.0
    }


def test_all_tiles_are_drawn_at_first(scene):
    field = make_field()
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 1.0, 0.0)
    assert ground.sent == len(shown(scene)) == 12


def test_only_tiles_that_changed_are_sent_again(scene):
    field = make_field()
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 1.0, 0.0)
    before = ground.sent
    ground.draw(field, MIDDLE, 1.0, 1.0)
    assert ground.sent == before
    ground.draw(press(field, slice(10, 20), slice(10, 20)), MIDDLE, 1.0, 2.0)
    assert ground.sent == before + 1


def test_changes_too_small_to_see_add_up(scene):
    field = make_field()
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 1.0, 0.0)
    before, small = ground.sent, 0.6 * NOTICED * SPACING
    ground.draw(press(field, 5, 5, small), MIDDLE, 1.0, 1.0)
    assert ground.sent == before
    ground.draw(press(field, 5, 5, 2.0 * small), MIDDLE, 1.0, 2.0)
    assert ground.sent == before + 1


def test_a_new_tile_replaces_the_old_one_when_a_browser_has_read_it(scene):
    field = make_field()
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 1.0, 0.0)
    pressed = press(field, 5, 5)
    ground.draw(pressed, MIDDLE, 1.0, 1.0)
    assert "/ground/0 0/1" in shown(scene)
    assert "/ground/0 0/2" not in shown(scene)
    ground.settle(1.0 + 0.9 * HIDDEN)
    assert "/ground/0 0/1" in shown(scene)
    ground.settle(1.0 + 1.1 * HIDDEN)
    assert "/ground/0 0/1" not in shown(scene)
    assert "/ground/0 0/2" in shown(scene)
    assert scene.nodes["/ground/0 0/1"].visible  # below, for browsers that have not read the new one yet
    ground.settle(1.0 + 1.1 * (HIDDEN + BELOW))
    assert not scene.nodes["/ground/0 0/1"].visible
    ground.draw(press(pressed, 5, 5), MIDDLE, 1.0, 2.0)
    assert not scene.nodes["/ground/0 0/1"].visible
    ground.settle(2.0 + 1.1 * HIDDEN)
    assert "/ground/0 0/1" in shown(scene)


def test_when_all_changes_tiles_near_the_focus_come_first(scene):
    field = make_field((8 * TILE, 8 * TILE))
    ground = Ground(scene, "/ground", field)
    focus = np.array([*(field.corner + 0.5 * TILE * SPACING), 0.0])
    ground.draw(field, focus, 0.3, 0.0)
    before = ground.sent
    ground.draw(press(field, slice(None), slice(None)), focus, 0.3, 1.0)
    assert ground.sent == before + AT_ONCE
    assert "/ground/0 0/2" in scene.nodes
    assert "/ground/7 7/2" not in scene.nodes


def test_no_tile_waits_forever(scene):
    field = make_field((4 * TILE, 4 * TILE))
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 1.0, 0.1)
    for k in range(1, 16 // AT_ONCE + 1):
        field = press(field, slice(None), slice(None))
        ground.draw(field, MIDDLE, 1.0, k * 2.0 * HIDDEN)
    assert all(f"/ground/{i} {j}/2" in scene.nodes for i in range(4) for j in range(4))


def test_tiles_that_wait_are_drawn_while_nothing_new_comes(scene):
    field = make_field()
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 1.0, 0.1)
    ground.draw(press(field, slice(None), slice(None)), MIDDLE, 1.0, 1.0)
    assert ground.sent == 12 + AT_ONCE
    for k in range(1, 12 // AT_ONCE + 3):
        ground.settle(1.0 + k * HIDDEN)
    assert ground.sent == 24
    assert shown(scene) == {f"/ground/{i} {j}/2" for i in range(4) for j in range(3)}


def test_without_a_limit_no_tile_waits(scene):
    field = make_field()
    ground = Ground(scene, "/ground", field, at_once=None)
    ground.draw(field, MIDDLE, 1.0, 0.1)
    ground.draw(press(field, slice(None), slice(None)), MIDDLE, 1.0, 1.0)
    assert ground.sent == 24


def test_a_tile_that_changes_while_it_is_prepared_is_drawn_again(scene):
    field = make_field()
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 1.0, 0.1)
    pressed = press(field, 5, 5)
    ground.draw(pressed, MIDDLE, 1.0, 1.0)
    ground.draw(press(pressed, 5, 5), MIDDLE, 1.0, 1.1)
    assert ground.sent == 13
    ground.settle(1.1 + HIDDEN)
    assert ground.sent == 14


def test_ground_that_wraps_surrounds_the_focus(scene):
    field = make_field(wrap=True)
    ground = Ground(scene, "/ground", field)
    far = np.array([10.0, 10.0, 0.0])
    ground.draw(field, far, 1.0, 0.0)
    period = SPACING * np.array(field.heights.shape[::-1])
    for i in range(4):
        for j in range(3):
            offset = np.array(scene.nodes[f"/ground/{i} {j}"].position[:2])
            np.testing.assert_allclose(offset / period, np.rint(offset / period), atol=1e-9)
            middle = field.corner + SPACING * TILE * (np.array([j, i]) + 0.5) + offset
            assert (np.abs(middle - far[:2]) <= 0.5 * period + 1e-9).all()
    things = np.random.default_rng(1).uniform(-30.0, 30.0, (50, 3))
    placed = ground.nearest(things)
    np.testing.assert_array_equal(placed[:, 2], things[:, 2])
    turns = (placed - things)[:, :2] / period
    np.testing.assert_allclose(turns, np.rint(turns), atol=1e-9)
    middles = np.array(
        [
            field.corner + SPACING * TILE * (np.array([j, i]) + 0.5) + scene.nodes[f"/ground/{i} {j}"].position[:2]
            for i in range(4)
            for j in range(3)
        ]
    )
    off = np.abs(placed[:, None, :2] - middles).max(axis=2).min(axis=1)
    assert (off <= 0.5 * SPACING * TILE + 1e-9).all()  # each is on a tile


@pytest.mark.parametrize("shape", [(8, 8), (61, 122), (150, 70)])
def test_fields_of_any_size_are_covered(scene, shape):
    field = make_field(shape)
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 1.0, 0.0)
    assert len(shown(scene)) == np.prod([-(-(side - 1) // TILE) for side in shape])


def test_cropped_ground_is_hidden_far_away(scene):
    field = make_field((8 * TILE, 8 * TILE))
    ground = Ground(scene, "/ground", field)
    ground.draw(field, MIDDLE, 0.5, 0.0, crop=0.7)
    frames = [node for node in scene.nodes.values() if node.method == "add_frame"]
    assert 0 < sum(frame.visible for frame in frames) < len(frames)
