"""Extreme settings are refused in one line, or the world runs on within bounded time and memory."""

import pytest

from fuzz.extremes import SMALL, Attempts, Case, cases
from sandlot.studies import all_studies

VARIANTS = [(name, variant) for name in SMALL for variant in SMALL[name]]


@pytest.fixture(scope="module")
def attempts():
    made = Attempts()
    yield made
    made.close()


def fail(attempts: Attempts, tried: list[Case]) -> list[str]:
    """Which cases end in anything but a message or a world that runs."""
    said = ((case, attempts.attempt(case)[0]) for case in tried)
    return [f"{case}: {answer}" for case, answer in said if answer.startswith("!")]


@pytest.mark.parametrize(
    ("world", "variant", "key", "value", "said"),
    [
        ("indoor", "", "robot.radius", 1e300, "robot.radius=1e+300 is not possible; allowed: a number at least 0.01"),
        ("indoor", "", "robot.radius", 1e-9, "robot.radius=1e-09 is not possible; allowed: a number at least 0.01"),
        ("water", "fast", "snake.interval", 65536, "snake.interval=65536 is not possible; allowed: a number at least"),
        ("water", "fast", "snake.step", 1e-300, "snake.step=1e-300 is not possible; allowed: a number at least 1e-05"),
        ("water", "reference", "ball_radius", 1e-9, "ball_radius=1e-09 is not possible; allowed: a number at least"),
        ("terrain", "soil", "step", 1e-300, "step=1e-300 is not possible; allowed: a number at least 1e-05"),
        ("terrain", "soil", "spacing", 1e300, "spacing=1e+300 is not possible; allowed: a magnitude of at most 1e+12"),
        ("leveling", "", "slope", 1e300, "slope=1e+300 is not possible; allowed: a magnitude of at most 1e+12"),
    ],
)
def test_what_is_allowed_is_named(attempts, world, variant, key, value, said):
    assert attempts.attempt(Case("world", world, variant, key, value))[0].startswith(said)


@pytest.mark.parametrize(("world", "variant"), VARIANTS)
def test_every_setting_of_a_world_with_one_extreme_value(attempts, world, variant):
    every = list(cases("world", world, variant))
    assert not fail(attempts, every[::10])  # nine values for each key: another one for each


@pytest.mark.slow
@pytest.mark.parametrize(("world", "variant"), VARIANTS)
def test_every_setting_of_a_world_with_every_extreme_value(attempts, world, variant):
    assert not fail(attempts, list(cases("world", world, variant)))


@pytest.mark.slow
@pytest.mark.parametrize("study", all_studies())
def test_every_setting_of_a_study_with_every_extreme_value(attempts, study):
    assert not fail(attempts, list(cases("study", study)))


def test_a_hang_is_found_and_the_next_case_runs(attempts, monkeypatch):
    monkeypatch.setattr("fuzz.extremes.MAX_SECONDS", 0.0)
    assert attempts.attempt(Case("world", "leveling", "", "shape", [2000, 2000]))[0] == "!hang"
    monkeypatch.undo()
    assert attempts.attempt(Case("world", "leveling", "", "relief", 3))[0] == ""
