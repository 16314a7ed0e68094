"""Sensor models in files: what is kept is all that matters, and no damage crashes what reads it."""

import copy
import functools
import json
import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba import config

from fuzzing import damaged
from sandlot.errors import SandlotError
from sandlot.surrogates.files import KINDS, SUFFIXES, load, save, save_equations
from sandlot.surrogates.local import WIDE, Local
from sandlot.surrogates.sensor_models import Headings, Sectors
from sandlot.surrogates.sensorgraph import Sensorgraph

SLOW = bool(config.DISABLE_JIT)
MAKE = {
    "local": lambda: Local(2, 4, grids=((60.0, WIDE, WIDE), (45.0, 2.0, 2.0))),
    "sectors": lambda: Sectors(4, 2, 4),
    "headings": lambda: Headings(2, 6),
}
ABSURD = [-1, 0, 1, 2, 3, 99, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, 10**30, 1e308, -1e308, 1e-308, 0.5, math.nan]
ABSURD += [math.inf, True, None, "x", "1", [], [[]], {}, [1, 2, 3], [[1.0, 2.0]], "sectors"]


def room(seed=0, count=60):
    rng = np.random.default_rng(seed)
    poses = rng.uniform((-1.5, -1.5, -math.pi), (1.5, 1.5, math.pi), (count, 3))
    bearings = ((np.arange(12) + 0.5) / 12 - 0.5) * math.pi
    cos, sin = np.cos(poses[:, 2:] + bearings), np.sin(poses[:, 2:] + bearings)
    ranges = np.minimum((np.copysign(3.0, cos) - poses[:, :1]) / cos, (np.copysign(3.0, sin) - poses[:, 1:2]) / sin)
    return Sensorgraph(poses, ranges, bearings)


ASKED = np.concatenate([room(1, 20).poses, [[99.0, -99.0, -1e-20], [math.nan, math.inf, 1e300], [0.0, 0.0, math.nan]]])


@functools.cache
def fitted(kind):
    model = MAKE[kind]().fit(room())
    if kind == "local":  # so that cross-validation does not leave one out
        model.grids_ = [*model.grids_, *Local(2, 4, grids=((45.0, 2.0, 2.0),)).fit(room()).grids_]
    return model


@functools.cache
def text(kind, folder):
    save(fitted(kind), folder / f"{kind}.json")
    return (folder / f"{kind}.json").read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def survive(path, content):
    """Whatever is in the file: one line, or a model that can be asked."""
    path.write_bytes(content)
    with np.errstate(all="ignore"):
        try:
            model = load(path)
        except SandlotError:
            return
        # Compiled kernels do not check that they stay within arrays: first make sure that they would.
        for grid in getattr(model, "grids_", ()):
            assert grid.model.max() < len(grid.coefficients)
            assert grid.model.size == grid.shape.prod()
        found = model.predict(ASKED)
        assert found.shape == (len(ASKED), model.segments)
        assert not np.isinf(found).any()
        assert model.size >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_predicts_the_same_to_the_last_bit(kind, folder):
    path = folder / "deep" / "er" / f"{kind}.json"
    model = fitted(kind)
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    asked = room(2, 300).poses
    np.testing.assert_array_equal(again.predict(asked), model.predict(asked))
    assert (again.size, again.spread_, again.middle_, again.segments) == (
        model.size,
        model.spread_,
        model.middle_,
        model.segments,
    )
    save(again, folder / "again.json")
    assert (folder / "again.json").read_bytes() == path.read_bytes()


def test_files_of_before_said_the_same_of_every_segment_where_nothing_is_known(folder):
    path = folder / "before.json"
    path.write_text(json.dumps(json.loads(text("local", folder)) | {"usual": 2.5}))
    assert load(path).usual_.tolist() == [2.5] * 6


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10 if SLOW else 60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_bytes_are_explained_or_harmless(kind, folder, data):
    survive(folder / "damaged.json", data.draw(damaged(text(kind, folder))))


def places(value, path=()):
    """The path to everything in JSON."""
    yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value[:3]):
            yield from places(each, (*path, key))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15 if SLOW else 120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_absurd_values_are_explained_or_harmless(kind, folder, data):
    content = json.loads(text(kind, folder))
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from([path for path in places(content) if path]))
        place = content
        for key in way:
            place = place[key]
        place[last] = copy.deepcopy(data.draw(st.sampled_from(ABSURD)))
    survive(folder / "absurd.json", json.dumps(content).encode())


@pytest.mark.parametrize(
    ("changes", "grid"),
    [
        ({"shape": [2, 1, 1]}, True),
        ({"shape": [10**6, 10**6, 10**6]}, True),
        ({"shape": [2**32, 2**32, 1]}, True),
        ({"cells": [-1]}, True),
        ({"cells": [10**9]}, True),
        ({"factors": [[[3, 0]]]}, True),
        ({"factors": [[[-2, 0]]]}, True),
        ({"axes": [[1.0, 0.0]]}, True),
        ({"width": [0.0, 1.0, 1.0]}, True),
        ({"width": [1e-300, 1.0, 1.0]}, True),
        ({"corner": [0.0]}, True),
        ({"limits": []}, True),
        ({"grids": 65 * [{}]}, False),
        ({"grids": None}, False),
        ({"usual": None}, False),
        ({"usual": [1.0, 2.0]}, False),
        ({"spread": -1.0}, False),
        ({"spread": 1e9}, False),
        ({"segments": 0}, False),
        ({"segments": 10**9}, False),
        ({"degree": 2.5}, False),
        ({"kind": "global"}, False),
        ({"format": "sandlot"}, False),
    ],
)
def test_what_does_not_fit_together_is_refused(folder, changes, grid):
    content = json.loads(text("local", folder))
    (content["grids"][0] if grid else content).update(changes)
    path = folder / "changed.json"
    path.write_text(json.dumps(content))
    with pytest.raises(SandlotError, match=r"changed.json is not a sensor model, or is damaged; `sandlot fit sensor`"):
        load(path)


@pytest.mark.parametrize("kind", ["sectors", "headings"])
@pytest.mark.parametrize(
    "changes",
    [{"groups": 3}, {"factors": [[[[4, 0]]]]}, {"lowest": [1.0]}, {"coefficients": [1.0]}, {"degree": 3}, {"kind": []}],
)
def test_polynomials_that_do_not_fit_together_are_refused(folder, kind, changes):
    path = folder / "changed.json"
    path.write_text(json.dumps(json.loads(text(kind, folder)) | changes))
    with pytest.raises(SandlotError, match="not a sensor model"):
        load(path)


@pytest.mark.parametrize(
    ("kind", "way", "value"),
    [
        ("local", ("grids", 0, "factors", 0, 0, 0), 3),
        ("local", ("grids", 0, "factors", 0, 0, 0), -2),
        ("local", ("grids", 0, "cells", 0), -1),
        ("local", ("grids", 0, "cells", 0), 10**6),
        ("local", ("grids", 0, "coefficients", 0, 0), math.nan),
        ("local", ("grids", 0, "corner", 0), math.inf),
        ("local", ("limits", 0), math.nan),
        ("sectors", ("factors", 0, 0, 0, 0), 2),
        ("sectors", ("factors", 0, 0, 0, 0), -2),
        ("sectors", ("origin",), [0.0]),
        ("headings", ("factors", 0, 0, 0, 0), 4),
        ("headings", ("highest", 0), math.inf),
    ],
)
def test_one_number_that_leads_astray_is_refused(folder, kind, way, value):
    content = json.loads(text(kind, folder))
    place = content
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    path = folder / "astray.json"
    path.write_text(json.dumps(content))
    with pytest.raises(SandlotError, match="not a sensor model"):
        load(path)


def test_other_mistakes_are_explained(folder):
    with pytest.raises(SandlotError, match=r"cannot read a sensor model from .*none.json: No such file"):
        load(folder / "none.json")
    with pytest.raises(SandlotError, match="Is a directory"):
        load(folder)
    newer = folder / "newer.json"
    newer.write_text(json.dumps(json.loads(text("sectors", folder)) | {"version": 2}))
    with pytest.raises(SandlotError, match="written by a newer Sandlot; this one reads version 1"):
        load(newer)
    (folder / "deep.json").write_text("[" * 100_000)
    with pytest.raises(SandlotError, match="not a sensor model"):
        load(folder / "deep.json")
    with pytest.raises(SandlotError, match="cannot write"):
        save(fitted("sectors"), newer / "below.json")


@pytest.mark.parametrize("kind", ["sectors", "headings"])
def test_equations_in_python_are_the_model(kind, folder):
    model = fitted(kind)
    path = folder / f"equations{SUFFIXES['python']}"
    save_equations(model, path, "python")
    functions = {}
    exec(compile(path.read_text(), str(path), "exec"), functions)
    limits = np.array(re.findall(r"^# segment \d: (\S+) to (\S+) m", path.read_text(), re.MULTILINE), float)
    origin = np.array(re.search(r"at (\S+), (\S+)\.$", path.read_text(), re.MULTILINE).groups(), float)
    asked = room(2, 20).poses
    found = model.predict(asked)
    for pose, row in zip(asked, found, strict=True):
        values = dict(zip("xycs", [*pose[:2] - origin, math.cos(pose[2]), math.sin(pose[2])], strict=True))
        prefix = f"heading_{model.group(pose[None])[0]}_" if kind == "sectors" else ""
        for segment, value in enumerate(row):
            function = functions[f"{prefix}segment_{segment}"]
            names = function.__code__.co_varnames[: function.__code__.co_argcount]
            said = function(**{name: values[name] for name in names})
            assert min(max(said, limits[segment, 0]), limits[segment, 1]) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize(
    ("form", "word"), [("c", "double heading_3_segment_5("), ("latex", r"r_{3,5} &="), ("text", "")]
)
def test_equations_are_written_in_every_form(form, word, folder):
    path = folder / f"equations{SUFFIXES[form]}"
    save_equations(fitted("sectors"), path, form)
    written = path.read_text()
    assert word in written
    assert written.count({"c": "return", "latex": r"\begin{aligned}", "text": "std error"}[form]) == 4 * 6


def test_a_model_from_a_file_has_no_equations_to_write(folder):
    text("sectors", folder)
    with pytest.raises(SandlotError, match="does not know its equations; fit it again"):
        save_equations(load(folder / "sectors.json"), folder / "a.py", "python")
