"""The statistics, against SciPy, by hand, and by counting."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sandlot.studies.statistics import Comparison, compare, holm, mean_interval, together

values = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
p_values = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)
counts = st.lists(st.integers(1, 9), min_size=1, max_size=12).map(lambda sample: np.array(sample, np.float64))
"""Few different values, so that there are ties."""


@given(st.lists(values, min_size=2, max_size=30), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_interval_is_students(sample, confidence):
    found = mean_interval(sample, confidence)
    if np.ptp(sample) > 0.0:
        low, high = stats.t.interval(confidence, len(sample) - 1, np.mean(sample), stats.sem(sample))
    else:  # SciPy has no interval of no width.
        low = high = sample[0]
    size = np.abs(sample).max()
    assert found.mean == pytest.approx(np.mean(sample), rel=1e-12, abs=1e-12 * size)
    assert found.low == pytest.approx(low, rel=1e-9, abs=1e-9 * size)
    assert found.high == pytest.approx(high, rel=1e-9, abs=1e-9 * size)
    assert found.low <= found.mean <= found.high


def test_the_interval_by_hand():
    # Mean 3, standard deviation sqrt(2.5), t(0.975; 4) = 2.776 from any table.
    found = mean_interval([1, 2, 3, 4, 5])
    assert found.mean == 3.0
    assert found.high - 3.0 == pytest.approx(2.776 * np.sqrt(2.5 / 5), rel=2e-4)
    assert 3.0 - found.low == pytest.approx(found.high - 3.0)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_covers_as_often_as_it_says(confidence):
    samples = np.random.default_rng(0).normal(10.0, 3.0, (800, 5))
    intervals = [mean_interval(sample, confidence) for sample in samples]
    covered = sum(each.low <= 10.0 <= each.high for each in intervals)
    least, most = stats.binom.interval(0.9999, 800, confidence)
    assert least <= covered <= most


def test_a_single_value_has_no_width():
    found = mean_interval([4.0])
    assert (found.mean, found.low, found.high) == (4.0, 4.0, 4.0)


def test_holm_by_hand():
    # In order: 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which may not be below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.4, 0.6]) == pytest.approx([0.8, 0.8])
    assert holm([0.9, 0.8, 0.7]) == pytest.approx([1.0, 1.0, 1.0])


@given(p_values)
def test_holm_keeps_its_promises(p):
    p, corrected = np.array(p), holm(p)
    assert (corrected >= p).all()
    assert (corrected <= 1.0).all()
    assert (corrected <= np.minimum(p * p.size, 1.0) * (1 + 1e-12)).all(), "never stricter than Bonferroni"
    assert (np.diff(corrected[np.argsort(p, kind="stable")]) >= 0.0).all()


@given(p_values, st.randoms())
def test_holm_does_not_depend_on_the_order(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    np.testing.assert_array_equal(holm(np.array(p)[order]), holm(p)[order])


def test_one_test_needs_no_correction():
    assert holm([0.03]) == pytest.approx([0.03])


@given(counts, counts)
def test_the_effect_is_the_share_of_pairs_won(group, base):
    (found,) = compare({"base": base, "group": group}, "base", "cycles")
    won = sum((a > b) + 0.5 * (a == b) for a, b in itertools.product(group, base))
    assert found.effect == pytest.approx(won / (group.size * base.size), rel=1e-12)
    assert found.ratio == pytest.approx(np.mean(group) / np.mean(base), rel=1e-12)


@given(counts, counts)
def test_a_single_comparison_has_the_p_of_mann_and_whitney(group, base):
    (found,) = compare({"group": group, "base": base}, "base", "cycles")
    assert found.p == pytest.approx(stats.mannwhitneyu(group, base).pvalue, rel=1e-12)
    (turned,) = compare({"group": group, "base": base}, "group", "cycles")
    assert turned.p == pytest.approx(found.p)
    assert turned.effect == pytest.approx(1.0 - found.effect)


def test_the_p_by_enumeration():
    group, base = np.array([1.0, 4.0, 9.0]), np.array([2.0, 3.0, 5.0, 6.0])
    (found,) = compare({"group": group, "base": base}, "base", "cycles")

    def wins(chosen, others):
        return sum(a > b for a, b in itertools.product(chosen, others))

    both = np.concatenate([group, base])
    splits = [set(each) for each in itertools.combinations(both, group.size)]
    middle = group.size * base.size / 2
    extreme = abs(wins(group, base) - middle)
    as_extreme = sum(abs(wins(each, set(both) - each) - middle) >= extreme for each in splits)
    assert found.p == pytest.approx(as_extreme / len(splits))


def test_several_comparisons_are_corrected_together():
    rng = np.random.default_rng(0)
    groups = {name: rng.normal(mean, 1.0, 20) for name, mean in [("a", 10), ("b", 10.8), ("c", 11), ("d", 10.2)]}
    found = compare(groups, "a", "cycles")
    assert [each.group for each in found] == ["b", "c", "d"]
    assert {(each.baseline, each.quantity) for each in found} == {("a", "cycles")}
    alone = [stats.mannwhitneyu(groups[name], groups["a"]).pvalue for name in "bcd"]
    np.testing.assert_allclose([each.p for each in found], holm(alone))


@pytest.mark.parametrize(
    ("p", "effect", "above", "below"),
    [(0.01, 0.9, True, False), (0.01, 0.1, False, True), (0.2, 0.9, False, False), (0.2, 0.1, False, False)],
)
def test_above_and_below_need_significance_and_the_right_side(p, effect, above, below):
    found = Comparison("group", "base", "cycles", 1.0, p, effect)
    assert (found.above(), found.below()) == (above, below)


def test_a_baseline_of_nothing():
    base, group = np.zeros(5), np.ones(5)
    (found,) = compare({"base": base, "group": group}, "base", "slip")
    assert found.ratio == math.inf
    assert found.above()
    (same,) = compare({"base": base, "group": base}, "base", "slip")
    assert math.isnan(same.ratio)
    assert not same.above()
    assert not same.below()


def test_tests_of_one_claim_are_corrected_for_their_number():
    tests = [Comparison("a", "b", "q", 1.0, p, 0.5) for p in (0.02, 0.5, 0.01)]
    assert [test.p for test in together(tests)] == pytest.approx([0.04, 0.5, 0.03])
    assert together([]) == []
