"""Meshes of OBJ and STL files, as parts of a URDF."""

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import RobotWarning, SandlotError
from sandlot.robots.urdf import parse_urdf
from urdf_text import collision, link, robot

CUBE = """
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 4 3 2 1\nf 5/1 6/2 7/3 8//1\nf 1 2 6 5\nf -6 -5 -1 -2\nf 3 4 8 7\nf 4 1 5 8
"""


def write_stl(name, folder):
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    file = folder / name
    if name == "text.stl":
        rows = (" ".join(["vertex {} {} {}".format(*corners[k]) for k in face]) for face in faces)
        facets = "".join(f"facet normal 0 0 0 outer loop {row} endloop endfacet\n" for row in rows)
        file.write_text(f"solid x\n{facets}endsolid")
    else:
        rows = [struct.pack("<12fH", 0, 0, 0, *np.ravel([corners[k] for k in face]), 0) for face in faces]
        file.write_bytes(b"solid but binary".ljust(80) + struct.pack("<I", 4) + b"".join(rows))


def mesh(folder, name, scale="1 1 1", density=1.0):
    text = robot(link("a", collision(f"<mesh filename='{name}' scale='{scale}'/>")))
    return parse_urdf(text, "r.urdf", folder, density).links["a"]


@pytest.mark.parametrize("scale", ["2 1 1", "-2 1 1"])
def test_obj_files_are_read_and_may_be_mirrored(tmp_path, scale):
    (tmp_path / "cube.OBJ").write_text(CUBE)
    found = mesh(tmp_path, "cube.OBJ", scale)
    assert found.inertial.mass == pytest.approx(2.0)
    assert np.abs(found.inertial.centre) == pytest.approx([1.0, 0.5, 0.5])
    assert np.diag(found.inertial.inertia) == pytest.approx(2.0 * np.array([2.0, 5.0, 5.0]) / 12.0)
    shape = found.collision[0]
    assert shape.faces.shape == (12, 3)
    # Triangles of a mirrored mesh must face outwards, so that they enclose a positive volume.
    assert np.linalg.det(shape.vertices[shape.faces]).sum() / 6.0 == pytest.approx(2.0)


@pytest.mark.parametrize("name", ["text.stl", "binary.stl"])
def test_stl_files_are_read(tmp_path, name):
    write_stl(name, tmp_path)
    found = mesh(tmp_path, name, density=6.0)
    assert found.inertial.mass == pytest.approx(1.0)
    assert found.inertial.centre == pytest.approx([0.25, 0.25, 0.25])
    assert found.inertial.inertia == pytest.approx(np.full((3, 3), 1 / 80) + np.eye(3) * (3 / 40 - 1 / 80))
    assert found.collision[0].vertices.shape == (4, 3)


def test_packages_are_found_in_the_folders_above(tmp_path):
    folder = tmp_path / "robots" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "robots" / "cube.obj").write_text(CUBE)
    assert mesh(folder, "package://robots/cube.obj").inertial.mass == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("no.obj", None, r'^r.urdf: link "a": <collision>: mesh file "no.obj" was not found$'),
        ("x.dae", "", r'mesh "x.dae" is of a kind that is not read; allowed: .obj, .stl$'),
        ("", None, "names no file$"),
        ("empty.obj", "", 'mesh "empty.obj" holds no triangles'),
        ("words.obj", "v a b c", "holds no triangles"),
        ("short.obj", "v 1 2\nv 1 2 3\nf 1 2 1", "holds no triangles"),
        ("beyond.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4", "a corner that does not exist"),
        ("digits.obj", f"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 {'1' * 51}", "holds no triangles"),
        ("infinite.obj", "v 0 0 0\nv 1 0 0\nv 0 inf 0\nf 1 2 3", "holds no triangles"),
        ("large.obj", "v 0 0 0\nv 1 0 0\nv 0 1e9 0\nf 1 2 3", "reaches beyond 1e\\+06"),
        ("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3", "the mesh is flat"),
        ("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3", "the mesh is flat"),
        ("words.stl", "solid vertex a b c", "holds no triangles"),
    ],
)
def test_mistakes_in_a_mesh_are_named(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SandlotError, match=message):
        mesh(tmp_path, name)


def test_a_scale_of_zero_is_refused(tmp_path):
    (tmp_path / "cube.obj").write_text(CUBE)
    with pytest.raises(SandlotError, match="<mesh> has a scale of 0"):
        mesh(tmp_path, "cube.obj", "1 0 1")


@settings(max_examples=60)
@given(st.binary(max_size=300), st.sampled_from(["a.obj", "a.stl"]), st.booleans())
def test_any_bytes_are_a_mesh_or_refused(tmp_path_factory, noise, name, begin):
    folder = tmp_path_factory.getbasetemp()
    (folder / name).write_bytes((CUBE.encode() if name == "a.obj" else b"solid") * begin + noise)
    with np.errstate(all="ignore"), contextlib.suppress(SandlotError):
        assert mesh(folder, name).inertial.mass > 0.0


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("package://husky/meshes/base.dae", "is of a kind that is not read; allowed: .obj, .stl"),
        ("base.stl", "was not found"),
        ("empty.obj", "holds no triangles that can be read"),
    ],
)
def test_visual_meshes_that_cannot_be_read_are_left_out(tmp_path, name, why):
    (tmp_path / "empty.obj").write_text("")
    missing = f"<visual><geometry><mesh filename='{name}'/></geometry></visual>"
    text = robot(link("a", 2 * missing + collision("<sphere radius='1'/>")))
    with pytest.warns(
        RobotWarning, match=f'^2 visual meshes left out of .*: r.urdf: link "a": <visual>: mesh .*{why}'
    ) as got:
        found = parse_urdf(text, "r.urdf", tmp_path).links["a"]
    assert len(got) == 1
    assert found.visual == ()
    assert len(found.collision) == 1


def test_a_visual_mesh_without_a_name_is_a_mistake():
    with pytest.raises(SandlotError, match=r"<mesh> names no file$"):
        parse_urdf(robot(link("a", "<visual><geometry><mesh/></geometry></visual>")))
