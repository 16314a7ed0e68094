"""A fitted model of how a rover moves: the nets of an ensemble, the rover's shape, and their card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from sandlot.errors import ModelError
from sandlot.models.card import Card
from sandlot.models.dense import Dense, forward, layers_of, make_dense, single
from sandlot.models.store import Model, load, save
from sandlot.surrogates.terrain.contact import SEEN, give_of
from sandlot.surrogates.terrain.drives import MOVES, STATES, Drive, symmetries
from sandlot.surrogates.terrain.drives import RESTS as OF_RESTS
from sandlot.surrogates.terrain.ensemble import Trained
from sandlot.surrogates.terrain.feet import FOOT
from sandlot.surrogates.terrain.grip import GRIPS, spots_of
from sandlot.surrogates.terrain.inputs import FRICTION, SOIL_INPUTS, shear_of
from sandlot.surrogates.terrain.motors import Motors
from sandlot.surrogates.terrain.shape import Shape
from sandlot.surrogates.terrain.step import GAINS, RESTS, Learned
from sandlot.typing import Array

SHIPPED = Path(__file__).parent / "shipped"
VERSION = 5
"""Models of other versions saw the ground, or turned their wheels, otherwise."""
LAYERS = ("softsign", "softsign", "linear")
SOIL_LAYERS = ("softsign", "linear")
SPEEDS = 3
"""Ahead, to the left, and of turning, which are limited."""
GAUSSIAN = 1.517
"""90% of a normal distribution in the plane is within so many times the root of its mean squared distance."""
RESERVE = 1.5
"""Speeds may exceed those of the recordings by this factor."""
ROOM = 0.25
"""Attitude and height above where it rests may leave the range of the recordings by this share of it."""


@dataclass(frozen=True, eq=False)
class MotionModel:
    """How a rover moves, and how it stands on the ground.

    Attributes:
        shape: Of the rover.
        drives: Nets that move it, one for each member of the ensemble.
        linears: Linear functions of the same inputs, one for each; what they give is added to what the nets give.
        gains: Nets that give the gains of their inputs, and further inputs, from the soil; one for each member.
        means: (inputs,) of what the nets that move it get, besides the soil.
        scales: (inputs,) the same is divided by these.
        motors: That turn its wheels.
        settle: Net that puts it on the ground at first.
        limits: (SPEEDS,) its largest speeds [m/s, rad/s].
        ranges: (RESTS, 2) of height [m], pitch and roll [rad] relative to where it would rest.
        interval: Between frames [s].
        card: What it was fitted to.
    """

    shape: Shape
    drives: tuple[Dense, ...]
    linears: tuple[Dense, ...]
    gains: tuple[Dense, ...]
    means: Array
    scales: Array
    motors: Motors
    settle: Dense
    limits: Array
    ranges: Array
    interval: float
    card: Card

    @property
    def trained(self) -> Trained:
        """Its nets, as a training may go on with them."""
        return Trained(self.drives, self.linears, self.gains, self.means, self.scales, self.motors)

    def learned(self, member: int = 0) -> Learned:
        """One member of the ensemble, for kernels."""
        shape = self.shape
        return Learned(
            shape.body,
            spots_of(shape),
            self.means,
            self.motors,
            single(self.drives[member]),
            single(self.linears[member]),
            single(self.settle),
            self.limits,
            self.ranges,
            self.interval,
            shape.radius,
            shape.base,
            shape.top_speed,
            shape.lever,
        )

    def soils(self, inputs: Array, member: int = 0) -> Array:
        """Soils as kernels take them: (n, values).

        Args:
            inputs: (n, soil inputs) as `soil_inputs` gives them.
            member: Of the ensemble.
        """
        found, count = forward(self.gains[member], np.ascontiguousarray(inputs)), len(self.means)
        gains = (1.0 + found[:, :count]) / self.scales
        gains[:, -GRIPS:] *= inputs[:, FRICTION, None]
        shape = self.shape
        springs = [(shear_of(each), *give_of(each, shape)) for each in inputs.astype(np.float64)]
        return np.concatenate([inputs, springs, gains, found[:, count:]], axis=1)

    def changes(self, inputs: Array, soil: Array, member: int = 0) -> Array:
        """Changes of the state (rows, MOVES), from inputs (rows, inputs) on a soil (soil inputs,)."""
        values = self.soils(soil[None], member)[0, GAINS:]
        count = len(self.means)
        more = np.broadcast_to(values[count:], (len(inputs), len(values) - count))
        rows = np.column_stack([(inputs - self.means) * values[:count], more])
        return np.asarray(forward(self.linears[member], rows) + forward(self.drives[member], rows))

    @property
    def band(self) -> float:
        """90% of free runs end within so many deviations of the ensemble from the end of its mean; see `RunError`."""
        return float(self.card.settings.get("band", GAUSSIAN))

    def with_errors(self, errors: Mapping[str, float]) -> Self:
        """The same model whose card states these errors."""
        return replace(self, card=self.card.model_copy(update={"errors": dict(errors)}))

    def with_settings(self, **settings: Any) -> Self:
        """The same model whose card has these settings besides its own."""
        return replace(self, card=self.card.model_copy(update={"settings": {**self.card.settings, **settings}}))

    def save(self, path: Path) -> None:
        """Write it to a new directory.

        Raises:
            ModelError: If it exists, or cannot be written.
        """
        shape = self.shape
        arrays: dict[str, Array] = {
            "feet": np.stack([shape.feet[name] for name in FOOT.names or ()], axis=1),
            "centre": shape.centre,
            "limits": self.limits,
            "ranges": self.ranges,
            "means": self.means,
            "scales": self.scales,
        }
        named = {f"drive.{member}": net for member, net in enumerate(self.drives)} | {"settle": self.settle}
        named |= {f"linear.{member}": net for member, net in enumerate(self.linears)}
        named |= {f"gains.{member}": net for member, net in enumerate(self.gains)}
        for name, net in named.items():
            for k, (weights, biases) in enumerate(layers_of(net)):
                arrays[f"{name}.weights.{k}"], arrays[f"{name}.biases.{k}"] = weights, biases
        numbers = {each: getattr(shape, each) for each in NUMBERS}
        settings = {
            **self.card.settings,
            **numbers,
            "version": VERSION,
            "interval": self.interval,
            "members": len(self.drives),
            **self.motors._asdict(),
        }
        save(path, self.card.model_copy(update={"kind": "motion", "settings": settings}), arrays)


NUMBERS = tuple(each.name for each in fields(Shape) if each.type in (float, "float"))


def load_motion(path: Path) -> MotionModel:
    """Read a model.

    Raises:
        ModelError: If it cannot be read, or is not a model of motion.
    """
    model = load(path, "motion")
    if model.card.settings.get("version") != VERSION:
        raise ModelError(f"{path} was fitted by another version of Sandlot; fit it again")
    try:
        return _motion(model)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: its settings are damaged ({error}); restore it from a copy") from None


def _motion(model: Model) -> MotionModel:
    given = model.card.settings
    feet = model.array("feet", (None, len(FOOT.names or ())))
    centre = model.array("centre", (3,))
    numbers = {each: float(given[each]) for each in NUMBERS}
    shape = Shape(np.array([tuple(row) for row in feet], FOOT), centre, **numbers)
    soil, members = len(SOIL_INPUTS), int(given["members"])
    inputs = SEEN + 2 + STATES + GRIPS
    gains = tuple(_net(model, f"gains.{k}", SOIL_LAYERS, soil) for k in range(members))
    wide = [int(net.sizes[-1]) for net in gains]
    drives = tuple(_net(model, f"drive.{k}", LAYERS, wide[k], MOVES) for k in range(members))
    linears = tuple(_net(model, f"linear.{k}", LAYERS[-1:], wide[k], MOVES) for k in range(members))
    if min(wide) < inputs:
        raise ModelError(f"the nets of the soil have {min(wide)} outputs; expected at least {inputs}")
    settle = _net(model, "settle", LAYERS, SEEN + soil, RESTS)
    limits, ranges = model.array("limits", (SPEEDS,)), model.array("ranges", (RESTS, 2))
    means, scales = model.array("means", (inputs,)), model.array("scales", (inputs,))
    interval = float(given["interval"])
    motors = Motors(float(given["share"]), float(given["most"]))
    nets = Trained(drives, linears, gains, means, scales, motors)
    return MotionModel(shape, *nets, settle, limits, ranges, interval, model.card)


def _net(model: Model, name: str, layers: Sequence[str], inputs: int, outputs: int | None = None) -> Dense:
    weights = [model.array(f"{name}.weights.{k}", (None, None)) for k in range(len(layers))]
    biases = [model.array(f"{name}.biases.{k}", (None,)) for k in range(len(layers))]
    if len(weights[0]) != inputs or outputs not in (None, len(biases[-1])):
        raise ModelError(
            f"the net {name} has {len(weights[0])} inputs and {len(biases[-1])} outputs; expected {inputs}, {outputs}"
        )
    return make_dense(weights, biases, layers)


def bounds(drives: Sequence[Drive], shape: Shape) -> tuple[Array, Array]:
    """Largest speeds (SPEEDS,), and ranges (RESTS, 2) of how a rover stands, for a model fitted to drives.

    A symmetric rover leans as far to one side, or ahead, as to the other.
    """
    speeds = np.concatenate([each.motion for each in drives])
    rests = np.concatenate([each.rests for each in drives])
    ends = np.stack([rests.min(axis=0), rests.max(axis=0)])
    mirrored = np.concatenate([ends * each.state_signs[OF_RESTS] for each in symmetries(shape, 0)])
    low, high = mirrored.min(axis=0), mirrored.max(axis=0)
    room = ROOM * (high - low)
    return RESERVE * np.abs(speeds).max(axis=0), np.column_stack([low - room, high + room])


def valid_ranges(drives: Sequence[Drive]) -> dict[str, tuple[float, float]]:
    """Of the inputs of a model, for its card."""
    columns: dict[str, Any] = {
        "command_speed [m/s]": np.concatenate([each.commands[:, 0] for each in drives]),
        "command_turn_rate [rad/s]": np.concatenate([each.commands[:, 1] for each in drives]),
        "slope ahead [1]": np.concatenate([each.seen[:, -2] for each in drives]),
        "slope to the left [1]": np.concatenate([each.seen[:, -1] for each in drives]),
        **{f"soil: {name}": np.array([each.soil[k] for each in drives]) for k, name in enumerate(SOIL_INPUTS)},
    }
    return {name: (float(values.min()), float(values.max())) for name, values in columns.items()}
