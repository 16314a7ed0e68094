"""The study of rival sensor models: its claims about made-up results, and a small run."""

import io
import sys

import numpy as np
import pytest

from claims import synthetic
from sandlot.errors import MissingExtraError
from sandlot.studies.indoor.rivals import Rivals
from sandlot.studies.indoor.shared import METHODS
from sandlot.studies.runner import run

WRONG = {"sectors": 0.3, "headings": 0.4, "local": 0.1, "scans": 0.7, "lookup": 0.6, "net": 0.5}
WRONG |= {"large net": 0.2, "map": 0.03}
SIZES = {"sectors": 300, "headings": 200, "local": 320, "scans": 12600, "lookup": 47600, "net": 358}
SIZES |= {"large net": 133121, "map": 5000}


def likely(job, method=None):
    """Errors of six segments that differ clearly by method, and slightly by log."""
    return np.full(6, WRONG[method or job["method"]] * (1.0 + 0.01 * job["replicate"]))


def made_up(study, **changes):
    outcomes = {
        "error": likely,
        "fitted_error": likely,
        "spearman": lambda _: np.full(6, 0.95),
        "size": lambda job: SIZES[job["method"]],
    }
    return synthetic(study, **outcomes | changes)


def failing(study=None, **changes):
    """Claims that do not hold."""
    study = study or Rivals()
    claims = study.claims(made_up(study, **changes))
    assert len(claims) == 3 * len(study.plans) + 4
    return [claim for claim in claims if not claim.holds]


@pytest.mark.parametrize(
    ("missing", "methods"), [("sklearn", ["local", "net"]), ("sklearn", ["large net"]), ("threadpoolctl", ["local"])]
)
def test_a_missing_extra_is_named_before_the_first_job(monkeypatch, missing, methods):
    study = Rivals(methods=methods)
    study.check()
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"needs {missing}; .*sandlot\[learn\]"):
        study.check()


def test_methods_without_nets_do_not_need_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    Rivals(methods=["local", "map"]).check()


def test_all_claims_hold_for_likely_results():
    assert failing() == []


def in_arena(**methods):
    """Likely errors, except that in the arena some methods have the errors of others."""
    return lambda job: likely(job, methods.get(job["method"].replace(" ", "_")) if job["plan"] == "arena" else None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"error": in_arena(large_net="map")}, ["many small", "ray casting"]),
        ({"error": in_arena(lookup="local")}, ["many small", "source's models are"]),
        ({"error": in_arena(sectors="net")}, ["source's models are"]),
        ({"error": in_arena(map="large net")}, ["ray casting"]),
        ({"error": lambda job: 4.0 * likely(job)}, ["than the source's models were"]),
        ({"spearman": lambda job: np.array([0.95] * 5 + [0.8])}, ["correlate"]),
        ({"size": lambda job: SIZES[job["method"]] + 100 * (job["method"] == "local")}, ["the small net"]),
        ({"size": lambda job: 1.0}, ["the table of whole scans", "the small net"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    found = failing(**changes)
    assert len(found) == len(words)
    assert all(word in claim.text for word, claim in zip(words, found, strict=True))


def test_the_note_names_the_methods_for_which_a_claim_fails():
    (claim,) = failing(error=in_arena(lookup="sectors", net="sectors"))
    assert "Fails for: lookup (p = 1), net (p = 1)" in claim.note
    assert claim.note.endswith("On the logs that it is fitted to, sectors has 31.4 cm")


def test_one_log_is_not_significant():
    assert len(failing(Rivals(replicates=1))) == 6


def test_claims_about_missing_methods_are_left_out():
    study = Rivals(plans=("cluttered",), methods=("lookup", "net"))
    assert study.claims(made_up(study)) == []
    assert [(test.group, test.baseline) for test in study.comparisons(made_up(study))] == [("net", "lookup")]
    alone = Rivals(methods=("map",))
    assert alone.comparisons(made_up(alone)) == []


def test_all_methods_are_compared():
    assert Rivals().methods == tuple(METHODS)


def test_methods_share_logs_but_replicates_and_plans_do_not():
    study = Rivals(samples=50, validation=10)
    log, asked = study.logs("arena", 0)
    again, _ = study.logs("arena", 0)
    assert (len(log), len(asked)) == (50, 20)
    np.testing.assert_array_equal(log.ranges, again.ranges)
    others = [study.logs("arena", 1)[0], study.logs("cluttered", 0)[0], Rivals(samples=50, seed=1).logs("arena", 0)[0]]
    places = [graph.poses[0].tolist() for graph in (log, asked, *others)]
    assert len({tuple(place) for place in [*places, asked.poses[10].tolist()]}) == 6


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    small = Rivals(
        samples=60, validation=15, replicates=2, methods=("sectors", "headings", "local", "scans", "lookup", "map")
    )
    return run(small, tmp_path_factory.mktemp("rivals"), workers=1)


def test_a_small_run_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert [claim.text.split()[0] for claim in outcome.claims] == ["In"] * 4 + ["Readable"]
    assert len(study.comparisons(results)) == 10
    pictures = list(study.scenes(results))
    assert "measured on this machine while the page was written" in pictures[0].caption
    for figure in [study.figure(results), *(picture.figure for picture in pictures)]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_outcomes_are_in_range(outcome):
    results = outcome.results
    assert results["error"].shape == results["spearman"].shape == (24, 6)
    assert np.all((results["error"] > 0.0) & (results["error"] < 15.0))
    assert np.all(np.abs(results["spearman"]) <= 1.0)
    assert np.all(results["size"].values[results["method"].values == "scans"] == 60 * 9)
    assert np.all(results["size"].values[results["method"].values == "lookup"] == 60 * (3 + 31))


def test_a_repeated_job_gives_the_same_values(outcome):
    job = list(outcome.study.jobs())[-3]
    for name, value in outcome.study.run(job).items():
        np.testing.assert_array_equal(value, outcome.results[name].values[job.index])
