"""Floor plans from TOML, images and ROS maps; a wrong file gives one line that says why."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sandlot.errors import SandlotError
from sandlot.places.plan_images import MAX_PIXELS, edges
from sandlot.places.plans import SHIPPED, load_plan, make_plan

TOML = """
shine = 0.1
[[walls]]
points = [[0, 0], [4, 0], [4, 3], [0, 3]]
closed = true
[[walls]]
points = [[2, 0], [2, 1]]
thickness = 0.2
shine = 1.0
[[walls]]
rectangle = [1, 1, 0.5, 0.25]
[[boxes]]
centre = [3, 2]
size = [1, 0.5]
angle = 1.5707963267948966
[[circles]]
centre = [1, 2]
radius = 0.3
shine = 0.5
"""
MAP = (
    "image: map.pgm\nresolution: 0.5\norigin: [-1.0, 2.0, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
)
ROOM = np.array([(1, 1, 1, 1), (1, 0, 0, 1), (1, 1, 1, 1)], np.bool_)


def pgm(walls):
    pixels = np.where(np.flipud(walls), 0, 254).astype(np.uint8)
    return b"P5\n# CREATOR: map_saver\n%d %d\n255\n" % pixels.shape[::-1] + pixels.tobytes()


def ros_map(folder, text=MAP, image=None):
    (folder / "map.yaml").write_text(text)
    (folder / "map.pgm").write_bytes(pgm(ROOM) if image is None else image)
    return folder / "map.yaml"


def as_set(segments):
    return {tuple(sorted([(x, y), (u, v)])) for x, y, u, v in np.round(segments, 9).tolist()}


def test_walls_boxes_and_circles_are_read_from_toml(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(TOML)
    plan = load_plan(path)
    assert as_set(plan.segments[:4]) == {
        ((0, 0), (4, 0)),
        ((4, 0), (4, 3)),
        ((0, 3), (4, 3)),
        ((0, 0), (0, 3)),
    }
    assert as_set(plan.segments[4:8]) == {
        ((1.9, 0), (2.1, 0)),
        ((2.1, 0), (2.1, 1)),
        ((1.9, 1), (2.1, 1)),
        ((1.9, 0), (1.9, 1)),
    }
    assert as_set(plan.segments[12:]) == {
        ((2.75, 1.5), (3.25, 1.5)),
        ((3.25, 1.5), (3.25, 2.5)),
        ((2.75, 2.5), (3.25, 2.5)),
        ((2.75, 1.5), (2.75, 2.5)),
    }
    assert plan.circles.tolist() == [[1.0, 2.0, 0.3]]
    assert plan.shine.tolist() == 4 * [0.1] + 4 * [1.0] + 8 * [0.1] + [0.5]
    assert np.allclose(plan.bounds, [0.0, 0.0, 4.0, 3.0])


def test_a_thick_wall_has_no_notch_at_its_corner(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("[[walls]]\npoints = [[0, 0], [1, 0], [1, 1]]\nthickness = 0.2\n")
    assert np.allclose(load_plan(path).bounds, [0.0, -0.1, 1.1, 1.0])


def test_clearance_is_the_distance_to_the_nearest_wall():
    plan = make_plan([(0, 0, 4, 0)], [(2, 3, 1)])
    assert np.allclose(plan.clearance([(1, 0.5), (-3, -4), (2, 1.5), (2, 2.5)]), [0.5, 5.0, 0.5, -0.5])
    assert plan.clearance((1.0, 0.25)) == 0.25


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[walls]]\npoints = [[0, 0]]", "either a rectangle or at least two points"),
        ("[[walls]]\npoints = [[0, 0], [1]]", "number 1 of the walls: points"),
        ("[[boxes]]\ncentre = [0, 0]\nsize = [1, 0]", "number 1 of the boxes: size"),
        ("[[boxes]]\ncentre = [0, 0]\nsize = [1, 1]\nangel = 1", "did you mean 'angle'"),
        ("[[box]]\ncentre = [0, 0]", "did you mean 'boxes'"),
        ("[[circles]]\ncentre = [0, 0]\nradius = 1\nshine = 2", "shine=2.*at most 1"),
        ("[walls]\npoints = [[0, 0], [1, 1]]", r"write each as \[\[walls\]\]"),
        ("[[walls]]\npoints = [[0, 0], [1e6, 0]]", "within 100000 m"),
        ("shine = 0.5", "0 surfaces"),
        ("walls = 3", "list of tables"),
        ("walls = [3]", "list of tables"),
        ("= 3", "is not TOML"),
        ("walls = " + 5000 * "[" + 5000 * "]", "nested more than 32 deep"),
        ("[[circles]]\ncentre = [0, 0]\nradius = 1" + 400 * "0", "radius"),
    ],
)
def test_mistakes_in_toml_are_explained(tmp_path, text, said):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(SandlotError, match=said) as error:
        load_plan(path)
    assert "plan.toml" in str(error.value)


def test_walls_are_read_from_an_image(tmp_path):
    path = tmp_path / "plan.png"
    Image.fromarray(np.where(np.flipud(ROOM), 0, 255).astype(np.uint8)).save(path)
    found = as_set(load_plan(path, 2.0).segments)
    outside = {((0, 0), (8, 0)), ((8, 0), (8, 6)), ((0, 6), (8, 6)), ((0, 0), (0, 6))}
    inside = {((2, 2), (6, 2)), ((6, 2), (6, 4)), ((2, 4), (6, 4)), ((2, 2), (2, 4))}
    assert found == outside | inside


def test_a_ros_map_is_where_its_origin_says(tmp_path):
    plan = load_plan(ros_map(tmp_path))
    assert plan.bounds.tolist() == [-1.0, 2.0, 1.0, 3.5]
    turned = load_plan(ros_map(tmp_path, MAP.replace("0.0]", "1.5707963267948966]")))
    assert np.allclose(turned.bounds, [-2.5, 2.0, -1.0, 4.0])
    block = MAP.replace("[-1.0, 2.0, 0.0]", "\n- -1.0\n- 2.0\n- 0.0")
    assert as_set(load_plan(ros_map(tmp_path, block)).segments) == as_set(plan.segments)


def test_a_ros_map_knows_walls_floor_and_unknown(tmp_path):
    pixels = np.array([(0, 254, 205), (254, 254, 254)], np.uint8)  # wall, floor, unknown; floor
    image = b"P5 3 2 255\n" + pixels.tobytes()
    plan = load_plan(ros_map(tmp_path, MAP.replace("[-1.0, 2.0, 0.0]", "[0, 0, 0]"), image))
    corners = plan.segments.reshape(-1, 2)
    assert set(corners[:, 0]) == {0.0, 0.5, 1.0, 1.5}
    assert set(corners[:, 1]) == {0.5, 1.0}
    negated = load_plan(ros_map(tmp_path, MAP.replace("negate: 0", "negate: 1"), b"P5 2 1 255\n\x00\xff"))
    assert negated.bounds.tolist() == [-0.5, 2.0, 0.0, 2.5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MAP.replace("0.5\n", "-1\n"), "resolution=-1.*above 0"),
        (MAP.replace("resolution: 0.5\n", ""), "resolution is missing"),
        (MAP.replace("[-1.0, 2.0, 0.0]", "[1, 2]"), "origin"),
        (MAP.replace("[-1.0, 2.0, 0.0]", "[.nan, 2, 0]"), "origin"),
        (MAP.replace("map.pgm", "other.pgm"), "no image at"),
        (MAP + "mode: raw\n", "only trinary"),
        ("just text", "not a map.yaml"),
        ("a: [", "is not YAML"),
        (5000 * "[", "is not YAML"),
        ("a: &a [1, 1]\nb: &b [*a, *a]\nimage: *b\n", "anchors and aliases"),
        ("x" * 100_000, "more than 16,384 bytes"),
    ],
)
def test_mistakes_in_a_ros_map_are_explained(tmp_path, text, said):
    with pytest.raises(SandlotError, match=said):
        load_plan(ros_map(tmp_path, text))


def test_files_that_are_not_images_are_explained(tmp_path):
    path = tmp_path / "plan.png"
    with pytest.raises(SandlotError, match="no image at"):
        load_plan(path)
    path.write_bytes(b"no image")
    with pytest.raises(SandlotError, match="cannot read"):
        load_plan(path)
    with pytest.raises(SandlotError, match="cannot read"):
        load_plan(tmp_path)
    Image.new("RGBA", (3, 3), (0, 0, 0, 0)).save(path)
    with pytest.raises(SandlotError, match="has no walls"):
        load_plan(path)
    side = math.isqrt(MAX_PIXELS) + 1
    (tmp_path / "plan.pgm").write_bytes(b"P5 %d %d 255\n" % (side, side))
    with pytest.raises(SandlotError, match="pixels; allowed"):
        load_plan(tmp_path / "plan.pgm")


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 12), st.floats(0.0, 1.0))
def test_edges_are_those_of_all_pixels(seed, ny, nx, share):
    walls = np.random.default_rng(seed).random((ny, nx)) < share
    padded = np.pad(walls, 1)
    wanted = {(x, y, 0) for y, x in np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1])}
    wanted |= {(x, y, 1) for y, x in np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1])}
    found = []
    for x, y, u, v in edges(walls).astype(int).tolist():
        found += [(k, y, 0) for k in range(x, u)] if y == v else [(x, k, 1) for k in range(y, v)]
    assert len(found) == len(set(found))
    assert set(found) == wanted


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")
    (folder / "plan.toml").write_text(TOML)
    ros_map(folder)
    Image.fromarray(np.where(np.flipud(ROOM), 0, 255).astype(np.uint8)).save(folder / "plan.png")
    return folder


@given(
    st.sampled_from(["plan.toml", "map.yaml", "map.pgm", "plan.png"]),
    st.integers(0, 400),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
)
def test_broken_files_are_explained_in_one_line(folder, name, end, flips):
    whole = (folder / name).read_bytes()
    broken = bytearray(whole if end > len(whole) else whole[:end])
    for place, value in flips:
        if place < len(broken):
            broken[place] = value
    (folder / name).write_bytes(broken)
    said = "fine"
    try:
        plan = load_plan(folder / ("map.yaml" if name == "map.pgm" else name))
        assert np.isfinite(plan.segments).all()
    except SandlotError as error:
        said = str(error)
    finally:
        (folder / name).write_bytes(whole)
    assert "\n" not in said


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_plans_have_their_size(name):
    plan = load_plan(name)
    width, depth = plan.bounds[2:] - plan.bounds[:2]
    sizes = {"arena": 100.0, "cluttered": 100.0, "office": 240.0, "flat": 80.0, "apartment": 80.0, "warehouse": 600.0}
    assert width * depth == pytest.approx(sizes[name], rel=0.02)
    assert len(plan.shine) == len(plan.segments) + len(plan.circles)


def test_equal_plans_have_equal_digests():
    one = make_plan([(0.0, 0.0, 1.0, 0.0)], [(5.0, 5.0, 1.0)], shine=0.5)
    same = make_plan([(0.0, 0.0, 1.0, 0.0), (2.0, 2.0, 2.0, 2.0)], [(5.0, 5.0, 1.0)], shine=0.5)
    assert one.digest == same.digest, "segments of zero length are left out"
    changed = [
        make_plan([(0.0, 0.0, 1.1, 0.0)], [(5.0, 5.0, 1.0)], shine=0.5),
        make_plan([(0.0, 0.0, 1.0, 0.0)], [(5.0, 5.0, 1.1)], shine=0.5),
        make_plan([(0.0, 0.0, 1.0, 0.0)], [(5.0, 5.0, 1.0)], shine=0.4),
        make_plan([(0.0, 0.0, 1.0, 0.0)], [(5.0, 5.0, 1.0)], shine=0.5, floor=[(3.0, 3.0)]),
    ]
    assert len({plan.digest for plan in (one, *changed)}) == 5
