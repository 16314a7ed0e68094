"""What soil is fitted to: measurements that can be simulated with any soil."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sandlot.physics.soil import SoilKind
from sandlot.typing import Array, IntArray


@dataclass(frozen=True)
class Channel:
    """A kind of measurement.

    Attributes:
        name: In words, with its unit.
        scale: Typical error of a rough guess, by which a search begins.
        floor: Errors smaller than this mean nothing: rounding, nodes of the grid.
    """

    name: str
    scale: float
    floor: float


@dataclass(frozen=True, eq=False)
class Layout:
    """Which measurement is of which kind.

    Attributes:
        channels: The kinds.
        channel: (n,) number of each measurement's kind.
        block: (n,) number of each measurement's block. Errors within a block may be correlated in any way; those of
            different blocks count as independent.
    """

    channels: tuple[Channel, ...]
    channel: IntArray
    block: IntArray


class Evidence(Protocol):
    """Measurements of one experiment or drive.

    Attributes:
        width: Of the wheels or plate that pressed the soil [m].
        layout: Of the measurements.
        measured: (n,) as it was measured.
        frames: Simulated by one prediction, for an estimate of its cost.
    """

    width: float
    layout: Layout
    measured: Array
    frames: int

    def predict(self, kind: SoilKind) -> Array:
        """The same by simulation with a soil: (n,); NaN from where a simulation has diverged."""


def joined(layouts: list[Layout]) -> Layout:
    """The layout of several experiments, one after the other; channels of the same name are the same."""
    channels = list({channel.name: channel for each in layouts for channel in each.channels}.values())
    names = [channel.name for channel in channels]
    numbers, blocks, first = [], [], 0
    for each in layouts:
        numbers.append(np.array([names.index(channel.name) for channel in each.channels])[each.channel])
        blocks.append(each.block + first)
        first += int(each.block.max()) + 1
    return Layout(tuple(channels), np.concatenate(numbers), np.concatenate(blocks))
