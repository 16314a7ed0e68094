"""Pictures from above: what is drawn lies where the scene says, with its colour and its size."""

import numpy as np
import pytest

from sandlot.geometry.rotations import rotation_matrix
from sandlot.worlds.picture import from_above, silhouette
from sandlot.worlds.scene import Area, HeightField, Lines, Points, Scene, Shape, blend, grid_lines, upright

RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


def scene(*items, low=(-5.0, -5.0), high=(5.0, 5.0), pixels=100):
    return Scene(items, np.array(low), np.array(high), pixels, WHITE)


def pixel(picture, x, y, low=-5.0, high=5.0):
    """The colour at a place of the world."""
    rows = picture.shape[0]
    return tuple(picture[int((high - y) / (high - low) * rows), int((x - low) / (high - low) * rows)].tolist())


def drawn(picture):
    """Area that is not background [m^2]."""
    return 100.0 * float((picture < 128).any(axis=2).mean())


@pytest.mark.parametrize(
    ("kind", "size", "area"),
    [
        ("box", (2.0, 1.0, 0.5), 8.0),
        ("sphere", (2.0,), 4.0 * np.pi),
        ("cylinder", (2.0, 0.5), 4.0 * np.pi),
        ("ellipsoid", (3.0, 1.0, 2.0), 3.0 * np.pi),
        ("capsule", (1.0, 2.0), np.pi),
    ],
)
def test_shapes_have_their_place_colour_and_size(kind, size, area):
    position, rotation = upright(1.0, 2.0)
    picture = from_above(scene(Shape("it", kind, size, position, rotation, RED)))
    assert picture.shape == (100, 100, 3)
    assert pixel(picture, 1.0, 2.0) == RED
    assert pixel(picture, -4.0, -4.0) == WHITE
    assert drawn(picture) == pytest.approx(area, rel=0.1)


def test_a_cylinder_that_lies_down_is_a_rectangle_from_above():
    outline = silhouette(Shape("axle", "cylinder", (0.5, 2.0), np.zeros(3), rotation_matrix(np.pi / 2, 0.0, 0.0), RED))
    assert np.ptp(outline, axis=0) == pytest.approx([1.0, 4.0])


def test_a_mesh_is_drawn_by_its_hull():
    vertices = np.array([(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (0.0, 4.0, 0.0), (1.0, 1.0, 1.0)])
    mesh = Shape("wedge", "mesh", (), np.zeros(3), np.eye(3), BLUE, vertices)
    assert drawn(from_above(scene(mesh))) == pytest.approx(8.0, rel=0.1)


def test_later_items_cover_earlier_ones():
    place = upright(0.0, 0.0)
    low, high = (Shape(str(colour), "sphere", (1.0,), *place, colour) for colour in (RED, BLUE))
    assert pixel(from_above(scene(low, high)), 0.0, 0.0) == BLUE
    assert pixel(from_above(scene(high, low)), 0.0, 0.0) == RED


def test_lines_points_and_areas_are_drawn():
    lines = Lines("line", np.array([[[-4.0, 3.0, 0.0], [4.0, 3.0, 0.0]]]), RED, 3.0)
    points = Points("points", np.array([[0.0, -3.0, 0.0], [2.0, -3.0, 0.0]]), 0.5, (BLUE, RED))
    area = Area("fan", np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]), (*RED, 128))
    picture = from_above(scene(lines, points, area))
    assert pixel(picture, 0.0, 3.0) == RED
    assert pixel(picture, 0.0, -3.0) == BLUE
    assert pixel(picture, 2.0, -3.0) == RED
    assert pixel(picture, 0.0, 0.0) == pytest.approx((255, 127, 127), abs=2), "half transparent"


def test_details_are_left_out():
    points = Points("grains", np.zeros((1, 3)), 2.0, RED, detail=True)
    assert (from_above(scene(points)) == 255).all()


def field(**changes):
    heights = np.zeros((10, 10))
    colours = np.tile(np.array(BLUE, np.uint8), (10, 10, 1))
    colours[:5] = RED
    return HeightField(
        **{"name": "ground", "heights": heights, "spacing": 1.0, "corner": np.full(2, -4.5), "colours": colours}
        | changes
    )


def test_rows_of_a_height_field_go_up_with_y():
    picture = from_above(scene(field()))
    assert pixel(picture, 0.0, -3.0) == RED
    assert pixel(picture, 0.0, 3.0) == BLUE


def test_cells_have_sharp_edges():
    colours = {tuple(each) for each in from_above(scene(field(cells=True))).reshape(-1, 3).tolist()}
    assert colours == {RED, BLUE}


def test_slopes_towards_the_light_are_brighter():
    y, x = np.mgrid[:10, :10].astype(float)
    grey = np.full((10, 10, 3), 120, np.uint8)
    away, towards = (from_above(scene(field(heights=0.5 * sign * (x - y), colours=grey))).mean() for sign in (-1, 1))
    assert towards > away + 20


def test_what_leaves_a_wrapped_map_is_seen_at_the_other_edge():
    ball = Shape("ball", "sphere", (1.0,), np.array([14.9, 0.0, 0.0]), np.eye(3), WHITE)
    picture = from_above(scene(field(wrap=True), ball))
    assert pixel(picture, 4.5, 0.0) == WHITE
    assert pixel(picture, -4.8, 0.0) == WHITE
    assert pixel(from_above(scene(field(), ball)), 4.5, 0.5) != WHITE


def test_a_beacon_beyond_the_edge_is_marked_there():
    place = np.array([40.0, 0.0, 0.0])
    ball = Shape("ball", "sphere", (1.0,), place, np.eye(3), RED, beacon=True)
    assert pixel(from_above(scene(ball)), 4.7, 0.0) == RED
    plain = Shape("ball", "sphere", (1.0,), place, np.eye(3), RED)
    assert (from_above(scene(plain)) == 255).all()


def test_what_is_nowhere_is_not_drawn():
    ball = Shape("ball", "sphere", (1.0,), np.full(3, np.nan), np.eye(3), RED, beacon=True)
    assert (from_above(scene(ball)) == 255).all()


def test_grid_lines_are_at_multiples_of_the_gap():
    lines = grid_lines("grid", np.array([-1.5, -1.0]), np.array([2.5, 1.5]), 1.0, BLUE)
    assert sorted(set(lines.ends[:, 0, 0].tolist()) - {-1.5}) == [-1.0, 0.0, 1.0, 2.0]
    assert sorted(set(lines.ends[4:, 0, 1].tolist())) == [-1.0, 0.0, 1.0]


def test_colours_are_blended_within_their_ends():
    assert blend(RED, BLUE, np.array([-1.0, 0.0, 0.5, 2.0])).tolist() == [
        [255, 0, 0],
        [255, 0, 0],
        [127, 0, 127],
        [0, 0, 255],
    ]
