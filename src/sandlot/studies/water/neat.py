"""Neural nets evolved by NEAT drive the joints."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.snake.files import net_text
from sandlot.control.snake.nets import NetCard, NetController, from_card, to_card
from sandlot.learning.neat import Neat, evolve_nets
from sandlot.models.nets import Nets
from sandlot.physics.swimming.nets import swim_nets
from sandlot.recordings import Quantity
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.studies.base import Claim, Found, Job, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.statistics import Comparison
from sandlot.studies.water.base import (
    FITNESS,
    SHORT,
    SwimStudy,
    best_against_average,
    claim_better,
    draw_band,
    draw_fitness,
    near,
    score,
    travelled,
)
from sandlot.typing import Array
from sandlot.worlds.rollout import rollout
from sandlot.worlds.water.world import Water


@study("water.neat", source="Draschwandtner 2015, section 7.2")
class EvolveNets(SwimStudy):
    """Can evolved nets swim as well as evolved waves?

    A net commands the angle of each joint of an eight-link body. Its inputs are all joint angles and a clock. NEAT
    evolves the net's structure and weights together with the clock's frequency. The source gives a density of 6.25 and
    a mass of 5, which contradict each other: 8 links of that density weigh 15.625. The density is taken.

    Attributes:
        replicates: Number of runs, each with its own seed.
        seconds: Duration of a simulation [s].
        snake: The body.
        neat: The algorithm.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **FITNESS,
        "frequency": Quantity("s^-1", "frequency of the best individual's clock", ("generation",), (0,)),
        "hidden": Quantity("1", "hidden nodes of the best individual", ("generation",), (0,)),
        "principal": Quantity("s^-1", "principal frequency of the joints of the best individual of all"),
        "champion": Quantity("1", "the best individual of all generations", dtype="str"),
    }

    replicates: int = Field(18, ge=2, le=10_000)
    seconds: float = Field(20.0, gt=0.0, le=1e4)
    snake: Snake = SHORT
    neat: Neat = Neat()

    def jobs(self) -> Iterator[Job]:
        """Every replicate."""
        return self.cross(replicate=range(self.replicates))

    def evaluate(self, nets: Nets, frequencies: Array) -> Array:
        """Distance swum, negative if backwards (equation 7.1)."""
        swimmers = FastSwimmers(self.snake, len(frequencies))
        swimmers.drive_by(
            lambda body, state, commands: swim_nets(body, state, nets, frequencies, commands), self.seconds
        )
        return score(swimmers, travelled(swimmers))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Evolve once."""
        history = evolve_nets(self.evaluate, self.snake.joints, self.neat, job.seed)
        text = net_text(to_card(history.champion))
        angles = self.angles(text)
        spectrum = np.abs(np.fft.rfft(angles - angles.mean(axis=0), axis=0)) ** 2
        peak = np.fft.rfftfreq(len(angles), self.snake.interval)[int(spectrum.sum(axis=1).argmax())]
        return {
            "best": history.best,
            "mean": history.mean,
            "frequency": history.frequencies,
            "hidden": history.hidden,
            "principal": float(peak),
            "champion": text,
        }

    def angles(self, net: str) -> Array:
        """Joint angles over time of a body driven by a net: (commands, joints) [rad]."""
        controller = NetController(from_card(NetCard.model_validate_json(net)), self.snake)
        world = Water(snake=self.snake, target=(0.0, 1e5))  # too far away to be reached
        commands = round(self.seconds / self.snake.interval)
        return np.array([world.frame()["joint_angles"] for _ in rollout(world, controller, 0, commands)][1:])

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitness and frequency of the clock over generations, and the joints of the best (as figures 7.4 to 7.6)."""
        figure, axes = canvas(3, 12.0, 3.8)
        draw_fitness(axes[0], results, 10.09)
        draw_band(axes[1], results["frequency"].values, COLOURS[2], "best individual")
        axes[1].axhline(0.63, color=COLOURS[5], linestyle=":", label="the source's, 0.63")
        axes[1].set(xlabel="generation", title="frequency of the clock [Hz]", ylim=(0, None))
        axes[1].legend(frameon=False)
        angles = self.angles(self.leader(results))
        times = np.arange(1, len(angles) + 1) * self.snake.interval
        shown = times <= 10.0
        for joint, row in enumerate(angles.T):
            axes[2].plot(times[shown], row[shown] + 2.0 * joint, color=COLOURS[joint % 5], linewidth=1)
        axes[2].set(xlabel="time [s]", title="joint angles of the best", yticks=[])
        return figure

    def leader(self, results: xr.Dataset) -> str:
        """The best net of all replicates."""
        return str(results["champion"].values[int(results["best"].values.max(axis=1).argmax())])

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Best individuals against average ones, at the end."""
        return best_against_average(results)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances and frequencies."""
        best, mean = results["best"].values, results["mean"].values
        clock, joints = results["frequency"].values[:, -1], results["principal"].values
        return [
            near("The best individuals converge to 10.09 m.", 10.09, best[:, -1].mean()),
            near("The average individuals converge to 6.03 m.", 6.03, mean[:, -1].mean()),
            claim_better(self.comparisons(results)),
            near("The clock converges to 0.63 Hz.", 0.63, float(np.median(clock)), 0.2, "median over replicates"),
            near("The joints move at 0.59 Hz.", 0.59, float(np.median(joints)), 0.2, "median over replicates"),
        ]

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The best net."""
        return {"best.json": self.leader(results)}
