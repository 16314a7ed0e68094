"""Sensor models on disk: a loaded model predicts the same, and damaged files are explained."""

import functools
import math
import re
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba import config

from fuzzing import damaged
from sandlot.errors import ModelError
from sandlot.models import store
from sandlot.models.card import TrainingData
from sandlot.surrogates.files import KINDS, SUFFIXES, load, save, save_equations
from sandlot.surrogates.local import WIDE, Local
from sandlot.surrogates.sensor_models import Headings, Sectors
from sandlot.surrogates.sensorgraph import Sensorgraph
from square_room import room

SLOW = bool(config.DISABLE_JIT)
MAKE = {
    "local": lambda: Local(2, 4, grids=((60.0, WIDE, WIDE), (45.0, 2.0, 2.0))),
    "sectors": lambda: Sectors(4, 2, 4),
    "headings": lambda: Headings(2, 6),
}
ABSURD = [-1, 0, 1, 2, 3, 99, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, 10**30, 1e308, -1e308, 1e-308, 0.5, math.nan]
ABSURD = [value for value in ABSURD if value == value]  # NaN and infinity cannot be saved
ABSURD += [True, None, "x", "1", [], [[]], {}, [1, 2, 3], [[1.0, 2.0]], "sectors"]
ABSURD_ARRAYS = [
    lambda array: array[:0],
    lambda array: array[:1],
    lambda array: np.concatenate([array, array]),
    lambda array: array.ravel(),
    lambda array: array + 1,
    lambda array: -array,
    lambda array: array.astype(np.float32),
    lambda array: array.astype(np.int64),
    lambda array: np.full_like(array, 10**18),
    lambda array: np.zeros_like(array),
]


def scans(seed=0, count=60):
    return room(seed, count, beams=12, side=3.0)


ASKED = np.concatenate([scans(1, 20).poses, [[99.0, -99.0, -1e-20], [math.nan, math.inf, 1e300], [0.0, 0.0, math.nan]]])


@functools.cache
def fitted(kind):
    model = MAKE[kind]().fit(scans())
    if kind == "local":  # so that cross-validation does not leave one out
        model.grids_ = [*model.grids_, *Local(2, 4, grids=((45.0, 2.0, 2.0),)).fit(scans()).grids_]
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@functools.cache
def stored(kind, folder):
    """A saved model, as plain values and arrays."""
    path = folder / f"stored-{kind}"
    save(fitted(kind), path)
    card, arrays, _ = store.load(path)
    return card, arrays


def rewrite(path, card, arrays, settings=None, **changes):
    """Save a model again with other settings or arrays, by name or by a function of the old one."""
    shutil.rmtree(path, ignore_errors=True)
    card = card.model_copy(update={"settings": card.settings | (settings or {})})
    for name, change in changes.items():
        name = name.replace("__", ".")
        arrays = arrays | {name: change(arrays[name].copy()) if callable(change) else np.asarray(change)}
    store.save(path, card, arrays)
    return path


def survive(path):
    """Loading either raises one line, or gives a model that predicts."""
    with np.errstate(all="ignore"):
        try:
            model = load(path)
        except ModelError:
            return
        # Compiled kernels do not check indices: make sure that they stay within the arrays.
        for grid in getattr(model, "grids_", ()):
            assert grid.model.max() < len(grid.coefficients)
            assert grid.model.size == grid.shape.prod()
        found = model.predict(ASKED)
        assert found.shape == (len(ASKED), model.segments)
        assert not np.isinf(found).any()
        assert model.size >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_predicts_the_same_bit_for_bit(kind, folder):
    path = folder / "deep" / "er" / kind
    model = fitted(kind)
    trained_on = [TrainingData(path="recordings/a", digest="0123", frames=60)]
    save(model, path, trained_on, {"mean absolute error [m]": 0.25}, {"x [m]": (-1.5, 1.5)})
    again = load(path)
    assert type(again) is type(model)
    asked = scans(2, 300).poses
    np.testing.assert_array_equal(again.predict(asked), model.predict(asked))
    for name in ("size", "field_of_view_", "centre_bearing_", "segments"):
        assert getattr(again, name) == getattr(model, name)
    save(again, folder / f"again-{kind}")
    assert (folder / f"again-{kind}" / store.ARRAYS).read_bytes() == (path / store.ARRAYS).read_bytes()
    card = store.load_card(path)
    assert (card.kind, card.trained_on, card.settings["method"]) == ("sensor", tuple(trained_on), kind)
    assert (card.errors, card.valid_ranges) == ({"mean absolute error [m]": 0.25}, {"x [m]": (-1.5, 1.5)})
    assert f"{model.size:,} coefficients" in card.description


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10 if SLOW else 60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_bytes_are_explained_or_harmless(kind, folder, data):
    stored(kind, folder)
    path = folder / "damaged"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(folder / f"stored-{kind}", path)
    file = path / data.draw(st.sampled_from([store.CARD, store.ARRAYS]))
    file.write_bytes(data.draw(damaged(file.read_bytes())))
    survive(path)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15 if SLOW else 120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_absurd_values_are_explained_or_harmless(kind, folder, data):
    card, arrays = stored(kind, folder)
    changed, arrays = dict(card.settings), dict(arrays)
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from([*changed, *arrays]))
        if name in changed:
            changed[name] = data.draw(st.sampled_from(ABSURD))
        else:
            arrays[name] = data.draw(st.sampled_from(ABSURD_ARRAYS))(arrays[name])
    path = folder / "absurd"
    survive(rewrite(path, card, arrays, changed))


def first(value):
    """A change of the first element of an array."""

    def change(array):
        array.flat[0] = value
        return array

    return change


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("local", {"grids__0__shape": [2, 1, 1]}, "model names cells that do not exist"),
        ("local", {"grids__0__shape": [10**6, 10**6, 10**6]}, "shape=.* is not possible"),
        ("local", {"grids__0__shape": [2**32, 2**32, 1]}, "shape=.* is not possible"),
        ("local", {"grids__0__model": first(-1)}, "model names cells that do not exist"),
        ("local", {"grids__0__model": first(10**9)}, "model names cells that do not exist"),
        ("local", {"grids__0__factors": first(3)}, "factors should be from -1 to 2"),
        ("local", {"grids__0__factors": first(-2)}, "factors should be from -1 to 2"),
        ("local", {"grids__0__axes": [[1.0, 0.0]]}, r"axes is float64 of shape \(1, 2\); it should be float64"),
        ("local", {"grids__0__width": first(0.0)}, "width=.* is not possible"),
        ("local", {"grids__0__width": first(1e-300)}, "width=.* is not possible"),
        ("local", {"grids__0__corner": [0.0]}, "corner is float64 of shape"),
        ("local", {"grids__0__limits": np.zeros((0, 2))}, "limits is float64 of shape"),
        ("local", {"fallback": [1.0, 2.0]}, "fallback is float64 of shape"),
        ("local", {"settings": {"grids": 65}}, "grids=65 is not possible"),
        ("local", {"settings": {"grids": 3}}, "the array grids.2.shape is missing"),
        ("local", {"settings": {"field_of_view": -1.0}}, "field_of_view=-1.0 is not possible"),
        ("local", {"settings": {"field_of_view": 1e9}}, "field_of_view=1000000000.0 is not possible"),
        ("local", {"settings": {"segments": 0}}, "segments=0 is not possible"),
        ("local", {"settings": {"segments": 10**9}}, "segments=1000000000 is not possible"),
        ("local", {"settings": {"degree": 2.5}}, "degree=2.5 is not possible"),
        ("local", {"settings": {"degree": 9}}, "degree=9 is not possible; allowed: from 1 to 8"),
        ("local", {"settings": {"method": "global"}}, "method=global is not possible"),
        ("sectors", {"settings": {"groups": 3}}, "coefficients is float64 of shape"),
        ("sectors", {"settings": {"degree": 3}}, "factors is int64 of shape"),
        ("sectors", {"factors": first(2)}, "factors should be from -1 to 1"),
        ("sectors", {"factors": first(-2)}, "factors should be from -1 to 1"),
        ("sectors", {"origin": [0.0]}, "origin is float64 of shape"),
        ("sectors", {"coefficients": [1.0]}, "coefficients is float64 of shape"),
        ("headings", {"factors": first(4)}, "factors should be from -1 to 3"),
        ("headings", {"factors": lambda array: array.astype(np.float64)}, "factors is float64 .* should be int64"),
        ("headings", {"min_ranges": [1.0]}, "min_ranges is float64 of shape"),
    ],
)
def test_values_that_do_not_fit_together_are_named(folder, kind, changes, said):
    path = rewrite(folder / "changed", *stored(kind, folder), **changes)
    with pytest.raises(ModelError, match=said) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert str(error.value).endswith("; `sandlot fit sensor` makes sensor models")


def test_a_model_of_another_kind_is_refused(folder):
    (folder / "gait.toml").write_text('kind = "gait"')
    with pytest.raises(ModelError, match=r"gait.toml: this is a gait of a swimming snake .*not a sensor model"):
        load(folder / "gait.toml")


def test_a_fit_that_found_nothing_is_not_saved(folder):
    few = Local().fit(scans(0, 2))
    zeros = Sectors(1, 1).fit(Sensorgraph(scans().poses, np.zeros((60, 12)), scans().bearings))
    for model in (few, zeros):
        assert model.size == 0
        with pytest.raises(ModelError, match="the fit found no coefficients"):
            save(model, folder / "nothing")
        assert not (folder / "nothing").exists()


@pytest.mark.parametrize("kind", ["sectors", "headings"])
def test_equations_in_python_are_the_model(kind, folder):
    model = fitted(kind)
    path = folder / f"equations-{kind}{SUFFIXES['python']}"
    save_equations(model, path, "python")
    functions = {}
    exec(compile(path.read_text(), str(path), "exec"), functions)
    limits = np.array(re.findall(r"^# segment \d: (\S+) to (\S+) m", path.read_text(), re.MULTILINE), float)
    origin = np.array(re.search(r"at (\S+), (\S+)\.$", path.read_text(), re.MULTILINE).groups(), float)
    asked = scans(2, 20).poses
    found = model.predict(asked)
    for pose, row in zip(asked, found, strict=True):
        values = dict(zip("xycs", [*pose[:2] - origin, math.cos(pose[2]), math.sin(pose[2])], strict=True))
        prefix = f"sector_{model.group(pose[None])[0]}_" if kind == "sectors" else ""
        for segment, value in enumerate(row):
            function = functions[f"{prefix}segment_{segment}"]
            names = function.__code__.co_varnames[: function.__code__.co_argcount]
            said = function(**{name: values[name] for name in names})
            assert min(max(said, limits[segment, 0]), limits[segment, 1]) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize(
    ("form", "word"), [("c", "double sector_3_segment_5("), ("latex", r"r_{3,5} &="), ("text", "")]
)
def test_equations_are_written_in_every_form(form, word, folder):
    path = folder / f"equations{SUFFIXES[form]}"
    save_equations(fitted("sectors"), path, form)
    written = path.read_text()
    assert word in written
    assert written.count({"c": "return", "latex": r"\begin{aligned}", "text": "std error"}[form]) == 4 * 6


def test_a_loaded_model_has_no_equations_to_write(folder):
    stored("sectors", folder)
    with pytest.raises(ModelError, match="a loaded model has no equations to write; fit it again"):
        save_equations(load(folder / "stored-sectors"), folder / "a.py", "python")
