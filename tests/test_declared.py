"""Settings that are refused before anything is imported are those that the models refuse, with the same words."""

import runpy
from pathlib import Path

import pytest

from sandlot import declared
from sandlot.errors import SandlotError, SettingError
from sandlot.settings import build

MODELS = runpy.run_path(str(Path(__file__).parents[1] / "docs/reproduction.py"))["models"]()
ODD = ("moon", "", -1, 0, 0.5, 3, 1e9, True, [], [1], [1.5, 2.5], ["moon"], [[1, 2]], {}, {"moon": 1}, {"kind": "moon"})
WORDS = ("soft", "wheeled", "tracked", "units", "arena", "2", "yes", ["wheeled", "moon"])


def said(refuse, *given):
    try:
        refuse(*given)
    except SettingError as error:
        return str(error)
    return None


def test_the_schemas_are_up_to_date():
    assert declared.FILE.read_text(encoding="utf-8") == declared.declare(MODELS), "make docs-pages writes it"


def test_what_is_refused_early_is_refused_by_the_model_in_the_same_words():
    seen = set()
    for name, model in MODELS.items():
        for key, field in model.model_fields.items():
            if (about := repr(field)) in seen:  # many studies have the same settings
                continue
            seen.add(about)
            inner = [{part: odd} for part in getattr(field.annotation, "model_fields", ()) for odd in ODD]
            for value in (*ODD, *WORDS, *inner):
                early = said(declared.check_values, name, {key: value})
                assert early in (None, said(build, model, {key: value})), (name, key, value)


@pytest.mark.parametrize("name", MODELS)
def test_unknown_settings_and_those_of_another_type_are_refused_early(name):
    assert said(declared.check, name, {"moon": 1}) == said(build, MODELS[name], {"moon": 1})
    assert said(declared.check, name, {"moon": 1}).startswith("no setting 'moon'; ")
    assert said(declared.check, name, {"seeds" if name.startswith("study") else "sed": 1})


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("world terrain", "soil", "nowhere.toml"),
        ("world terrain", "rovers", "nowhere.toml"),
        ("world terrain", "rovers", ["wheeled", "nowhere.toml"]),
        ("world terrain", "motion_model", "nowhere"),
        ("world indoor", "plan", "nowhere.toml"),
        ("world indoor", "model", "nowhere"),
        ("train rover", "rover", "nowhere.toml"),
    ],
)
def test_files_and_models_that_do_not_exist_are_refused_early(name, key, value):
    with pytest.raises(SandlotError, match="nowhere"):
        declared.check(name, {key: value})


def test_files_that_exist_are_not_refused(tmp_path):
    plan = tmp_path / "mine.toml"
    plan.touch()
    declared.check("world indoor", {"plan": str(plan)})


def test_other_names_have_no_schema():
    declared.check("study of.mine", {"moon": 1})
