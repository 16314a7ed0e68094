"""Grasping a ball beside the body."""

import itertools
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.control.snake.gaits import STRAIGHT, Schedule, fold, grasp_poses, then
from sandlot.recordings import Quantity
from sandlot.robots.reference_swimmers import check_stable
from sandlot.robots.snake import Snake
from sandlot.robots.swimmer_models import make_swimmers
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.water.following import follow
from sandlot.studies.water.strips import strip


@study("water.grasp", source="Draschwandtner 2015, section 7.9")
class Grasp(Study):
    """Does a shrinking circle of links grasp a ball?

    An eight-link body lies still for a second, forms a circle around the ball, and tightens it four times, once a
    second. The source places the ball for a body of 17 links; here its position is converted to a body of 8 links.

    Attributes:
        snake: The body.
        ball: Position of the ball [m] for a grasp to the left; mirrored for a grasp to the right.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "held": Quantity("1", "whether the ball is between the holding links"),
        "away": Quantity("m", "distance from the middle of the holding links to the ball"),
        "moved": Quantity("m", "distance that the ball moved"),
        "exploded": Quantity("1", "whether the simulation exploded"),
    }
    HOLDING: ClassVar[int] = 3

    snake: Snake = Snake(links=8, mass=150.0, max_torque=1e4)
    ball: tuple[float, float] = (-4.0, 2.0)

    def check(self) -> None:
        """Refuse a body that cannot hold a ball, or that the reference cannot simulate."""
        check_stable(self.snake)
        grasp_poses(self.snake.joints, self.HOLDING)

    def jobs(self) -> Iterator[Job]:
        """Both sides."""
        return self.cross(side=("left", "right"))

    def plan(self, left: bool) -> Schedule:
        """Wait, form a circle, tighten it."""
        poses = [np.zeros(self.snake.joints), *grasp_poses(self.snake.joints, self.HOLDING, left)]
        folds = [fold(a, b, 0.8, self.snake.interval, at=1.0 + k) for k, (a, b) in enumerate(itertools.pairwise(poses))]
        return then(Schedule((0.0,), (STRAIGHT,)), *folds)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Grasp once."""
        left = job.parameters["side"] == "left"
        position = np.array([self.ball[0], self.ball[1] if left else -self.ball[1]])
        swimmers = make_swimmers("reference", self.snake, balls=position[None])
        for _ in follow(swimmers, self.plan(left), 10.0):
            pass
        ring, ball = swimmers.centres[0, : self.HOLDING + 1], swimmers.balls[0]
        inside = bool((ring.min(axis=0) <= ball).all() and (ball <= ring.max(axis=0)).all())
        return {
            "held": float(inside and not swimmers.exploded[0]),
            "away": float(np.linalg.norm(ring.mean(axis=0) - ball)),
            "moved": float(np.linalg.norm(ball - position)),
            "exploded": float(swimmers.exploded[0]),
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """The body around the ball, to the left, second by second (as figure 7.27)."""
        return strip(self.snake, self.plan(True), 7.0, "", ball=self.ball, count=8, columns=4).figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Four links hold the ball, to either side."""
        held, lost = int(results["held"].sum()), int(results["exploded"].sum())
        text = "The ball ends up between four links, to either side."
        measured = f"{held} of 2; {results['away'].values.max():.2f} m from their middle at most"
        return [Claim(text, "surrounded", measured, held == 2, f"{lost} exploded")]
