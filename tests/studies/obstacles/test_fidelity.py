"""The study of both fidelities on a grid of obstacles."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, synthetic
from sandlot.robots.climber import load_climber
from sandlot.robots.fast_climbers import FastClimbers
from sandlot.robots.reference_climbers import ReferenceClimbers
from sandlot.studies.obstacles import fidelity
from sandlot.studies.obstacles.fidelity import CLIMB_BOX, Fidelity, draw_script, obstacle

STUDY = Fidelity()
SHAPE = (4, 8)
PASS = np.tile(np.arange(8) < 4, (4, 1)).astype(float)
NOT_TRIED = np.full(SHAPE, np.nan)
IDEAL = {name: lambda job: PASS for name in ("fast", "reference", "halved")}
IDEAL |= {name: lambda job: NOT_TRIED for name in ("fine", "slippery")}


def only(values, **wanted):
    """A change of the jobs whose parameters are as wanted."""
    return lambda job, x: np.where([[False]], x, values) if all(job[k] == v for k, v in wanted.items()) else x


def flipped(number):
    """The last obstacles that pass, failing."""
    values = PASS.copy()
    values[:number, 3] = 0.0
    return values


def test_a_study_in_which_both_agree_holds():
    assert failing(STUDY, **IDEAL) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fast": only(1.0 - PASS)}, ["Both fidelities agree", "Where they differ"]),
        ({"halved": only(1.0 - PASS, kind="boxes")}, ["has converged: half"]),
        ({"fast": only(flipped(1), kind="boxes", command="script")}, ["Where they differ"]),
        (
            {"fast": only(flipped(1), kind="boxes", command="script"), "fine": only(np.ones(SHAPE))},
            [],
        ),
        (
            {
                "fast": only(flipped(1), kind="boxes", command="script"),
                "fine": only(np.zeros(SHAPE)),
                "slippery": only(np.ones(SHAPE)),
            },
            [],
        ),
        (
            {
                "fast": only(flipped(1), kind="boxes", command="script"),
                "fine": only(np.zeros(SHAPE)),
                "slippery": only(np.zeros(SHAPE)),
            },
            ["Where they differ"],
        ),
    ],
    ids=["all differ", "not converged", "one differs", "time step", "friction", "unexplained"],
)
def test_each_claim_can_fail(changes, words):
    assert_fails(STUDY, changed(IDEAL, **changes), words)


def test_random_commands_differ_and_drive_forward():
    rng = np.random.default_rng(0)
    one, other = (draw_script(rng, 12.0) for _ in range(2))
    assert one.at(12.0)[2] == CLIMB_BOX.speed
    assert (one.at(5.0)[:2] != other.at(5.0)[:2]).all()


def test_obstacles_are_boxes_and_stairs_up_and_down():
    rng = np.random.default_rng(0)
    heights = [obstacle(kind, 0.3, 0.1).draw(rng).height(10.0) for kind in fidelity.KINDS]
    assert heights == pytest.approx([0.0, 0.4, 0.0])
    assert obstacle("stairs down", 0.3, 0.1).draw(rng).height(0.0) == pytest.approx(0.4)


def test_a_low_step_is_passed_in_both_models_and_a_wall_in_none():
    courses = [obstacle("boxes", 0.3, height).draw(np.random.default_rng(0)) for height in (0.05, 2.5)]
    for make in (FastClimbers, ReferenceClimbers):
        found = Fidelity(seconds=6.0).try_(make(load_climber(), courses), [CLIMB_BOX] * 2)
        np.testing.assert_array_equal(found, [1.0, 0.0])


def test_the_figure_has_a_grid_for_each_job():
    figure = STUDY.figure(synthetic(STUDY, **IDEAL))
    assert len(figure.axes) == 9
