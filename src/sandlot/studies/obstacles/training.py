"""Which method trains the neural controller best (section 5.2, table 4)."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.learning.descent import (
    MOMENTUM,
    Fit,
    descend,
    descend_variably,
    fletcher_reeves,
    one_step_secant,
    polak_ribiere,
    powell_beale,
    resilient,
    scaled_conjugate,
)
from sandlot.learning.imitation import problem
from sandlot.learning.levenberg import levenberg_marquardt
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.obstacles.ladder import lessons
from sandlot.studies.plots import COLOURS, canvas

Method = Literal["lm", "cgb", "cgp", "scg", "oss", "cgf", "rp", "gdx", "gda", "gdm", "gd"]
"""As Matlab's toolbox calls them."""
METHODS: Mapping[str, tuple[str, Callable[..., Fit]]] = {
    "lm": ("Levenberg-Marquardt", levenberg_marquardt),
    "cgb": ("conjugate gradients, Powell-Beale", powell_beale),
    "cgp": ("conjugate gradients, Polak-Ribiere", polak_ribiere),
    "scg": ("scaled conjugate gradients", scaled_conjugate),
    "oss": ("one-step secant", one_step_secant),
    "cgf": ("conjugate gradients, Fletcher-Reeves", fletcher_reeves),
    "rp": ("resilient backpropagation", resilient),
    "gdx": ("variable rate with momentum", partial(descend_variably, momentum=MOMENTUM)),
    "gda": ("variable rate", descend_variably),
    "gdm": ("gradient descent with momentum", partial(descend, momentum=MOMENTUM)),
    "gd": ("gradient descent", descend),
}
SOURCE = {
    "lm": (0.0028, 3645.0),
    "cgb": (0.0158, 39.0),
    "cgp": (0.0172, 36.0),
    "scg": (0.0194, 31.0),
    "oss": (0.0208, 34.0),
    "cgf": (0.0256, 35.0),
    "rp": (0.0264, 15.0),
    "gdx": (0.0446, 21.0),
    "gda": (0.0628, 18.0),
    "gdm": (0.1252, 18.0),
    "gd": (0.1297, 18.0),
}
"""Mean squared error and time of training [s]: table 4."""
ALIKE = 0.7
"""Rank correlation from which two orders are alike."""


@study("obstacles.training", source="Vincent 2008, section 5.2, table 4")
class Training(Study):
    """Which training method is best for the net that imitates the reactive controller?

    All methods start from the same weights and learn the same lessons: what the kicking reactive controller did on the
    stairs and boxes of the source's training set that it passed. The net has 1,015 inputs and four hidden nodes.
    Methods have the constants of Matlab's toolbox, which the source used; line searches are those of SciPy. An epoch of
    a conjugate gradient method is one line search. The error is the mean squared error of the front axle's angle over
    180 degrees; the source does not say over what.

    Attributes:
        methods: To compare, by their names in Matlab's toolbox.
        trials: Trainings of each, from other first weights; 2 in the source.
        epochs: Of a training; 100 in the source.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "error": Quantity("1", "mean squared error after each epoch", ("epoch",), (0,)),
        "seconds": Quantity("s", "processor time of the training"),
    }

    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "lm", "cgb", "cgp", "scg", "oss", "cgf", "rp", "gdx", "gda", "gdm", "gd",
    )  # fmt: skip
    trials: int = Field(2, ge=1, le=1000)
    epochs: int = Field(100, ge=1, le=10_000)

    def jobs(self) -> Iterator[Job]:
        """Every method, in every trial."""
        return self.cross(method=self.methods, trial=range(self.trials))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train once; all methods of a trial begin with the same weights."""
        given = problem(lessons())
        first = given.draw(np.random.default_rng((self.seed, int(job.parameters["trial"]))))
        start = time.process_time()
        _, errors = METHODS[str(job.parameters["method"])][1](given, first, self.epochs)
        seconds = time.process_time() - start
        # Training that can lower the error no more ends early.
        return {"error": np.pad(errors, (0, self.epochs + 1 - len(errors)), "edge"), "seconds": seconds}

    def _found(self, results: xr.Dataset) -> Mapping[str, tuple[float, float]]:
        """Mean of the error at the end and of the time [s], of each method."""
        found: dict[str, tuple[float, float]] = {}
        for name in self.methods:
            mine = pick(results, method=name)
            found[name] = float(mine["error"].values[:, -1].mean()), float(mine["seconds"].mean())
        return found

    def figure(self, results: xr.Dataset) -> Figure:
        """Error after all epochs and time of training of each method, beside table 4; and error over epochs."""
        figure, (left, right) = canvas(2, 12.0, 4.6)
        found, rows = self._found(results), np.arange(len(self.methods))
        for offset, values, colour, label in (
            (-0.2, found, COLOURS[0], "ours"),
            (0.2, SOURCE, COLOURS[1], "source"),
        ):
            left.barh(rows + offset, [values[name][0] for name in self.methods], 0.38, color=colour, label=label)
            for row, name in zip(rows, self.methods, strict=True):
                error, seconds = values[name]
                left.text(1.08 * error, row + offset, f"{seconds:,.1f} s" if seconds < 10 else f"{seconds:,.0f} s",
                          va="center", fontsize=7)  # fmt: skip
        left.set_yticks(rows, [METHODS[name][0] for name in self.methods])
        left.invert_yaxis()
        left.set(xlabel="mean squared error", xscale="log")
        left.legend(frameon=False)
        for k, name in enumerate(self.methods):
            mean = pick(results, method=name)["error"].values.mean(axis=0)
            colour, style = COLOURS[k % len(COLOURS)], "-" if k < len(COLOURS) else "--"
            right.plot(np.arange(self.epochs + 1), mean, style, color=colour, label=name)
        right.set(xlabel="epoch", ylabel="mean squared error", yscale="log")
        right.legend(frameon=False, ncols=2, fontsize=8)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Which method is best, their order, and how long training takes."""
        found = self._found(results)
        errors = {name: error for name, (error, _) in found.items()}
        claims = []
        said = ", ".join(f"{name} {error:.4f}" for name, error in errors.items())
        if "lm" in found and len(found) > 1:
            best = min(errors, key=lambda name: errors[name])
            text = "Levenberg-Marquardt gives the smallest error."
            claims.append(Claim(text, "lm 0.0028", f"{best} {errors[best]:.4f}", best == "lm", said))
            rest = min(error for name, error in errors.items() if name != "lm")
            times = min(error for name, (error, _) in SOURCE.items() if name in errors and name != "lm")
            factor = times / SOURCE["lm"][0]
            text = "Its error is several times smaller than that of the next best."
            ratio = rest / errors["lm"]
            claims.append(Claim(text, f"{factor:.1f} times", f"{ratio:.1f} times", ratio >= 2.0, "holds from 2 on"))
            text = "It also takes longest."
            slowest = max(found, key=lambda name: found[name][1])
            claims.append(Claim(text, "lm 3645 s", f"{slowest} {found[slowest][1]:.1f} s", slowest == "lm"))
            text = "Ours takes a hundredth of the source's time or less [s]."
            taken = found["lm"][1]
            claims.append(Claim(text, SOURCE["lm"][1], round(taken, 1), taken <= 0.01 * SOURCE["lm"][1], "lm"))
        if {"gd", "gdm"} <= set(found) and len(found) > 2:
            worst = sorted(errors, key=lambda name: errors[name])[-2:]
            text = "Gradient descent at a constant rate, with momentum and without, is worst."
            claims.append(Claim(text, "gdm, gd", ", ".join(worst), set(worst) == {"gd", "gdm"}))
        if len(found) > 2:
            from scipy.stats import spearmanr  # loaded when needed: it takes a second, in each worker

            rank = float(spearmanr(list(errors.values()), [SOURCE[name][0] for name in errors]).statistic)
            text = "Methods are ordered as in table 4 by their error."
            claims.append(Claim(text, "rank correlation 1", round(rank, 2), rank >= ALIKE, f"holds from {ALIKE} on"))
        less = [name for name in errors if errors[name] <= SOURCE[name][0]]
        text = "Every error is at most that of table 4."
        claims.append(Claim(text, "all", f"{len(less)} of {len(errors)}", len(less) == len(errors), said))
        return claims
