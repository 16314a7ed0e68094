"""Swimming to a ball and grasping it."""

from collections.abc import Iterator, Mapping

import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.studies.base import Claim, Found, Job, pick, study
from sandlot.studies.plots import canvas
from sandlot.studies.water.fetching import HOW, WORDS, FetchStudy, claim_all, claim_circles, draw_paths, quadrants


@study("water.capture", source="Draschwandtner 2015, section 7.11")
class Capture(FetchStudy):
    """Can the snake capture a ball wherever it lies?

    It steers by a bend proportional to the angle to the ball, and grasps when it is near: once with the source's
    settings, and once with more careful ones.

    Attributes:
        distance: Of the targets, along x and y [m].
    """

    distance: float = Field(30.0, gt=0.0, le=1e4)

    def jobs(self) -> Iterator[Job]:
        """All quadrants, with both settings."""
        return self.cross(how=tuple(HOW))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Capture a ball in each quadrant."""
        return self.fetch(HOW[str(job.parameters["how"])], quadrants(self.distance), captured=True)

    def figure(self, results: xr.Dataset) -> Figure:
        """Paths of the centre of mass and of the ball (as figure 7.32)."""
        figure, axes = canvas(2, 10.0, 5.0)
        for each, how in zip(axes, HOW, strict=True):
            draw_paths(each, pick(results, how=how))
            each.set_title(WORDS[how])
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The snake captures all balls; or why it does not."""
        reach = HOW["source"].reach * self.snake.arclength
        return [*(claim_all(results, how, "captured") for how in HOW), claim_circles(results, "captured", reach)]
