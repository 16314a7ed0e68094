"""The list of studies that needs no import of them is that of the studies as they are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandlot.errors import SettingError
from sandlot.studies import all_studies, find
from sandlot.studies.base import STUDIES, study
from sandlot.studies.catalogue import Entry, catalogue, entry, in_words, module_of
from toy_study import Toy

RESULTS = Path(__file__).parents[2] / "docs/results"


def kept(name):
    file = RESULTS / f"{name}.json"
    summary = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
    return (summary["wall_time"], summary["jobs"]) if summary else None


def test_the_list_is_up_to_date():
    expected = [entry(cls, kept(name)) for name, cls in all_studies().items()]
    assert list(catalogue().values()) == expected, "make docs-pages writes it"


def test_a_wrong_name_imports_nothing_heavy():
    code = "import sys\nfrom sandlot.studies import find\n"
    code += "try: find('leveling.memetics')\nexcept Exception as error: print(error)\n"
    code += "print(*{'numba', 'scipy', 'xarray', 'matplotlib', 'mujoco'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["no study 'leveling.memetics'; did you mean 'leveling.memetic'?", ""]


def test_a_study_that_a_program_registers_is_found(monkeypatch):
    monkeypatch.setitem(STUDIES, "toy.sum", None)
    mine = study("toy.sum", source="a test")(type("Mine", (Toy,), {"__doc__": "Does it?", "__module__": __name__}))
    assert catalogue()["toy.sum"] == Entry("toy.sum", __name__, "Does it?", "a test")
    assert find("toy.sum") is mine


def test_a_study_that_is_not_listed_yet_is_found_in_the_sources(monkeypatch):
    listed = {name: each for name, each in catalogue().items() if name != "leveling.memetic"}
    monkeypatch.setattr("sandlot.studies.catalogue._shipped", lambda: listed)
    monkeypatch.setattr("sandlot.studies.base.STUDIES", {})
    assert module_of("leveling.memetic") == "sandlot.studies.leveling"
    assert module_of("leveling.memetics") is None
    assert module_of("elsewhere.memetic") is None
    with pytest.raises(SettingError, match="no study"):
        find("leveling.memetics")
    monkeypatch.setattr("sandlot.studies.MODULES", ("sandlot.studies.elsewhere",))
    assert module_of("elsewhere.memetic") == "sandlot.studies.elsewhere", "its package is imported to find out"


@pytest.mark.parametrize(
    ("seconds", "words"), [(None, "?"), (0.2, "1 s"), (89.0, "89 s"), (840.0, "14 min"), (5400.0, "1.5 h")]
)
def test_durations_in_words(seconds, words):
    assert in_words(seconds) == words


def test_the_expected_time_grows_with_the_jobs():
    assert Entry("a.b", "m", "?", "s", 60.0, 30).expected(10) == 20.0
    assert Entry("a.b", "m", "?", "s").expected(10) is None
