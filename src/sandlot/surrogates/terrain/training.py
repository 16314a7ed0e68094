"""Trains the nets of a learned rover on recorded drives, a small ensemble at once."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from sandlot.extras import need
from sandlot.settings import Settings
from sandlot.surrogates.terrain.contact import DRAGGED, ENTRY, LEVER, QUARTERS, SEEN
from sandlot.surrogates.terrain.drives import MOVED, MOVES, RESTS, STATES, WHEELS, Drive
from sandlot.surrogates.terrain.ensemble import Ensemble, Scaling, Tensor, Trained, annealed
from sandlot.surrogates.terrain.grip import ASIDE, GRIPS, SPOTS, loads_of, speeds_of
from sandlot.surrogates.terrain.motors import Motors, fit_motors
from sandlot.surrogates.terrain.shape import Shape
from sandlot.surrogates.terrain.stretches import Stretches

DRIFT_WEIGHTS = (1.0, 0.5, 1.5, 0.2, 0.2, 0.2)
"""Of mean errors of a stretch, in motion and in height, pitch and roll: those of speed and turn rate add up."""
WINDOW, SHARE, LEAST_WINDOWS = 50, 0.15625, 4
"""Besides stretches, windows of so many frames are predicted in a step of the search, frame by frame: in all, so many
frames as this share of those in stretches, but at least so many windows. Symmetries need a multiple of four."""
SHORT = ((0.1, 10), (0.25, 30), (0.7, 100))
"""Until these shares of the training, stretches have no more than so many frames."""
MAX_BATCH = 1024
LEAST_STEPS = 6
"""An epoch has at least so many steps of the search, so that few drives are fitted, too."""
WARM_UP = 50
"""Steps of the search in which the learning rate grows."""
SOIL_HIDDEN, SOIL_VALUES = 24, 8
"""Neurons of the net of the soil, and inputs that it gives besides gains."""
GRIP_SCALE = 0.5
SMALLEST_SLIP = 1e-12
TRAVELS = [*range(ENTRY, ENTRY + QUARTERS), *range(DRAGGED, DRAGGED + QUARTERS)]
LEVERS = [*range(LEVER, LEVER + QUARTERS)]
Report = Callable[[int, float], None]
"""Called after each epoch with its number and its mean error."""


def silent(epoch: int, error: float) -> None:
    """Report nothing."""


Neurons = Annotated[int, Field(ge=1, le=1024)]


class Training(Settings):
    """Settings of the training.

    Attributes:
        members: Nets of the ensemble.
        hidden: Neurons of the two hidden layers.
        epochs: An epoch sees as many frames as the drives have, or more if they are few: it has at least six steps.
        stretch: Frames that the net drives by itself before it is set back to the recording; fewer at first.
        batch: Frames that are averaged for a step of the search.
        rate: Largest learning rate.
        drift: Weight of the squared mean error of a stretch, beside that of the mean squared error.
        step: Weight of the squared error of a single frame, relative to how much states change in one. Long stretches
            alone teach where a rover ends, but not how it swings and slips on the way.
        bias: Weight of the squared mean error of single frames over 50 frames: errors that stay add up.
        seed: Of everything random.
    """

    members: int = Field(2, ge=1, le=64)
    hidden: tuple[Neurons, Neurons] = (64, 32)
    epochs: int = Field(80, ge=1)
    stretch: int = Field(250, ge=1)
    batch: int = Field(51200, ge=1)
    rate: float = Field(0.012, gt=0.0)
    drift: float = Field(20.0, ge=0.0)
    step: float = Field(0.3, ge=0.0)
    bias: float = Field(4.0, ge=0.0)
    seed: int = Field(0, ge=0)


class Driver:
    """Nets that drive by themselves, along stretches."""

    def __init__(
        self,
        data: Stretches,
        shape: Shape,
        motors: Motors,
        given: Training,
        interval: float,
        start: Trained | None = None,
    ) -> None:
        """Begin with nets that were trained before, or draw initial weights."""
        self.torch = torch = need("torch", "learn")
        self.data, self.width = data, data.rows.shape[2] + STATES + GRIPS
        if start is None:
            inputs = self.width + SOIL_VALUES
            self.net = Ensemble([inputs, *given.hidden, MOVES], given.members, given.seed, 0.1)
            self.linear = Ensemble([inputs, MOVES], given.members, given.seed, 0.0)
            soil = [data.soils.shape[1], SOIL_HIDDEN, self.width + SOIL_VALUES]
            self.gains = Ensemble(soil, given.members, given.seed + 1, 0.5)
        else:
            self.net = Ensemble.of(start.drives, *self._scalings)
            self.linear = Ensemble.of(start.linears, *self._scalings)
            self.gains = Ensemble.of(start.gains, data.soil_scaling, self._scalings[0])
        scale, mean = data.state_scaling.scale, data.state_scaling.mean
        speeds = np.concatenate(speeds_of(shape), axis=1)
        self.speeds = torch.tensor(scale[:5, None] * speeds).float(), torch.tensor(mean[:5] @ speeds).float()
        self.factor = torch.tensor(scale[-MOVES:] / scale[list(MOVED)]).float()
        self.mean_change = torch.tensor(mean[-MOVES:] / scale[-MOVES:]).float()
        wheels, of_target = scale[WHEELS], data.row_scaling.scale[-2:]
        self.wheels = torch.tensor((data.row_scaling.mean[-2:] - mean[WHEELS]) / wheels).float()
        self.per_wheel = torch.tensor(of_target / wheels).float()
        self.share, self.most = motors.share, torch.tensor(motors.most / wheels).float()
        self.loads = loads_of(np.arange(SEEN, dtype=np.float64)).astype(np.int64)
        self.load_scaling = Scaling(*(torch.tensor(each[self.loads]).float() for each in data.row_scaling))
        self.seen = [torch.tensor(each[:SEEN]).float() for each in data.row_scaling]
        self.interval = interval

    def hold(self, state: Tensor, grip: Tensor, per_shear: Tensor, levers: Tensor, losses: Tensor) -> Tensor:
        """Grip (members, batch, SPOTS, 2) after a frame; the same as `grip.hold`."""
        found = state[..., :5] @ self.speeds[0] + self.speeds[1]
        over = found[..., SPOTS:].unflatten(-1, (SPOTS, 2))
        ahead = found[..., :SPOTS] * levers - over[..., 0]
        slip = self.torch.stack([ahead, -over[..., 1]], -1)
        sheared = per_shear * (slip.square().sum(-1, keepdim=True) + SMALLEST_SLIP).sqrt()
        lost = (over.abs() * losses).sum(-1, keepdim=True) + sheared
        return (grip + per_shear * slip) / (1.0 + lost)

    def travels(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """What `grip.hold` takes from rows.

        Returns:
            How far the ground is below the centres of the wheels, at all spots [m], and the shares of their grip that
            these lose in a frame at unit speed, ahead and to the side [s/m].
        """
        torch, (mean, scale) = self.torch, self.seen
        levers, travels = (rows[..., part] * scale[part] + mean[part] for part in (LEVERS, TRAVELS))
        ahead = self.interval / travels
        losses = torch.stack([ahead, torch.full_like(ahead, self.interval / ASIDE)], -1)
        return torch.cat([levers, torch.zeros_like(levers)], -1), losses

    def turned(self, state: Tensor, commanded: Tensor) -> Tensor:
        """Speeds of wheels (members, batch, 2) after a frame; the same as `motors.turned`."""
        speeds = state[..., WHEELS]
        return speeds + self.torch.clamp(self.share * (commanded - speeds), -self.most, self.most)

    def run(self, drive: Tensor, rows: Tensor, state: Tensor, grip: Tensor, shifts: Tensor) -> Tensor:
        """States (members, batch, frames, MOVES) along stretches, as `Stretches.cut` gives them, of some drives.

        They are those of `MOVED`.
        """
        torch, net, width, count = self.torch, self.net.parameters, rows.shape[-1], rows.shape[2]
        first, bias = (torch.cat([part, other], -1) for part, other in zip(net, self.linear.parameters, strict=False))
        of_soil = self.gains.outputs(self.data.soils[drive])
        gains, values = 1.0 + of_soil[..., : self.width], of_soil[..., self.width :]
        given = torch.bmm((rows * gains[:, :, None, :width]).flatten(1, 2), first[:, :width]).unflatten(1, (-1, count))
        given = given + torch.baddbmm(bias, values, first[:, self.width :])[:, :, None]
        friction = self.data.frictions[drive][..., None] / GRIP_SCALE
        gains = torch.cat([gains[..., width:-GRIPS], gains[..., -GRIPS:] * friction], -1)
        weights, per_shear = first[:, width : self.width], (self.interval / self.data.shears[drive])[..., None, None]
        grip, found = grip.unflatten(-1, (SPOTS, 2)), []
        loads = rows[..., self.loads] * self.load_scaling.scale + self.load_scaling.mean
        commanded = self.wheels + self.per_wheel * rows[..., -2:]
        each_frame = (given, loads, commanded, shifts, *self.travels(rows))
        for each, load, wheels, shift, lever, loss in zip(*(part.unbind(2) for part in each_frame), strict=True):
            grip = self.hold(state, grip, per_shear, lever, loss)
            sums = torch.baddbmm(each, torch.cat([state, grip.flatten(-2) * load], -1) * gains, weights)
            change = self.net.after(sums[..., :-MOVES]) + sums[..., -MOVES:]
            motion = state[..., :3] + self.factor[:3] * change[..., :3]
            rest = state[..., RESTS] + self.factor[3:] * change[..., 3:] + shift
            state = torch.cat([motion, self.turned(state, wheels), rest, change - self.mean_change], -1)
            found.append(torch.cat([motion, rest], -1))
        return torch.stack(found, 2)

    @property
    def _scalings(self) -> tuple[Scaling, Scaling]:
        """Of the inputs of the net that moves a rover, which are scaled already, and of its outputs."""
        inputs = self.width + SOIL_VALUES
        same = Scaling(np.zeros(inputs), np.ones(inputs))
        return same, Scaling(np.zeros(MOVES), self.data.state_scaling.scale[-MOVES:])

    def nets(self, motors: Motors) -> "Trained":
        """As they are now, for inputs and outputs that are not scaled."""
        data = self.data
        same, of_moves = self._scalings
        drives, linears = self.net.nets(same, of_moves), self.linear.nets(same, of_moves)
        gains = self.gains.nets(data.soil_scaling, same)
        means, scales = (np.concatenate(pair) for pair in zip(data.row_scaling, data.state_scaling, strict=True))
        means, scales = np.append(means, np.zeros(GRIPS)), np.append(scales, np.full(GRIPS, GRIP_SCALE))
        return Trained(tuple(drives), tuple(linears), tuple(gains), means, scales, motors)


def train_drives(
    drives: Sequence[Drive], shape: Shape, given: Training, report: Report = silent, start: Trained | None = None
) -> Trained:
    """Train the nets that move a rover; they learn to drive by themselves, stretch by stretch.

    Args:
        drives: Recorded.
        shape: Of the rover.
        given: Settings.
        report: Shows progress.
        start: Nets that the search begins with, instead of random ones.
    """
    data = Stretches(drives, shape, start)
    torch, members = need("torch", "learn"), given.members if start is None else len(start.drives)
    motors = fit_motors(drives, shape) if start is None else start.motors
    driver = Driver(data, shape, motors, given, drives[0].interval, start)
    parameters = [*driver.net.parameters, *driver.linear.parameters, *driver.gains.parameters]
    count, length = data.rows.shape[:2]
    window = min(WINDOW, length - 1)
    windows = max(int(SHARE * given.batch) // (WINDOW * LEAST_WINDOWS), 1) * LEAST_WINDOWS
    drift_weights = torch.tensor(DRIFT_WEIGHTS)

    def away(drive: Tensor, first: Tensor, frames: int) -> Tensor:
        rows, states, grips, shifts = data.cut(drive, first, frames)
        return driver.run(drive, rows, states[:, :, 0], grips, shifts) - states[:, :, 1:, list(MOVED)]

    def draw(batch: int, frames: int) -> tuple[Tensor, Tensor]:
        drive = torch.randint(0, count, (members, batch), generator=source)
        return drive, torch.randint(0, length - frames, (members, batch), generator=source)

    def loss(batch: int, frames: int) -> Any:
        drive, first = draw(batch, frames)
        error, important = away(drive, first, frames), data.importance[drive]
        along = ((error**2).mean(2) * important).mean()
        drift = (error.mean(2) ** 2 * drift_weights * important).mean()
        drive, first = draw(windows, window)
        each = first[..., None] + torch.arange(window)
        single = away(drive.repeat_interleave(window, 1), each.flatten(1), 1)[:, :, 0] / driver.factor
        bias = (single.unflatten(1, (windows, window)).mean(2) ** 2).mean()
        return members * (along + given.drift * drift + given.step * (single**2).mean() + given.bias * bias)

    source = torch.Generator().manual_seed(given.seed + 2)
    search = torch.optim.Adam(parameters, lr=given.rate)
    rounds = max(count * length // given.batch, LEAST_STEPS)
    for epoch in range(given.epochs):
        total = 0.0
        for k in range(rounds):
            done = (epoch + k / rounds) / given.epochs
            longest = min((most for until, most in SHORT if done < until), default=given.stretch)
            frames = min(longest, given.stretch, length - 1)
            batch = min(max(given.batch // frames, 1), MAX_BATCH)
            for group in search.param_groups:
                group["lr"] = given.rate * min(1.0, (epoch * rounds + k + 1) / WARM_UP) * annealed(done)
            error = loss(batch, frames)
            search.zero_grad()
            error.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            search.step()
            total += float(error.detach()) / members
        report(epoch, total / rounds)
    return driver.nets(motors)
