"""How many hidden nodes the neural controller needs (section 5.2, table 3)."""

import time
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.learning.imitation import EPOCHS, learn
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.obstacles.ladder import lessons
from sandlot.studies.plots import COLOURS, canvas
from sandlot.typing import Array

SOURCE = {1: (0.010498, 60.0), 2: (0.007820, 213.0), 3: (0.005935, 465.0), 4: (0.005407, 926.0), 5: (0.009012, 1446.0)}
"""Mean squared error and time of training [s] by number of nodes: table 3."""
BEST = 0.004
"""Error of the best trial."""


@study("obstacles.hidden_nodes", source="Vincent 2008, section 5.2, table 3")
class HiddenNodes(Study):
    """How many hidden nodes does a net need that imitates the reactive controller?

    Nets of 1,015 inputs learn by Levenberg-Marquardt what the kicking reactive controller did on the stairs and boxes
    of the source's training set that it passed. The error is the mean squared error of the front axle's angle over
    180 degrees; the source does not say over what.

    Attributes:
        nodes: Numbers of hidden nodes.
        trials: Trainings of each, from other first weights; 7 in the source.
        epochs: Of a training; 25 in the source.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "error": Quantity("1", "mean squared error after each epoch", ("epoch",), (0,)),
        "seconds": Quantity("s", "processor time of the training"),
    }

    nodes: Annotated[tuple[int, ...], Field(min_length=1), AfterValidator(distinct)] = (1, 2, 3, 4, 5)
    trials: int = Field(7, ge=1, le=1000)
    epochs: int = Field(EPOCHS, ge=1, le=1000)

    def jobs(self) -> Iterator[Job]:
        """Every number of nodes, in every trial."""
        return self.cross(nodes=self.nodes, trial=range(self.trials))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train once."""
        given = lessons()
        start = time.process_time()
        _, trained = learn(given, np.random.default_rng(job.seed), int(job.parameters["nodes"]), self.epochs)
        seconds = time.process_time() - start
        # Training that can lower the error no more ends early.
        return {"error": np.pad(trained.errors, (0, self.epochs + 1 - len(trained.errors)), "edge"), "seconds": seconds}

    def _last(self, results: xr.Dataset, nodes: int) -> Array:
        return np.asarray(pick(results, nodes=nodes)["error"].values[:, -1])

    def figure(self, results: xr.Dataset) -> Figure:
        """Error over the number of nodes: each trial, their mean, and table 3; and over epochs (as figure 24)."""
        figure, (left, right) = canvas(2, 10.0, 4.2)
        for n in self.nodes:
            last = self._last(results, n)
            left.plot(np.full(len(last), n), last, ".", color=COLOURS[0], alpha=0.5)
        left.plot(self.nodes, [self._last(results, n).mean() for n in self.nodes], color=COLOURS[0], label="ours, mean")
        left.plot(list(SOURCE), [error for error, _ in SOURCE.values()], "o-", color=COLOURS[1], label="source")
        for n, colour in zip(self.nodes, COLOURS, strict=False):
            mean = pick(results, nodes=n)["error"].values.mean(axis=0)
            right.plot(np.arange(self.epochs + 1), mean, color=colour, label=f"{n} nodes" if n > 1 else "1 node")
        left.set(xlabel="hidden nodes", ylabel="mean squared error", ylim=(0.0, None))
        right.set(xlabel="epoch", ylabel="mean squared error", yscale="log")
        left.legend(frameon=False)
        right.legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Which number of nodes is best, how small the error is, and how long training takes."""
        mean = {n: float(self._last(results, n).mean()) for n in self.nodes}
        best = min(mean, key=lambda n: mean[n])
        said = ", ".join(f"{n}: {error:.4f}" for n, error in mean.items())
        claims = [Claim("Four hidden nodes give the smallest error.", "4", str(best), best == 4, said)]
        for n, (error, _) in SOURCE.items():
            if n in mean:
                text = f"The error with {n} hidden node{'s' if n > 1 else ''} is at most the source's."
                claims.append(Claim(text, error, round(mean[n], 6), mean[n] <= error))
        least = float(results["error"].values[:, -1].min())
        claims.append(Claim("The best trial has an error of at most 0.4%.", BEST, round(least, 5), least <= BEST))
        if 4 in mean:
            taken = float(pick(results, nodes=4)["seconds"].mean())
            text = "Training with four nodes takes a tenth of the source's time or less [s]."
            claims.append(Claim(text, SOURCE[4][1], round(taken, 1), taken <= 0.1 * SOURCE[4][1], "processor time"))
        return claims
