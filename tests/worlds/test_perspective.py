"""Pictures in perspective: what the camera looks at is in the middle, nearer things cover others, light and shadow."""

import numpy as np
import pytest

from sandlot.worlds.meshes import field_mesh, shape_triangles
from sandlot.worlds.perspective import in_perspective
from sandlot.worlds.scene import Area, Camera, HeightField, Lines, Points, Scene, Shape, upright

RED, BLUE, GREEN, WHITE = (255, 0, 0), (0, 0, 255), (0, 200, 0), (255, 255, 255)


def camera(azimuth=-90.0, elevation=20.0, distance=10.0, target=(0.0, 0.0, 0.0)):
    return Camera(np.array(target), distance, np.radians(azimuth), np.radians(elevation), size=(120, 80))


def drawn(*items, **where):
    return in_perspective(Scene(items, np.zeros(2), np.ones(2), 100, WHITE), camera(**where))


def ball(x=0.0, y=0.0, z=0.0, colour=RED, radius=0.5):
    return Shape(f"ball {colour}", "sphere", (radius,), *upright(x, y, z), colour)


def hue(picture, colour):
    """Where a colour is, in any light: (rows, columns)."""
    strongest = int(np.argmax(colour))
    others = np.delete(picture.astype(int), strongest, axis=2)
    return (picture[..., strongest] > 60) & (others.max(axis=2) < 0.5 * picture[..., strongest])


def test_the_target_is_in_the_middle():
    rows, columns = np.nonzero(hue(drawn(ball(3.0, 2.0, 1.0), target=(3.0, 2.0, 1.0)), RED))
    assert rows.mean() == pytest.approx(39.5, abs=1.0)
    assert columns.mean() == pytest.approx(59.5, abs=1.0)
    # A ball of radius 0.5 at a distance of 10, with a field of view of 0.6 over 80 rows.
    assert np.ptp(columns) + 1 == pytest.approx(80 * 0.5 / (10.0 * np.tan(0.3)), rel=0.08)


def test_x_is_to_the_right_of_who_looks_along_y():
    _, columns = np.nonzero(hue(drawn(ball(1.0)), RED))
    assert columns.mean() > 65


def test_nearer_things_cover_others_in_any_order():
    near, far = ball(y=-2.0), ball(y=2.0, colour=BLUE)
    for items in ((near, far), (far, near)):
        picture = drawn(*items, elevation=1.0)
        assert hue(picture, RED).any()
        assert not hue(picture, BLUE).any()


@pytest.mark.parametrize(
    ("kind", "size", "volume"),
    [
        ("box", (2.0, 1.0, 0.5), 8.0),
        ("sphere", (2.0,), 4.0 / 3.0 * np.pi * 8.0),
        ("cylinder", (2.0, 0.5), 4.0 * np.pi),
        ("ellipsoid", (3.0, 1.0, 2.0), 4.0 / 3.0 * np.pi * 6.0),
        ("capsule", (1.0, 2.0), np.pi * 4.0 + 4.0 / 3.0 * np.pi),
    ],
)
def test_triangles_of_a_shape_enclose_its_volume_and_face_outwards(kind, size, volume):
    points, faces = shape_triangles(Shape("it", kind, size, *upright(0.0, 0.0), RED))
    a, b, c = (points[faces[:, k]] for k in range(3))
    assert (a * np.cross(b, c)).sum() / 6.0 == pytest.approx(volume, rel=0.06)


def field(**changes):
    plain = np.full((40, 40, 3), 150, np.uint8)
    given = {"name": "ground", "heights": np.zeros((40, 40)), "spacing": 0.5, "corner": np.full(2, -9.75)}
    return HeightField(**given | {"colours": plain} | changes)


def test_a_shape_casts_a_shadow_on_the_ground():
    ground, above = field(), ball(z=1.0)
    with_ball, without = (drawn(*items, elevation=50.0).astype(int) for items in ((ground, above), (ground,)))
    darker = (without - with_ball).min(axis=2) > 20
    assert darker.sum() > 20
    assert (darker & ~hue(with_ball.astype(np.uint8), RED)).any()


def test_ground_that_wraps_goes_on_at_the_other_edge():
    middle = np.array([9.0, 0.0])
    for wraps, most in ((True, 14.0), (False, 9.75)):
        points = field_mesh(field(wrap=wraps), middle, 5.0).points
        assert points[:, 0].max() == pytest.approx(most, abs=1.0)
    heights = np.random.default_rng(0).random((40, 40))
    found = field_mesh(field(wrap=True, heights=heights), middle, 5.0).points
    for x, y, z in found[:: len(found) // 20]:
        row, column = round((y + 9.75) / 0.5) % 40, round((x + 9.75) / 0.5) % 40
        assert z == heights[row, column]


def test_slopes_towards_the_light_are_brighter():
    y, x = np.mgrid[:40, :40].astype(float)
    # The light comes from the left of the camera and from behind it.
    towards, away = (
        drawn(field(heights=sign * 0.2 * (x + y)), elevation=60.0, target=(0.0, 0.0, sign * 8.0))[30:50, 50:70].mean()
        for sign in (1, -1)
    )
    assert towards > away + 15


def test_lines_points_and_areas_are_drawn():
    lines = Lines("line", np.array([[[-1.5, 0.0, 1.0], [1.5, 0.0, 1.0]]]), RED, 4.0)
    points = Points("points", np.array([[-1.0, 0.0, 0.0]]), 0.3, BLUE)
    area = Area("area", np.array([[0.0, -1.0, 0.0], [2.0, -1.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), (*GREEN, 128))
    picture = drawn(area, points, lines)
    assert hue(picture, RED).any()
    assert hue(picture, BLUE).any()
    half = picture[40, 75].astype(int)
    assert half[1] > half[0] > 100, "half transparent on white"
    detail = Points("grains", np.zeros((1, 3)), 2.0, RED, detail=True)
    nowhere = Shape("ball", "sphere", (1.0,), np.full(3, np.nan), np.eye(3), RED)
    assert (drawn(detail, nowhere) == 255).all()


def test_what_begins_behind_the_camera_is_drawn_where_it_is_before_it():
    floor = Shape("floor", "box", (1.0, 200.0, 0.1), *upright(0.0, 0.0, -0.1), RED)
    assert hue(drawn(floor), RED)[-1].any()
