"""Fetching balls and bringing them home."""

import itertools
from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.controller import as_controller
from sandlot.control.snake.fetching import CAREFUL, Fetcher
from sandlot.studies.base import Claim, Found, Job, Picture, Value, pick, study
from sandlot.studies.plots import COLOURS, canvas, show
from sandlot.studies.water.fetching import (
    BLOCK,
    HOW,
    WORDS,
    FetchStudy,
    claim_all,
    claim_circles,
    draw_home,
    draw_paths,
    quadrants,
    spread,
)
from sandlot.worlds.rollout import rollout
from sandlot.worlds.scene import Scene
from sandlot.worlds.water.world import Water


@study("water.deliver", source="Draschwandtner 2015, section 7.12")
class Deliver(FetchStudy):
    """Can the snake fetch a ball and bring it home, wherever it lies?

    First from the source's four places, with the source's settings and with more careful ones; then, beyond the source,
    from random places around home. If a grasp fails, the snake backs off and tries again. A ball is delivered when it
    is within 8 m of home and the snake has released it and is clear of it.

    Attributes:
        quadrant: Distance of the source's targets, along x and y [m].
        distance: Maximum distance of random targets [m].
        targets: Number of random targets in a set; a multiple of 4.
        sets: Of random targets.
    """

    quadrant: float = Field(40.0, gt=0.0)
    distance: float = Field(60.0, gt=0.0, le=1e4)
    targets: int = Field(200, ge=BLOCK, le=100_000, multiple_of=BLOCK)
    sets: int = Field(5, ge=1, le=1000)

    def jobs(self) -> Iterator[Job]:
        """The source's places, with both settings; then random ones, four to a job."""
        kinds: list[dict[str, Value]] = [{"how": how, "place": "quadrant", "set": 0, "block": 0} for how in HOW]
        blocks = itertools.product(range(self.sets), range(self.targets // BLOCK))
        kinds += [{"how": "sure", "place": "random", "set": each, "block": block} for each, block in blocks]
        return self.each(kinds)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Fetch four balls."""
        random = job.parameters["place"] == "random"
        marks = self.draw_targets(job, self.distance) if random else quadrants(self.quadrant)
        return self.fetch(HOW[str(job.parameters["how"])], marks)

    def figure(self, results: xr.Dataset) -> Figure:
        """Paths of body and ball from the source's places (as figure 7.34), and positions of random balls."""
        figure, axes = canvas(3, 14.0, 4.8)
        for each, how in zip(axes, HOW, strict=False):
            draw_home(each)
            draw_paths(each, pick(results, place="quadrant", how=how))
            each.set_title(WORDS[how])
        chance = pick(results, place="random")
        marks, good = chance["mark"].values.reshape(-1, 2), np.isfinite(chance["when"].values.ravel())
        draw_home(axes[2])
        axes[2].plot(*marks[good].T, "o", color=COLOURS[2], markersize=4, label="delivered")
        axes[2].plot(*marks[~good].T, "x", color=COLOURS[1], markersize=6, label="not delivered")
        axes[2].set(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="random places")
        axes[2].legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """All four quadrants, or why not; one after a failed grasp; and 95% of random places."""
        places, chance = pick(results, place="quadrant"), pick(results, place="random")
        done = np.isfinite(results["when"].values)
        failed = int((done & (results["failures"].values > 0)).sum())
        again = int((done & (results["attempts"].values > 1)).sum())
        good = np.isfinite(chance["when"].values)
        lost = int(chance["exploded"].values.sum())
        middle = float(np.nanmedian(chance["when"].values)) if good.any() else np.nan
        return [
            *(claim_all(places, how, "delivered") for how in HOW),
            claim_circles(places, "delivered"),
            Claim(
                "A delivery succeeds after a failed grasp.",
                "1",
                failed,
                failed > 0,
                f"{again} took more than one grasp: the others lost the ball on the way, or released it too far from "
                "home",
            ),
            Claim(
                f"Of balls at random places up to {self.distance:g} m away, at least 95% are delivered.",
                "beyond the source: 95%",
                f"{int(good.sum())} of {good.size} ({good.mean():.1%}), half of them within {middle:.0f} s",
                bool(good.mean() >= 0.95),
                f"{spread(chance)}; within {self.seconds:g} s; {lost} exploded",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """One delivery, from start to end."""
        fetcher, place = Fetcher(self.snake, CAREFUL), quadrants(self.quadrant)[1]
        world = Water(fidelity="reference", snake=self.snake, target=tuple(place.tolist()))
        task, commands = world.task, round(self.seconds / self.snake.interval)
        shots: list[tuple[str, Scene]] = []
        state = ""
        for step in rollout(world, as_controller(fetcher), 0, commands):
            if step.number and fetcher.state != state and len(shots) < 11:
                state = fetcher.state
                shots.append((f"{state}, {task.swimmers.time[0]:.0f} s", world.scene()))
        shots.append((f"done, {task.swimmers.time[0]:.0f} s", world.scene()))
        rows = -(-len(shots) // 4)
        figure = Figure(figsize=(11.0, 3.0 * rows), layout="constrained")
        for k, (title, scene) in enumerate(shots, start=1):
            axes = figure.add_subplot(rows, 4, k)
            show(axes, scene)
            axes.set(xticks=[], yticks=[], xlabel="", ylabel="", title=title)
        yield Picture(
            "A delivery, at each change of the snake's state. Home is the green disc. A ball outside the picture is "
            "marked at its edge.",
            figure,
        )
