"""The search for a soil, on measurements whose answer is known."""

import numpy as np
import pytest

from sandlot.errors import RecordingError
from sandlot.physics.soil.files import load_soil
from sandlot.surrogates.soil.evidence import Channel, Layout, joined
from sandlot.surrogates.soil.fit import DESIGN, FitSettings, deviations, fit
from sandlot.surrogates.soil.parameters import SHORT, kind_of, parameters_of, standardised_of
from sandlot.surrogates.soil.result import FittedSoil, sentence, unknown_directions

TRUTH = np.array([0.4, 0.3, -0.5, 0.2, 0.6, -0.4, 0.1])
WIDTH = 0.05
QUICK = FitSettings(first=8, rounds=3)


class Linear:
    """Measurements that are linear in some coordinates, with noise."""

    width, frames = WIDTH, 1

    def __init__(self, slopes, noise=0.02, seed=0, truth=TRUTH):
        self.slopes = slopes
        rng = np.random.default_rng(seed)
        self.measured = slopes @ truth + noise * rng.normal(size=len(slopes))
        channels = (Channel("one [m]", 1.0, 1e-4), Channel("two [m]", 1.0, 1e-4))
        self.layout = Layout(channels, np.arange(len(slopes)) % 2, np.arange(len(slopes)) // 2)

    def predict(self, kind):
        return self.slopes @ standardised_of(kind, WIDTH)


def random_slopes(rows, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, len(TRUTH)))


def test_the_design_is_orthogonal():
    assert np.array_equal(DESIGN.T @ DESIGN, 8.0 * np.eye(7))


def test_all_parameters_are_found_where_all_are_measured():
    found = fit([Linear(random_slopes(60))], QUICK)
    assert np.abs(found.best - TRUTH).max() < 0.1
    assert (deviations(found.covariance) < 0.1).all()
    assert unknown_directions(found.covariance) == []


def test_ninety_percent_intervals_cover_about_ninety_percent():
    inside = []
    for seed in range(12):
        found = fit([Linear(random_slopes(60, seed), seed=seed)], QUICK)
        soil, truth = FittedSoil.of(found, WIDTH), parameters_of(TRUTH, WIDTH)
        inside += [low <= truth[name] <= high for name, (low, high) in soil.intervals().items()]
        assert soil.intervals() == soil.intervals()  # their draws have a seed of their own
    assert 0.75 < np.mean(inside) <= 1.0


def test_what_is_not_measured_stays_as_before_and_is_named():
    slopes = random_slopes(60)
    slopes[:, 6] = 0.0  # nothing depends on the elastic stiffness
    slopes[:, 3] = slopes[:, 4]  # and on cohesion only together with friction
    found = fit([Linear(slopes)], QUICK)
    assert deviations(found.covariance)[6] == pytest.approx(1.0, abs=0.05)
    assert abs(found.best[6]) < 0.1
    lines = FittedSoil.of(found, WIDTH).unidentified()
    assert "elastic is not identified" in lines
    together = [line for line in lines if "only together" in line]
    assert len(together) == 1
    assert "cohesion" in together[0]
    assert "friction" in together[0]


def test_parameters_without_any_measurement_are_named_one_by_one():
    """Not as pairs that are identified together: any pair of them would do."""
    slopes = random_slopes(60)
    slopes[:, [3, 4, 5]] = 0.0
    lines = FittedSoil.of(fit([Linear(slopes)], QUICK), WIDTH).unidentified()
    assert lines == [f"{name} is not identified" for name in ("cohesion", "friction", "shear length")]


def test_a_few_diverged_simulations_do_not_stop_the_search():
    class Fragile(Linear):
        def predict(self, kind):
            found = super().predict(kind)
            if standardised_of(kind, WIDTH)[0] > 1.0:
                found[20:] = np.nan
            return found

    assert np.abs(fit([Fragile(random_slopes(60))], QUICK).best - TRUTH).max() < 0.2


def test_results_do_not_depend_on_workers_and_hardly_on_the_seed():
    one = fit([Linear(random_slopes(30))], QUICK)
    two = fit([Linear(random_slopes(30))], QUICK.model_copy(update={"workers": 3}))
    other = fit([Linear(random_slopes(30))], QUICK.model_copy(update={"seed": 1}))
    assert np.array_equal(one.best, two.best)
    assert np.array_equal(one.covariance, two.covariance)
    assert np.abs(one.best - other.best).max() < 0.05


def test_progress_ends_with_all_simulations():
    seen = []
    fit([Linear(random_slopes(30))], QUICK, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (QUICK.evaluations, QUICK.evaluations)
    assert len(seen) == QUICK.evaluations + 1


def test_without_evidence_there_is_no_fit():
    with pytest.raises(RecordingError, match="nothing to fit soil to"):
        fit([], QUICK)


def test_channels_of_the_same_name_are_joined_and_blocks_are_not():
    one, two = Linear(random_slopes(4)).layout, Linear(random_slopes(6)).layout
    both = joined([one, two])
    assert [channel.name for channel in both.channels] == ["one [m]", "two [m]"]
    assert both.channel.tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    assert both.block.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_sentences_name_the_parameters_of_a_direction():
    direction = np.zeros(7)
    direction[[0, 1]] = 0.7, -0.7
    assert sentence(SHORT, direction) == "Bekker's pressure and the share of k_c are identified only together"


def test_a_fitted_soil_is_written_with_its_report(tmp_path):
    found = FittedSoil.of(fit([Linear(random_slopes(30))], QUICK), WIDTH)
    found.save(tmp_path / "fitted", "<html></html>")
    assert load_soil(tmp_path / "fitted" / "soil.toml") == found.kind == kind_of(found.estimate.best, WIDTH)
    assert (tmp_path / "fitted" / "report.html").read_text() == "<html></html>"
    assert (tmp_path / "fitted" / "fit.json").exists()
