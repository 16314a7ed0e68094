"""The study of the time step: its claim about made-up results, and its figure."""

import io

import numpy as np
import pytest

from claims import assert_fails, changed, failing, scaled, synthetic
from sandlot.studies.terrain.steps import Steps

IDEAL = {"deviation": lambda job: np.linspace(0.0, 0.01, 100), "path_length": lambda job: 1.5}


def test_the_claim_holds_for_small_deviations_and_can_fail():
    assert failing(Steps(), **IDEAL) == []
    assert_fails(Steps(), changed(IDEAL, deviation=scaled(4.0, rover="tracked", ground="mid")), ["Half the step"])


@pytest.mark.parametrize("factor", [0.2, 4.0])
def test_no_line_runs_behind_the_legend(factor):
    study = Steps()
    figure = study.figure(synthetic(study, **changed(IDEAL, deviation=scaled(factor))))
    figure.savefig(io.BytesIO(), format="png")
    (axes,) = figure.axes
    legend = axes.get_legend().get_window_extent().transformed(axes.transData.inverted())
    lines = [line for line in axes.lines if len(line.get_ydata())]
    assert len(lines) == 9
    assert legend.y0 > max(np.max(line.get_ydata()) for line in lines)
