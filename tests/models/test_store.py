"""Models on disk: they come back unchanged, are written atomically, and every damage gets one line."""

import json
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzing import damaged
from sandlot import writing
from sandlot.errors import ModelError
from sandlot.models import store
from sandlot.models.card import Card, TrainingData
from sandlot.models.store import ARRAYS, CARD, ONNX, find, load, load_card, save, text

CARD_OF_A = Card(
    kind="sensor",
    description='a "laser" in °C',
    trained_on=(TrainingData(path="recordings/a", digest="ab12", frames=7),),
    errors={"mean absolute error [m]": 0.125},
    valid_ranges={"x [m]": (-1.5, 2.0)},
    settings={"segments": 6, "names": ["a", "b"], "nested": {"deep": [1, 2.5, True]}},
)
ARRAYS_OF_A = {
    "weights": np.arange(6.0).reshape(2, 3)[:, ::-1],
    "shape": np.array([3, -1], np.int64),
    "single": np.array(2.5, np.float32),
    "none": np.zeros((0, 4)),
}


@pytest.fixture
def model(tmp_path):
    save(tmp_path / "a", CARD_OF_A, ARRAYS_OF_A)
    return tmp_path / "a"


def test_a_model_comes_back_unchanged(model):
    card, arrays, onnx = load(model)
    assert card.model_copy(update={"content_digest": ""}) == CARD_OF_A
    assert (card.sandlot_version, onnx) == (CARD_OF_A.sandlot_version, b"")
    assert set(arrays) == set(ARRAYS_OF_A)
    for name, values in ARRAYS_OF_A.items():
        np.testing.assert_array_equal(arrays[name], values)
        assert arrays[name].dtype == values.dtype
        assert arrays[name].flags.writeable
    assert sorted(each.name for each in model.parent.iterdir()) == ["a"], "no temporary files remain"
    assert json.loads((model / CARD).read_text())["description"] == CARD_OF_A.description


def test_an_onnx_graph_comes_back_unchanged(tmp_path):
    save(tmp_path / "b", Card(kind="dense"), onnx=b"graph")
    assert (tmp_path / "b" / ONNX).read_bytes() == b"graph"
    assert load(tmp_path / "b").onnx == b"graph"


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_text_file_carries_the_same_card(tmp_path, suffix):
    card = CARD_OF_A.model_copy(update={"kind": "gait"})
    save(tmp_path / f"a{suffix}", card)
    assert load(tmp_path / f"a{suffix}").card == card
    assert load(tmp_path / f"a{suffix}").arrays == {}


NAMES = st.text(max_size=8)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.dictionaries(NAMES.filter(lambda name: name not in Card.model_fields), VALUES, max_size=4))
def test_any_plain_settings_survive_a_text_file(tmp_path, suffix, values):
    (tmp_path / f"a{suffix}").unlink(missing_ok=True)
    try:
        save(tmp_path / f"a{suffix}", Card(kind="gait", settings=values))
    except UnicodeEncodeError:  # lone surrogates are not text
        return
    assert load_card(tmp_path / f"a{suffix}").settings == values


def test_text_of_a_person_needs_only_a_kind(tmp_path):
    (tmp_path / "a.toml").write_text('kind = "gait"\namplitude = 0.5\n')
    card = load_card(tmp_path / "a.toml")
    assert (card.settings, card.sandlot_version, card.format_version) == ({"amplitude": 0.5}, "", 1)


def test_text_without_a_version_says_nothing_about_versions():
    bare = Card(kind="gait", sandlot_version="", settings={"amplitude": 0.5})
    assert text(bare, ".toml") == 'kind = "gait"\namplitude = 0.5\n'
    assert "format_version = 1\n" in text(bare.model_copy(update={"sandlot_version": "1.0"}), ".toml")


def test_a_model_is_never_overwritten(model):
    before = (model / CARD).read_bytes()
    for path in (model, model.with_suffix(".toml")):
        path.parent.joinpath("a.toml").touch()
        with pytest.raises(ModelError, match="already exists; choose another path or remove it first"):
            save(path, Card(kind="gait"))
    assert (model / CARD).read_bytes() == before


@pytest.mark.parametrize("name", ["new", "new.toml"])
def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch, name):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(ModelError, match=rf"cannot write .*{name}: no space left on the disk of "):
        save(tmp_path / name, Card(kind="gait"))
    assert list(tmp_path.iterdir()) == []


def test_a_killed_write_leaves_no_half_model(tmp_path, monkeypatch):
    class KilledError(BaseException):
        pass

    def killed(self, target):
        raise KilledError

    monkeypatch.setattr(writing.Path, "replace", killed)
    with pytest.raises(KilledError):
        save(tmp_path / "a", CARD_OF_A, ARRAYS_OF_A)
    assert find([tmp_path]) == []


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match=r"cannot write .*file/a: Not a directory"):
        save(tmp_path / "file" / "a", Card(kind="dense"), {"a": np.zeros(1)})


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"a": np.array([1.0, np.nan])}, "the array a has NaN or infinity"),
        ({"a": np.array([np.inf], np.float32)}, "the array a has NaN or infinity"),
        ({"a": np.array(["x"])}, "the array a holds <U1; numbers are needed"),
        ({"a": np.array([1j])}, "the array a holds complex128"),
    ],
)
def test_only_finite_numbers_are_saved(tmp_path, arrays, said):
    with pytest.raises(ModelError, match=said):
        save(tmp_path / "a", Card(kind="dense"), arrays)
    assert not (tmp_path / "a").exists()


def test_arrays_do_not_go_into_a_text_file(tmp_path):
    with pytest.raises(ModelError, match=r"a\.json: a model with arrays is a directory; leave out \.json"):
        save(tmp_path / "a.json", Card(kind="dense"), {"a": np.zeros(1)})


def card_text(model, **changes):
    (model / CARD).write_text(json.dumps(json.loads((model / CARD).read_text()) | changes))


def hidden_nan(model):
    arrays = {"a": np.array([np.nan])}
    content = store.safetensors.numpy.save(arrays)
    (model / ARRAYS).write_bytes(content)
    card_text(model, content_digest=store._digest(content))


DAMAGE = {
    "no card": (lambda model: (model / CARD).unlink(), "is not a model: it has no card.json"),
    "no arrays": (lambda model: (model / ARRAYS).unlink(), "cannot read .*arrays.safetensors: No such file"),
    "card cut off": (lambda model: os.truncate(model / CARD, 40), "card.json is not JSON"),
    "arrays cut off": (lambda model: os.truncate(model / ARRAYS, 40), "does not match its card"),
    "nested deeply": (
        lambda model: (model / CARD).write_text("[" * 100_000),
        "card.json .*nested more than",
    ),
    "a list": (lambda model: (model / CARD).write_text("[]"), "card.json should hold a table"),
    "not UTF-8": (lambda model: (model / CARD).write_bytes(b"\xff"), "card.json is not JSON"),
    "NaN in card": (lambda model: card_text(model, errors={"a": float("nan")}), "card.json has NaN, infinity"),
    "NaN in array": (hidden_nan, "the array a has NaN or infinity"),
    "newer": (lambda model: card_text(model, format_version=2), "a newer Sandlot wrote this model; .* reads format 1"),
    "newer with new fields": (lambda model: card_text(model, format_version=2, new=1), "a newer Sandlot wrote this"),
    "unknown kind": (lambda model: card_text(model, kind="sensr"), "no such kind of model; did you mean 'sensor'?"),
    "unknown field": (lambda model: card_text(model, descripton=""), "did you mean 'description'"),
    "wrong field": (lambda model: card_text(model, errors=[1]), "errors=.* is not possible"),
    "directory for arrays": (
        lambda model: ((model / ARRAYS).unlink(), (model / ARRAYS).mkdir()),
        "arrays.safetensors: it is a directory",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_damage_gets_one_line(model, damage):
    change, said = DAMAGE[damage]
    change(model)
    with pytest.raises(ModelError, match=said) as error:
        load(model)
    assert f"{model.parent.name}/{model.name}" in str(error.value), "of a long path, the end is shown"
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300 + len(str(model))


def test_reads_are_bounded(model, monkeypatch):
    monkeypatch.setattr(store, "MAX_CONTENT", 10)
    with pytest.raises(ModelError, match=r"arrays\.safetensors has more than 10 bytes"):
        load(model)
    monkeypatch.setattr(store, "MAX_TEXT", 10)
    with pytest.raises(ModelError, match=r"card\.json has more than 10 bytes"):
        load(model)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(ModelError, match="not a regular file"):
        load(tmp_path / "a.json")


def test_paths_that_are_no_models_are_named(tmp_path):
    (tmp_path / "a.txt").touch()
    (tmp_path / "folder").mkdir()
    for name, said in (
        ("none", "there is no model at .*none; a model is a directory"),
        ("none.toml", r"cannot read .*none\.toml: No such file"),
        ("a.txt", r"a\.txt is not a model; a model is a directory"),
        ("folder", "folder is not a model: it has no card.json"),
    ):
        with pytest.raises(ModelError, match=said):
            load(tmp_path / name)


def test_another_kind_is_refused(model):
    with pytest.raises(
        ModelError, match=r"a: this is a sensor model: .* \(kind=sensor\), not a gait of a swimming snake"
    ):
        load(model, "gait")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_bytes_are_explained_or_harmless(tmp_path, data):
    name = data.draw(st.sampled_from([CARD, ARRAYS, "a.toml"]))
    if not (tmp_path / "a").exists():
        save(tmp_path / "a", CARD_OF_A, ARRAYS_OF_A)
        save(tmp_path / "a.toml", Card(kind="gait", settings={"amplitude": [0.5, 1.0]}))
    file = tmp_path / "a.toml" if name == "a.toml" else tmp_path / "a" / name
    sound = file.read_bytes()
    file.write_bytes(data.draw(damaged(sound)))
    try:
        load(file if name == "a.toml" else file.parent)
    except ModelError:
        pass
    finally:
        file.write_bytes(sound)


def test_an_array_is_checked_before_use(model):
    found = load(model)
    np.testing.assert_array_equal(found.array("weights", (2, None)), ARRAYS_OF_A["weights"])
    for name, shape, dtype, said in (
        ("bias", (2,), np.float64, "the array bias is missing"),
        ("weights", (2,), np.float64, r"weights is float64 of shape \(2, 3\); it should be float64 \(2\)"),
        ("weights", (None, 4), np.float64, r"it should be float64 \(any, 4\)"),
        ("shape", (2,), np.float64, "shape is int64"),
    ):
        with pytest.raises(ModelError, match=said):
            found.array(name, shape, dtype)


def test_find_lists_models_and_nothing_else(tmp_path):
    save(tmp_path / "b" / "model", CARD_OF_A, ARRAYS_OF_A)
    save(tmp_path / "b" / "gait.toml", Card(kind="gait"))
    (tmp_path / "b" / "settings.toml").write_text("seed = 1")
    (tmp_path / "b" / "broken.json").write_text("{")
    (tmp_path / "b" / "list.json").write_text('{"kind": []}')
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "zarr.json").write_text('{"kind": "gait"}')
    (tmp_path / "a" / "gait.json").write_text('{"kind": "gait"}')
    (tmp_path / ".model.partial").mkdir()
    (tmp_path / ".model.partial" / CARD).write_text("{")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / CARD).write_text("{")
    found = [str(path.relative_to(tmp_path)) for path in find([tmp_path])]
    assert found == ["b/gait.toml", "b/model", "c"], "a damaged model is listed, a recording is skipped"
    assert find([tmp_path / "b" / "model"]) == [tmp_path / "b" / "model"]
    assert find([tmp_path / "none"]) == []
