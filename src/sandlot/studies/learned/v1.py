"""Version 1 of the published learned simulator: two small nets stand in for a tracked rover on rigid ground."""

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
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.learned.pictures import LABELS, overview, thin
from sandlot.studies.learned.shared import SOURCE, record_session
from sandlot.surrogates.published.motion import INPUTS, TARGETS
from sandlot.surrogates.published.preprocessing import Steps, prepare
from sandlot.surrogates.published.scores import Score, rank_correlation
from sandlot.surrogates.published.simulator import PATH, simulate
from sandlot.surrogates.published.version1 import train

TABLE_6_1 = {"speed": (0.0133, 0.398), "dyaw": (0.0062, 0.56)}
"""Mean squared error and R2 of each net on the testing set."""
TABLE_6_2 = {"simulated": (0.9731, -0.0066), "testing": (0.8371, 0.1091)}
"""Spearman's correlation of the difference of wheel speeds with the change of yaw, and of speed with pitch."""
FRAME_TIME = 285.0
"""Of the source's simulator [us]."""
CLOSE = 0.1
"""A rank correlation agrees with the source's if it differs by no more than this."""
NO_MORE, NO_LESS = "holds if it is no more than the source's", "holds if it is no less than the source's"
WITHIN = f"holds if it differs from the source's by no more than {CLOSE:g}"


@study("learned.v1", source=f"{SOURCE}, section 6.2, tables 6.1 and 6.2")
class Version1(Study):
    """How well do the source's first nets predict a tracked rover?

    Two nets with 20 hidden nodes predict the speed and the change of yaw from wheel speeds, pitch and roll. They are
    trained on one session on rigid ground, and the epoch that does best on the testing session is kept, as in the
    source: so the testing session has a part in the training. Errors are of preprocessed values, as in its tables;
    beside them are scores of raw values, in whose place the nets would be used.

    Attributes:
        frames: Of a session.
        epochs: Of iRPROP-.
        replicates: Pairs of sessions, with other starts, speeds and first weights.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **{f"{name}_mse": Quantity("1", f"mean squared error of {name}, normalised") for name in TABLE_6_1},
        **{f"{name}_r2": Quantity("1", f"squared correlation of {name}") for name in TABLE_6_1},
        **{f"{name}_raw": Quantity("1", f"determination of {name} as recorded") for name in TABLE_6_1},
        **{f"{name}_best": Quantity("1", f"epoch that was kept, of {name}") for name in TABLE_6_1},
        **{
            f"turn_{kind}": Quantity("1", f"rank correlation of wheel speeds and turning, {kind}") for kind in TABLE_6_2
        },
        **{f"climb_{kind}": Quantity("1", f"rank correlation of speed and pitch, {kind}") for kind in TABLE_6_2},
        "frame_time": Quantity("s", "of a frame of the simulator in the plane"),
        **{
            f"{name}_{kind}": Quantity("1", f"{kind} {name}, normalised", ("sample",), (0,))
            for name in TABLE_6_1
            for kind in ("recorded", "predicted")
        },
    }

    frames: int = Field(16_000, ge=64, le=1_000_000)
    epochs: int = Field(2000, ge=1, le=100_000)
    replicates: int = Field(3, ge=1, le=100)

    def jobs(self) -> Iterator[Job]:
        """Pairs of sessions."""
        return self.cross(replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train both nets on one session, test them on another one, and drive it again in the plane."""
        first, second, weights = (int(each.generate_state(1)[0]) for each in children(job.seed, 3))
        training, testing = (record_session("A", "tracked", "rigid", self.frames, seed) for seed in (first, second))
        (trained,), _, scale = prepare([training.motion], Steps(1))
        (tested,), _, _ = prepare([testing.motion], Steps(1), scale)
        raw, nets, found = scale.apply(testing.motion.values), [], dict[str, Found]()
        for k, name in enumerate(TABLE_6_1):
            column, rng = len(INPUTS) + TARGETS.index(name), np.random.default_rng((weights, k))
            inputs, targets = np.ascontiguousarray(tested[:, :4]), tested[:, column]
            fit = train(np.ascontiguousarray(trained[:, :4]), trained[:, column], inputs, targets, self.epochs, rng)
            predicted = forward(fit.net, inputs)[:, 0]
            score = Score.of(predicted, targets)
            plain = Score.of(forward(fit.net, np.ascontiguousarray(raw[:, :4]))[:, 0], raw[:, column])
            found |= {f"{name}_mse": score.mse, f"{name}_r2": score.r2, f"{name}_raw": plain.determined}
            found |= {f"{name}_best": fit.best, f"{name}_recorded": thin(targets), f"{name}_predicted": thin(predicted)}
            nets.append(fit.net)
        motion, drive = testing.motion, (nets[0], nets[1])
        args = drive, scale, testing.ground, motion.values[:, :2], motion.command_speed, testing.start
        simulate(*args)  # compiles
        start = time.process_time()
        path = simulate(*args)[1:]
        spent = (time.process_time() - start) / len(path)
        difference = motion.column("right") - motion.column("left")
        speed, dyaw, pitch = (path[:, PATH.index(name)] for name in ("speed", "dyaw", "pitch"))
        return {
            **found,
            "turn_testing": rank_correlation(difference, motion.column("dyaw")),
            "climb_testing": rank_correlation(motion.column("speed"), motion.column("pitch")),
            "turn_simulated": rank_correlation(difference, dyaw),
            "climb_simulated": rank_correlation(np.abs(speed), pitch),
            "frame_time": spent,
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """Predicted and recorded values of the testing session of the first replicate, as in figures 6.2 to 6.5."""
        one = results.isel(job=0)
        return overview(
            {
                LABELS[name]: (
                    one[f"{name}_recorded"].values,
                    one[f"{name}_predicted"].values,
                    f"$R^2$ = {float(one[f'{name}_r2']):.3f}",
                )
                for name in TABLE_6_1
            }
        )

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Tables 6.1 and 6.2, number by number."""
        claims = []
        for name, (mse, r2) in TABLE_6_1.items():
            label, error, share = LABELS[name], results[f"{name}_mse"].values, results[f"{name}_r2"].values
            best = ", ".join(f"{epoch:.0f}" for epoch in results[f"{name}_best"].values)
            text = f"The mean squared error of {label} on the testing set is {mse}."
            claims.append(median_claim(text, mse, error, np.median(error) <= mse, NO_MORE))
            note = f"{NO_LESS}; as recorded, 1 - MSE / variance: {said(results[f'{name}_raw'].values)}"
            note += f"; epochs kept: {best}"
            text = f"R2 of {label} on the testing set is {r2}."
            claims.append(median_claim(text, r2, share, np.median(share) >= r2, note))
            part = error / results[f"{name}_recorded"].var("sample").values
            claims.append(share_claim(f"The error of {label}", r2, part))
        for kind, pair in TABLE_6_2.items():
            where = "in the simulator in the plane" if kind == "simulated" else "in the testing set"
            for what, value, measured in (
                ("the difference of wheel speeds with the change of yaw", pair[0], results[f"turn_{kind}"].values),
                ("speed with pitch", pair[1], results[f"climb_{kind}"].values),
            ):
                text = f"Spearman's correlation of {what} is {value} {where}."
                claims.append(median_claim(text, value, measured, abs(np.median(measured) - value) <= CLOSE, WITHIN))
        spent = 1e6 * results["frame_time"].values
        text = f"A frame of the simulator in the plane takes {FRAME_TIME:g} us."
        claims.append(median_claim(text, FRAME_TIME, spent, np.median(spent) <= FRAME_TIME, NO_MORE))
        return claims


def said(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    """The median and, in brackets, the least and the largest of some values."""
    if len(values) == 1:
        return f"{values[0]:.3g}"
    return f"{np.median(values):.3g} ({values.min():.3g} to {values.max():.3g})"


def share_claim(what: str, r2: float, part: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Claim:
    """Errors as shares of the variance, which do not depend on how wide values spread over their range."""
    note = "mean squared error over variance; the source's is 1 minus its R2. Holds if it is no more"
    text = f"{what} is no larger a share of its variance than in the source."
    return median_claim(text, round(1.0 - r2, 4), part, np.median(part) <= 1.0 - r2, note)


def median_claim(
    text: str,
    value: float,
    measured: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    holds: bool | np.bool_,
    note: str,
) -> Claim:
    """A number of the source beside the median of replicates."""
    return Claim(text, value, said(measured), bool(holds), note)
