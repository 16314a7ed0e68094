"""What each step of the published preprocessing does to accuracy."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.kernels.randomness import children
from sandlot.models.dense import forward
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.learned.pictures import LABELS
from sandlot.studies.learned.shared import SOURCE, record_session
from sandlot.studies.plots import COLOURS, canvas
from sandlot.surrogates.published import version1, version2
from sandlot.surrogates.published.motion import INPUTS, TARGETS
from sandlot.surrogates.published.preprocessing import Steps, prepare
from sandlot.surrogates.published.scores import Score

CASES = ("all steps", "no outliers", "no quantise", "no smooth", "none")
"""What is left out: nothing, one step, or every step but the normalisation."""
LEFT_OUT = {
    "no outliers": "if outliers are kept",
    "no quantise": "without quantisation",
    "no smooth": "without smoothing",
    "none": "without all three",
}
"""Cases, in words."""
VERSIONS = (1, 2)
CHOSEN = ("speed", "dyaw")
SETUPS = {1: ("tracked", "rigid"), 2: ("wheeled", "soil")}
"""Rover and ground of each version."""


def steps_of(version: int, case: str) -> Steps:
    """The steps of a case."""
    made = {step: case not in (f"no {step}", "none") for step in ("outliers", "quantise", "smooth")}
    return Steps(1 if version == 1 else 2, **made)


@study("learned.preprocessing", source=f"{SOURCE}, sections 6.2.2 and 6.3.2, and our own")
class Preprocessing(Study):
    """What does each step of the source's preprocessing do to accuracy?

    Outlier removal, quantisation and smoothing are switched off one at a time, and all together. Nets are then tested
    twice: on a session that was preprocessed like their own, as in the source's tables, and on the same session as it
    was recorded, which is what a simulator has to predict.

    Attributes:
        frames: Of a session; version 1 has one to train with, version 2 three.
        epochs_1: Of version 1.
        epochs_2: Of version 2.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        f"{name}_{kind}": Quantity("1", f"{about} of {name}")
        for name in CHOSEN
        for kind, about in {
            "mse": "mean squared error, preprocessed,",
            "r2": "squared correlation, preprocessed,",
            "raw": "determination, as recorded,",
        }.items()
    }

    frames: int = Field(8_000, ge=1000, le=1_000_000)
    epochs_1: int = Field(500, ge=1, le=100_000)
    epochs_2: int = Field(25, ge=1, le=10_000)

    def jobs(self) -> Iterator[Job]:
        """Every case of both versions."""
        return self.cross(version=VERSIONS, case=CASES)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train the nets of speed and change of yaw, and test them."""
        version, steps = (
            int(job.parameters["version"]),
            steps_of(int(job.parameters["version"]), str(job.parameters["case"])),
        )
        # All cases of a version have the same sessions and first weights.
        shared = np.random.SeedSequence(self.seed, spawn_key=(1000 + version,))
        *seeds, weights = (int(each.generate_state(1)[0]) for each in children(shared, 3 if version == 1 else 5))
        testing, *training = (record_session("A", *SETUPS[version], self.frames, seed).motion for seed in seeds)
        prepared, _, scale = prepare(training, steps)
        samples, (tested,), raw = (
            np.concatenate(prepared),
            prepare([testing], steps, scale)[0],
            scale.apply(testing.values),
        )
        inputs, test_inputs, raw_inputs = (
            np.ascontiguousarray(each[:, : len(INPUTS)]) for each in (samples, tested, raw)
        )
        found: dict[str, float] = {}
        for k, name in enumerate(CHOSEN):
            column, rng = len(INPUTS) + TARGETS.index(name), np.random.default_rng((weights, k))
            targets = samples[:, column].copy()
            if version == 1:
                net = version1.train(inputs, targets, test_inputs, tested[:, column], self.epochs_1, rng).net
            else:
                net = version2.train(inputs, targets, self.epochs_2, rng).net
            score = Score.of(forward(net, test_inputs)[:, 0], tested[:, column])
            plain = Score.of(forward(net, raw_inputs)[:, 0], raw[:, column])
            found |= {f"{name}_mse": score.mse, f"{name}_r2": score.r2, f"{name}_raw": plain.determined}
        return found

    def figure(self, results: xr.Dataset) -> Figure:
        """Squared correlation of preprocessed values, and 1 - MSE / variance of recorded ones, by what was left out."""
        figure, panels = canvas(len(VERSIONS), 10.0, 4.4)
        for axes, version in zip(panels, VERSIONS, strict=True):
            mine = pick(results, version=version)
            for k, name in enumerate(CHOSEN):
                at = np.arange(len(CASES)) + 0.2 * (2 * k - 1)
                axes.plot(
                    at,
                    mine[f"{name}_r2"].values,
                    "o",
                    mfc="none",
                    color=COLOURS[k],
                    label=f"{LABELS[name]}, preprocessed",
                )
                axes.plot(at, mine[f"{name}_raw"].values, "o", color=COLOURS[k], label=f"{LABELS[name]}, as recorded")
            axes.set_xticks(range(len(CASES)), [case.replace(" ", "\n") for case in CASES])
            axes.set(title=f"version {version}", ylabel="$R^2$", ylim=(min(0.0, *axes.get_ylim()), 1.02))
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What each step costs, and all of them."""
        claims = []
        for version in VERSIONS:
            mine = pick(results, version=version)
            for case, words in LEFT_OUT.items():
                with_all, without = (
                    [float(pick(mine, case=each)[f"{name}_raw"].item()) for name in CHOSEN]
                    for each in ("all steps", case)
                )
                pairs = zip(CHOSEN, with_all, without, strict=True)
                claims.append(
                    Claim(
                        f"Version {version} predicts recorded motion better {words}.",
                        "not studied",
                        "; ".join(f"{LABELS[name]}: {before:.3f} to {after:.3f}" for name, before, after in pairs),
                        all(after > before for before, after in zip(with_all, without, strict=True)),
                        "1 - MSE / variance of recorded values, with all steps and so; holds if both improve",
                    )
                )
        return claims
