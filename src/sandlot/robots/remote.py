"""A rover that is somewhere else, as a page or a program sees it: what it knows, and the orders that it takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sandlot.recordings.scans import Pose
from sandlot.typing import Array

RemoteMode = Literal["MANUAL", "SEMI", "AUTO"]
RemoteDirection = Literal["forwards", "backwards", "left", "right"]


@dataclass(frozen=True)
class RemoteMap:
    """The known part of a rover's map.

    Attributes:
        kinds: (rows, columns) unknown 0, free 1, obstacle 2, wall 3; the lowest row first.
        reputation: (rows, columns) how sure the rover is of an obstacle or a wall, from 0 to 1.
        corner: x, y of the lower left corner [m].
        resolution: Side of a cell [m].
    """

    kinds: NDArray[np.uint8]
    reputation: NDArray[np.float32]
    corner: tuple[float, float]
    resolution: float


@dataclass(frozen=True)
class View:
    """What is known of a rover now.

    Attributes:
        connected: Whether the link is open.
        problem: Why it is not.
        mode: Of autonomy.
        state: What it does, in a word.
        report: In one line.
        held: Why it waits until it is told to go on; empty if it does not.
        pose: Where it believes to be.
        path: (n, 2) that it follows [m].
        waypoint: (2,) [m], if there is one.
        map: Of its surroundings, if it maps.
        points: (n, 2) of its last scan, in its map [m].
        charge: Of its batteries, from 0 to 1; NaN if unknown.
        time_left: Until they are empty [s]; NaN if unknown.
        backup: Whether the backup battery supplies it.
        telemetry: Named numbers.
    """

    connected: bool = False
    problem: str = ""
    mode: RemoteMode = "MANUAL"
    state: str = ""
    report: str = ""
    held: str = ""
    pose: Pose = field(default_factory=lambda: Pose(0.0, 0.0, 0.0))
    path: Array = field(default_factory=lambda: np.zeros((0, 2)))
    waypoint: Array | None = None
    map: RemoteMap | None = None
    points: Array = field(default_factory=lambda: np.zeros((0, 2)))
    charge: float = float("nan")
    time_left: float = float("nan")
    backup: bool = False
    telemetry: Mapping[str, float] = field(default_factory=dict)


class RemoteRover(Protocol):
    """A link to a rover; orders return at once, and `view` shows what comes of them."""

    def view(self) -> View:
        """What is known now."""

    def halt(self) -> None:
        """Stop the motors at once."""

    def go_on(self) -> None:
        """Go on after a lost link."""

    def set_mode(self, mode: RemoteMode) -> None:
        """Change the mode."""

    def go_to(self, x: float, y: float) -> None:
        """Drive to a waypoint [m]."""

    def move(self, direction: RemoteDirection, seconds: float) -> None:
        """Drive by hand for a time [s]."""

    def close(self) -> None:
        """End the link."""
