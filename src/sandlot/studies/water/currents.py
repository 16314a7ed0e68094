"""Fetching a ball in a current."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from sandlot.control.snake.fetching import CAREFUL
from sandlot.control.snake.gaits import Gait
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import shared_waves
from sandlot.studies.water.fetching import BLOCK, FetchStudy, spread


def swimming_speed(snake: Snake, gait: Gait) -> float:
    """Speed of a body after a minute of swimming straight on [m/s]."""
    swimmers = FastSwimmers(snake, 1)
    genes = np.array([[gait.amplitude, gait.frequency, gait.phase]], np.float64)
    swimmers.swim([0.0], shared_waves(genes, snake.joints)[None], 60.0)
    return float(np.linalg.norm(swimmers.velocity[0]))


@study("water.currents", source="beyond the source; its section 7.12")
class Currents(FetchStudy):
    """How strong a current can the snake deliver in?

    Water flows in a random direction and carries the ball along. A ball counts as delivered if it is within 8 m of home
    when the snake has released it and is clear of it; it then drifts on.

    Attributes:
        strengths: Speeds of the current, as shares of the swimming speed.
        targets: Random targets of a set, for each strength; a multiple of 4.
        sets: Of random targets.
        distance: Maximum distance of targets [m].
    """

    strengths: Annotated[tuple[Annotated[float, Field(ge=0.0)], ...], Field(min_length=1), AfterValidator(distinct)] = (
        0.1,
        0.2,
        0.3,
    )
    targets: int = Field(100, ge=BLOCK, le=100_000, multiple_of=BLOCK)
    sets: int = Field(5, ge=1, le=1000)
    distance: float = Field(60.0, gt=0.0, le=1e4)

    def jobs(self) -> Iterator[Job]:
        """Every strength, four targets to a job."""
        return self.cross(strength=self.strengths, set=range(self.sets), block=range(self.targets // BLOCK))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Fetch four balls in one current."""
        marks = self.draw_targets(job, self.distance)
        angle = np.random.default_rng([*job.seed.generate_state(2), 1]).uniform(0.0, 2.0 * np.pi)
        speed = float(job.parameters["strength"]) * swimming_speed(self.snake, CAREFUL.swim)
        return self.fetch(CAREFUL, marks, (speed * np.cos(angle), speed * np.sin(angle)))

    def shares(self, results: xr.Dataset) -> dict[float, NDArray[np.bool_]]:
        """Whether each ball was delivered, by strength."""
        return {s: np.isfinite(pick(results, strength=s)["when"].values).ravel() for s in self.strengths}

    def figure(self, results: xr.Dataset) -> Figure:
        """Share of balls that are delivered (dots: each set), and the time it takes, by strength of the current."""
        figure, axes = canvas(2, 10.0, 4.0)
        good = self.shares(results)
        axes[0].plot(list(good), [100.0 * each.mean() for each in good.values()], "o-", color=COLOURS[0])
        for one in range(self.sets):
            parts = self.shares(pick(results, set=one)).values()
            axes[0].plot(list(good), [100.0 * each.mean() for each in parts], ".", color=COLOURS[0], alpha=0.5)
        axes[0].axhline(90.0, color=COLOURS[5], linestyle=":", label="90%")
        axes[0].set(xlabel="current, as a share of the swimming speed", ylabel="delivered [%]", ylim=(0, 102))
        axes[0].legend(frameon=False)
        times = [pick(results, strength=s)["when"].values.ravel() for s in self.strengths]
        axes[1].boxplot([each[np.isfinite(each)] for each in times], tick_labels=[f"{s:g}" for s in self.strengths])
        axes[1].set(xlabel="current, as a share of the swimming speed", ylabel="time to deliver [s]", ylim=(0, None))
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """90% in every current."""
        speed, claims = swimming_speed(self.snake, CAREFUL.swim), []
        for strength, good in self.shares(results).items():
            mine = pick(results, strength=strength)
            lost = int(mine["exploded"].values.sum())
            share = f"{strength:.0%} of the swimming speed ({strength * speed:.2f} m/s)"
            text = f"In a current of {share}, at least 90% are delivered."
            measured = f"{int(good.sum())} of {good.size} ({good.mean():.1%})"
            note = f"{spread(mine)}; within {self.seconds:g} s; {lost} exploded"
            claims.append(Claim(text, "beyond the source: 90%", measured, bool(good.mean() >= 0.9), note))
        return claims
