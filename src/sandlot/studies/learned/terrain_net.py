"""The terrain net of version 2: what it predicts, and why it predicts too many tracks."""

import time
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.kernels.randomness import children
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.learned.shared import FAR, SOURCE
from sandlot.studies.plots import canvas
from sandlot.surrogates.published.motion import INPUTS
from sandlot.surrogates.published.scores import Score
from sandlot.surrogates.published.terrain_net import SIDE, Ridge, Views, crop, grey_values, train
from sandlot.typing import Array
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.world import Terrain

SESSIONS = 3
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Of the linear map; the one that tests best is taken, which no training could know."""
FULL = 192_000 * 10 // 32
"""Training steps of the source."""
VIEWS = {"follows": "moving view", "fixed": "fixed view"}
"""Each image is cropped at its own position, as in the source, or both at the later one."""


def watch(frames: int, seed: np.random.SeedSequence, follows: bool) -> Views:
    """Drive a session of algorithm 5 on terrain A, and keep the changes of the view around the rover.

    Args:
        frames: How many.
        seed: Of the start and the speeds.
        follows: Whether the image before is cropped at its own position, not at that of the present one.
    """
    place, drive = children(seed, 2)
    x, y = np.random.default_rng(place).uniform(-FAR, FAR, 2).tolist()
    world = Terrain(poses=((x, y, 0.0),))
    grid, speeds = world.task.ground.grid, world.task.rovers.top_speeds[0]
    window, before = np.zeros((2, SIDE, SIDE), np.int16), np.zeros((0, 0), np.uint8)
    changes, inputs = np.zeros((frames, SIDE, SIDE), np.int16), np.zeros((frames, len(INPUTS)))
    scale = np.array([2.0 * speeds[0] / world.task.rovers.wheel_radius[0]] * 2 + [0.5, 0.5])
    corner = last = (0, 0)
    for step in rollout(world, world.controller("session", frames), 0, frames, controller_seeds=[drive]):
        state, heights = world.task.state, world.task.ground.heights
        if step.number == 0:
            low, high = float(heights.min()), float(heights.max())
        grey = grey_values(heights, low, high)
        corner = tuple((np.floor(grid.nodes(state.position)[0] + 0.5).astype(np.int64) - SIDE // 2).tolist())
        if step.number:
            crop(before, *(last if follows else corner), window[0])
            crop(grey, *corner, window[1])
            roll, pitch, _ = state.attitude[0]
            changes[step.number - 1] = window[1] - window[0]
            inputs[step.number - 1] = np.array([*state.wheel_speeds[0], -pitch, roll]) / scale
        before, last = grey, corner
    return Views(changes, inputs)


@study("learned.terrain_net", source=f"{SOURCE}, section 6.3, figure 6.19")
class TerrainNet(Study):
    """Why does the source's terrain net predict too many tracks?

    The net has 20 linear layers of 500 nodes, and predicts the next change of a window of 128 x 128 pixels from the
    last one. Its training as in the source takes 60,000 steps of 32 samples; here it has as many frames as the settings
    give, and half of them, to see what more would change. A linear net is a linear map, and the best map can be found
    without training. All are tested on an unseen session, beside two predictions that need no net: no change, and the
    last change once more. Images are of 256 grey values. As in the source each is cropped about the rover, so that the
    view changes when the rover moves by a pixel, even where the ground does not; a second net is trained on changes of
    the ground alone.

    Attributes:
        frames: Of each of the three sessions.
        epochs: Of Adam.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "error": Quantity("1", "mean squared error on the testing set, grey values squared"),
        "training_error": Quantity("1", "mean squared error in the last epoch, grey values squared; NaN for a map"),
        "determined": Quantity("1", "determination on the testing set"),
        "r2": Quantity("1", "squared correlation on the testing set"),
        "nothing": Quantity("1", "mean squared error of no change, grey values squared"),
        "again": Quantity("1", "mean squared error of the last change once more, grey values squared"),
        "moved": Quantity("1", "share of frames in which the window moves by a pixel"),
        "step_time": Quantity("s", "of a training step; NaN for a map"),
        "frame_time": Quantity("s", "of a prediction; NaN for a map"),
        "recorded": Quantity("1", "a recorded change, grey values", ("row", "column"), (0, 0)),
        "predicted": Quantity("1", "the predicted one, grey values", ("row", "column"), (0, 0)),
    }

    frames: int = Field(1280, ge=256, le=64_000)
    epochs: int = Field(10, ge=1, le=1000)

    def jobs(self) -> Iterator[Job]:
        """Nets for both views, and for the source's own half the frames, too; linear maps, also with fewer frames."""
        few, many = self.frames // 4, self.frames
        nets = [("follows", many, "net"), ("follows", many // 2, "net"), ("fixed", many, "net")]
        maps = [("follows", few, "map"), ("follows", many, "map"), ("fixed", few, "map"), ("fixed", many, "map")]
        return self.each({"view": view, "used": used, "fit": fit} for view, used, fit in [*nets, *maps])

    def run(self, job: Job) -> Mapping[str, Found]:
        """Record sessions, train a net or fit a linear map, and test it."""
        first, *seeds, weights = children(np.random.SeedSequence(self.seed, spawn_key=(1000,)), SESSIONS + 2)
        follows, used = job.parameters["view"] == "follows", int(job.parameters["used"])
        testing = watch(self.frames, first, follows)
        sessions = [watch(used, seed, follows) for seed in seeds]
        inputs, targets = testing.pairs(np.arange(1, self.frames))
        step, error, spent = np.nan, np.nan, np.nan
        if job.parameters["fit"] == "net":
            fit = train(sessions, self.epochs, int(weights.generate_state(1)[0]))
            step, error, start = fit.step, float(fit.errors[-1]), time.process_time()
            predicted = np.concatenate([fit.predict(inputs[k : k + 1]) for k in range(len(inputs))])
            spent = (time.process_time() - start) / len(inputs)
        else:
            fitted = Ridge(sessions)
            tried = [fitted.predict(inputs, penalty) for penalty in PENALTIES]
            predicted = min(tried, key=lambda each: float(np.mean((each - targets) ** 2)))
        score = Score.of(predicted.ravel().astype(np.float64), targets.ravel().astype(np.float64))
        before = inputs[:, len(INPUTS) :]
        best = int(np.argmax((targets**2).sum(axis=1))) if follows else len(targets) // 16
        return {
            "error": score.mse,
            "training_error": error,
            "determined": score.determined,
            "r2": score.r2,
            "nothing": float(np.mean(targets.astype(np.float64) ** 2)),
            "again": float(np.mean((targets.astype(np.float64) - before) ** 2)),
            "moved": float(np.mean((testing.changes != 0).mean(axis=(1, 2)) > 0.05)),
            "step_time": step,
            "frame_time": spent,
            "recorded": _image(targets[best]),
            "predicted": _image(predicted[best]),
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """A recorded change of the window, and the predicted one, for both kinds of views; grey values."""
        figure, panels = canvas(4, 12.0, 3.6)
        for k, (view, text) in enumerate(VIEWS.items()):
            one = pick(results, view=view, used=self.frames, fit="net").isel(job=0)
            for axes, kind in zip(panels[2 * k :], ("recorded", "predicted"), strict=False):
                values = one[kind].values
                limit = max(float(np.abs(one["recorded"].values).max()), 1.0)
                axes.imshow(values, cmap="RdBu", vmin=-limit, vmax=limit, origin="lower")
                axes.set(title=f"{text}: {kind}", xlabel=f"colours: -{limit:g} to {limit:g} grey values")
                axes.set(xticks=[], yticks=[])
                axes.grid(visible=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """That it is not usable, and why."""
        full, half, fixed = (
            pick(results, view=view, used=used, fit="net").isel(job=0)
            for view, used in (("follows", self.frames), ("follows", self.frames // 2), ("fixed", self.frames))
        )
        maps = {
            (view, used): float(pick(results, view=view, used=used, fit="map")["determined"].item())
            for view in VIEWS
            for used in (self.frames // 4, self.frames)
        }
        few, many = maps["follows", self.frames // 4], maps["follows", self.frames]
        steps = self.epochs * (SESSIONS * (self.frames - 1) // 32)
        hours = FULL * float(full["step_time"]) / 3600.0
        return [
            Claim(
                "The terrain net needs more accurate training to be truly useful.",
                "too many tracks are predicted",
                f"{float(full['determined']):.3f} with {SESSIONS * self.frames} frames, "
                f"{float(half['determined']):.3f} with half of them",
                max(float(full["determined"]), float(half["determined"])) < 0.5,
                f"1 - MSE / variance on an unseen session; holds below 0.5. {steps:,} steps were made; the source's "
                f"{FULL:,} would take {hours:.1f} h here",
            ),
            Claim(
                "No linear net is useful on these frames, however long it is trained.",
                "not studied",
                f"{many:.3f}, and {few:.3f} with a quarter of the frames",
                max(few, many) < 0.5,
                "1 - MSE / variance of the best linear map, with the penalty that tests best; holds below 0.5. "
                f"Where the view stays: {maps['fixed', self.frames]:.3f} and {maps['fixed', self.frames // 4]:.3f}",
            ),
            Claim(
                "It predicts changes better than the guess that nothing changes.",
                "roughly the right shape and orientation",
                f"{float(full['error']):.3g} against {float(full['nothing']):.3g}",
                float(full["error"]) < float(full["nothing"]),
                "mean squared error of grey values on an unseen session",
            ),
            Claim(
                "Most of what it is to predict is no change of the ground, but of the view.",
                "not studied",
                f"{float(full['nothing']):.3g} against {float(fixed['nothing']):.3g}",
                float(fixed["nothing"]) < 0.5 * float(full["nothing"]),
                "mean square of the changes, with the window moving along, and with both images cropped at one place; "
                f"it moves in {100 * float(full['moved']):.0f}% of frames. Holds if the latter is less than half",
            ),
        ]


def _image(values: Array) -> Array:
    return values.reshape(SIDE, SIDE).astype(np.float64)
