"""Version 2 of the published learned simulator: deep nets for the motion of a wheeled rover on soil."""

import time
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.kernels.randomness import children
from sandlot.models.dense import forward
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Picture, Study, study
from sandlot.studies.learned.pictures import LABELS, overview, thin
from sandlot.studies.learned.shared import SOURCE, record_session
from sandlot.studies.learned.v1 import NO_LESS, NO_MORE, median_claim, said
from sandlot.surrogates.published.motion import INPUTS, TARGETS
from sandlot.surrogates.published.preprocessing import Steps, prepare
from sandlot.surrogates.published.scores import Score
from sandlot.surrogates.published.simulator import simulate
from sandlot.surrogates.published.version2 import train

TABLE_6_3 = {
    ("speed", "A"): (0.0426, 0.8828),
    ("speed", "B"): (0.0279, 0.9254),
    ("dyaw", "A"): (0.0003, 0.9657),
    ("dyaw", "B"): (0.0012, 0.9842),
}
"""Mean squared error and R2 of each net on the testing set of each terrain."""
GOOD = 0.85
"""R2 from which on a net predicts well."""
TESTS = ("A", "B")
FRAME_TIME = 22_500.0
"""Of the source's simulator with its terrain net [us]."""


@study("learned.v2", source=f"{SOURCE}, section 6.3, table 6.3")
class Version2(Study):
    """How well do the source's deep nets predict a wheeled rover on soil, also on a terrain they have not seen?

    Nets of 13 hidden layers with 7 nodes predict the speed and the change of yaw, or, in the configuration of three
    nets, the changes of x, y and yaw. They are trained on three sessions on terrain A and tested on another one there
    and one on terrain B. Errors are of values that were smoothed over 250 frames and quantised, as in its table; beside
    them are scores of raw values.

    Attributes:
        frames: Of a session.
        sessions: To train with.
        epochs: Of gradient descent.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **{
            f"{name}_{kind}_{terrain}": Quantity("1", f"{about} of {name} on terrain {terrain}")
            for name in TARGETS
            for terrain in TESTS
            for kind, about in {
                "mse": "mean squared error, normalised,",
                "r2": "squared correlation",
                "raw": "determination, as recorded,",
            }.items()
        },
        **{
            f"{name}_{kind}_{terrain}": Quantity(
                "1", f"{kind} {name} on terrain {terrain}, normalised", ("sample",), (0,)
            )
            for name in TARGETS
            for terrain in TESTS
            for kind in ("recorded", "predicted")
        },
        "frame_time": Quantity("s", "of a frame of the simulator in the plane, without terrain net"),
    }

    frames: int = Field(64_000, ge=1000, le=1_000_000)
    sessions: int = Field(3, ge=1, le=20)
    epochs: int = Field(25, ge=1, le=10_000)

    def jobs(self) -> Iterator[Job]:
        """A single one: all nets share their sessions."""
        return self.cross(nets=["motion"])

    def run(self, job: Job) -> Mapping[str, Found]:
        """Record all sessions, train all nets, and test them on both terrains."""
        *seeds, weights = (int(each.generate_state(1)[0]) for each in children(job.seed, self.sessions + 3))
        training = [record_session("A", "wheeled", "soil", self.frames, seed) for seed in seeds[2:]]
        testing = {
            terrain: record_session(terrain, "wheeled", "soil", self.frames, seed)
            for terrain, seed in zip(TESTS, seeds, strict=False)
        }
        steps, nets, found = Steps(2), {}, dict[str, Found]()
        prepared, _, scale = prepare([each.motion for each in training], steps)
        samples = np.concatenate(prepared)
        inputs = np.ascontiguousarray(samples[:, : len(INPUTS)])
        tested = {terrain: prepare([each.motion], steps, scale)[0][0] for terrain, each in testing.items()}
        for k, name in enumerate(TARGETS):
            column = len(INPUTS) + k
            nets[name] = train(inputs, samples[:, column].copy(), self.epochs, np.random.default_rng((weights, k))).net
            for terrain, values in tested.items():
                predicted = forward(nets[name], np.ascontiguousarray(values[:, :4]))[:, 0]
                score = Score.of(predicted, values[:, column])
                raw = scale.apply(testing[terrain].motion.values)
                plain = Score.of(forward(nets[name], np.ascontiguousarray(raw[:, :4]))[:, 0], raw[:, column])
                found |= {
                    f"{name}_mse_{terrain}": score.mse,
                    f"{name}_r2_{terrain}": score.r2,
                    f"{name}_raw_{terrain}": plain.determined,
                    f"{name}_recorded_{terrain}": thin(values[:, column]),
                    f"{name}_predicted_{terrain}": thin(predicted),
                }
        drive, one = (nets["speed"], nets["dyaw"]), testing["A"]
        args = drive, scale, one.ground, one.motion.values[:, :2], one.motion.command_speed, one.start
        simulate(*args)  # compiles
        start = time.process_time()
        simulate(*args)
        return {**found, "frame_time": (time.process_time() - start) / len(one.motion.values)}

    def figure(self, results: xr.Dataset) -> Figure:
        """Predicted and recorded values of both nets on both terrains, as in figures 6.11 to 6.18."""
        return self._overview(results, [(name, terrain) for terrain in TESTS for name in ("speed", "dyaw")])

    def _overview(self, results: xr.Dataset, chosen: list[tuple[str, str]]) -> Figure:
        one = results.isel(job=0)
        return overview(
            {
                f"{LABELS[name]}, terrain {terrain}": (
                    one[f"{name}_recorded_{terrain}"].values,
                    one[f"{name}_predicted_{terrain}"].values,
                    f"$R^2$ = {float(one[f'{name}_r2_{terrain}']):.4f}",
                )
                for name, terrain in chosen
            }
        )

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The configuration of three nets."""
        yield Picture(
            "The nets of the changes of x and y, on terrain A, as in figures 6.7 to 6.10.",
            self._overview(results, [("dx", "A"), ("dy", "A")]),
        )

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Table 6.3, number by number, and what the source says of the configuration of three nets."""
        claims = []
        for (name, terrain), (mse, r2) in TABLE_6_3.items():
            where, label = f"on terrain {terrain}", LABELS[name]
            error, share = (results[f"{name}_{kind}_{terrain}"].values for kind in ("mse", "r2"))
            text = f"The mean squared error of {label} {where} is {mse}."
            claims.append(median_claim(text, mse, error, error[0] <= mse, NO_MORE))
            note = f"{NO_LESS}; as recorded, 1 - MSE / variance: {said(results[f'{name}_raw_{terrain}'].values)}"
            text = f"R2 of {label} {where} is {r2}."
            claims.append(median_claim(text, r2, share, share[0] >= r2, note))
        unseen = [float(results[f"{name}_r2_B"].item()) for name in ("speed", "dyaw")]
        claims.append(
            Claim(
                "Both nets also predict motion on a terrain that they have not seen.",
                "R2 of 0.9254 and 0.9842",
                ", ".join(f"{each:.4f}" for each in unseen),
                min(unseen) >= GOOD,
                f"R2 of at least {GOOD:g} on terrain B",
            )
        )
        shifts = [float(results[f"{name}_r2_A"].item()) for name in ("dx", "dy")]
        claims.append(
            Claim(
                "Nets of the changes of x and y do not do as well as that of the speed.",
                "similar results were not obtained",
                ", ".join(f"{each:.4f}" for each in shifts),
                max(shifts) < float(results["speed_r2_A"].item()),
                "R2 of both on terrain A is below that of v. The nets do not know the yaw",
            )
        )
        spent = 1e6 * float(results["frame_time"].item())
        claims.append(
            Claim(
                "A frame of the simulator in the plane takes 22,500 us.",
                FRAME_TIME,
                f"{spent:.3g}",
                spent <= FRAME_TIME,
                "holds if it is no more. Ours is without the terrain net, which `learned.terrain_net` times",
            )
        )
        return claims
