"""The messages of the link (6.2.1, 6.2.2): what may be said, and nothing else; text in, checked messages out.

All messages have the source's shape: ``{"type": ..., arguments, "priority": ..., "N": ...}``. Names, units and values
are the source's: millimetres and degrees.
"""

import math
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sandlot.errors import LinkError, quote
from sandlot.link.framing import frame

PORT = 4760
"""Of a rover's server, if none is given."""
VERSION = 1
"""Of the protocol; both sides must speak the same."""
MAX_DURATION = 2.0
"""A manual move lasts at most so long, as in the source [s]."""
FAR = 1e7
"""Largest coordinate of a waypoint and largest distance of a move [mm]."""
MAX_NUMBER = 2**53
"""Sequence numbers are smaller than this."""

PARAMETERS: dict[str, str] = {
    "go_on": "1: begin orders again that wait since the link was lost or the voltage was too low",
    "report_rate": "status reports a second, 0.2 to 50",
    "auto_without_link": "1: the mode AUTO goes on without a word from the controller",
    "usb_power": "0 or 1: power of the lidar",
    "motor_power": "0 or 1: the 9 V supply",
    "backup_power": "1: use the backup battery; 0: the main batteries",
    "undervoltage": "voltage below which the main batteries are empty, 9 to 12.6 V",
    "sleep": "1: low-power state; 0: leave it",
    "note": "any number; it is only kept",
}
"""What CONFIGURATION can set."""

Sequence: TypeAlias = Annotated[int, Field(ge=0, lt=MAX_NUMBER, strict=True)]
Secret: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""256 bits: a nonce, or a proof that the sender knows the token."""
SessionId: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Direction = Literal["forwards", "backwards", "left", "right"]
Mode = Literal["MANUAL", "SEMI", "AUTO"]
DataKind = Literal["SCAN", "MAP", "TELEMETRY"]
DType = Literal["float32", "float64", "uint8", "int32"]


class Message(BaseModel):
    """What all messages share.

    Attributes:
        priority: Whether an order goes before all others that wait.
        N: Sequence number of an order; answers carry that of the order.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    moves: ClassVar[bool] = False
    """Whether the order lets motors move."""
    quick: ClassVar[bool] = False
    """Whether the order may be executed in the middle of a move."""

    priority: bool = False
    N: Sequence = 0

    def packet(self) -> bytes:
        """The message as a framed packet."""
        return frame("message", self.model_dump_json(ensure_ascii=True).encode())


class Configuration(Message):
    """Sets a parameter (see `PARAMETERS`)."""

    type: Literal["CONFIGURATION"] = "CONFIGURATION"
    parameter: Annotated[str, Field(min_length=1, max_length=40)]
    value: float
    quick: ClassVar[bool] = True


class ModeChange(Message):
    """Changes the mode of autonomy; it waits for all orders before it, whatever its priority."""

    type: Literal["MODE_CHANGE"] = "MODE_CHANGE"
    mode: Mode


class ManualMove(Message):
    """Lets the tracks run for a time, at most 2 s; only in the manual mode."""

    type: Literal["MANUAL_MOVE_ORDER"] = "MANUAL_MOVE_ORDER"
    direction: Direction
    duration: Annotated[float, Field(gt=0.0)]
    moves: ClassVar[bool] = True


class CorrectedMove(Message):
    """A move or a turn that is measured and corrected [mm or degrees]; not in the autonomous mode."""

    type: Literal["CORRECTED_MOVE_ORDER"] = "CORRECTED_MOVE_ORDER"
    mvt_type: Literal["linear", "rotation"]
    distance: Annotated[float, Field(ge=-FAR, le=FAR)]
    moves: ClassVar[bool] = True


class SetWaypoint(Message):
    """Drives to a point, seen from where mapping began [mm]; only in the semi-autonomous mode."""

    type: Literal["SET_WAYPOINT"] = "SET_WAYPOINT"
    x: Annotated[float, Field(ge=-FAR, le=FAR)]
    y: Annotated[float, Field(ge=-FAR, le=FAR)]
    moves: ClassVar[bool] = True


class ScanRequest(Message):
    """Asks for samples of the lidar: at least so many, of at most this range [mm]."""

    type: Literal["SCAN_REQUEST"] = "SCAN_REQUEST"
    SAMPLE_SIZE: Annotated[int, Field(ge=1, le=100_000, strict=True)]
    MAX_RANGE: Annotated[float, Field(gt=0.0, le=FAR)]
    quick: ClassVar[bool] = True


class MapRequest(Message):
    """Asks for the map; not in the manual mode, which does not map."""

    type: Literal["MAP_REQUEST"] = "MAP_REQUEST"
    quick: ClassVar[bool] = True


class Halt(Message):
    """Stops the motors at once; with priority, forgets all orders to move that came before."""

    type: Literal["HALT_OVERRIDE"] = "HALT_OVERRIDE"


class Hello(Message):
    """A controller's first message: who it is, and a number that the rover must use in its proof."""

    type: Literal["HELLO"] = "HELLO"
    version: Annotated[int, Field(ge=0, le=10_000)]
    session: SessionId
    nonce: Secret


class Challenge(Message):
    """The rover's answer: its own proof, and a number that the controller must use."""

    type: Literal["CHALLENGE"] = "CHALLENGE"
    version: int
    nonce: Secret
    proof: Secret


class Proof(Message):
    """The controller's proof that it knows the token."""

    type: Literal["PROOF"] = "PROOF"
    proof: Secret


class Welcome(Message):
    """The link is open. ``N`` is the last order that the rover has taken from this session.

    Attributes:
        boot: Another one after each start of the rover.
        known: Whether the rover remembers the session.
    """

    type: Literal["WELCOME"] = "WELCOME"
    boot: SessionId
    known: bool


class Heartbeat(Message):
    """The controller is there. ``N`` is the last order up to which it has all results."""

    type: Literal["HEARTBEAT"] = "HEARTBEAT"


class Acknowledgement(Message):
    """The order ``N`` has been taken into the queue."""

    type: Literal["ACKNOWLEDGEMENT"] = "ACKNOWLEDGEMENT"


class Result(Message):
    """How the order ``N`` has ended.

    Attributes:
        outcome: ``done``; ``refused`` before it began; ``halted`` before its end; ``failed`` by itself.
        report: One line.
    """

    type: Literal["RESULT"] = "RESULT"
    outcome: Literal["done", "refused", "halted", "failed"]
    report: str = ""


class Status(Message):
    """Where the rover is and what it does; sent several times a second.

    Attributes:
        time: Of the rover's clock [s].
        mode: Of autonomy.
        state: Of the navigator.
        report: One line.
        held: Why the rover waits until it is told to go on; empty if it does not.
        x: Position by what the rover knows [mm].
        y: The same.
        yaw: [degree]
        queued: Orders that wait.
        path: x, y of the points of the path that it follows [mm].
        waypoint: x, y [mm], if there is one.
        time_left: Until the batteries are empty [s].
        charge: Of the batteries, from 0 to 1.
        backup: Whether the backup battery supplies the rover.
        volts: Of the main batteries [V].
    """

    type: Literal["STATUS_REPORT"] = "STATUS_REPORT"
    time: float
    mode: Mode
    state: str
    report: str = ""
    held: str = ""
    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    queued: int = 0
    path: tuple[tuple[float, float], ...] = ()
    waypoint: tuple[float, float] | None = None
    time_left: float | None = None
    charge: float | None = None
    backup: bool = False
    volts: float | None = None


class Descriptor(Message):
    """Announces a data packet with the same ``N``.

    Attributes:
        data: What it is.
        dtype: Of its numbers, which are little-endian.
        shape: Of the array.
        names: Of the columns or layers.
        time: Of the rover's clock [s].
        resolution: Side of a cell of a map [mm].
        corner: x, y of the lower left corner of a map [mm].
        pose: x, y [mm] and yaw [degree] of the rover.
    """

    type: Literal["DATA_DESCRIPTOR"] = "DATA_DESCRIPTOR"
    data: DataKind
    dtype: DType
    shape: Annotated[tuple[Annotated[int, Field(ge=0, le=10_000_000)], ...], Field(max_length=3)]
    names: Annotated[tuple[str, ...], Field(max_length=64)] = ()
    time: float = 0.0
    resolution: float = 0.0
    corner: tuple[float, float] = (0.0, 0.0)
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def size(self) -> int:
        """Numbers of the array."""
        return math.prod(self.shape)


class Refusal(Message):
    """Why the connection is about to be closed."""

    type: Literal["REFUSAL"] = "REFUSAL"
    reason: str


Order: TypeAlias = (
    Configuration | ModeChange | ManualMove | CorrectedMove | SetWaypoint | ScanRequest | MapRequest | Halt
)
FromController: TypeAlias = Order | Hello | Proof | Heartbeat
FromRover: TypeAlias = Challenge | Welcome | Acknowledgement | Result | Status | Descriptor | Refusal
_CONTROLLER: TypeAdapter[Any] = TypeAdapter(Annotated[FromController, Field(discriminator="type")])
_ROVER: TypeAdapter[Any] = TypeAdapter(Annotated[FromRover, Field(discriminator="type")])


def read_controller(text: bytes) -> FromController:
    """A message to a rover, checked.

    Raises:
        LinkError: If it is none.
    """
    return _read(_CONTROLLER, text)


def read_rover(text: bytes) -> FromRover:
    """A message of a rover, checked.

    Raises:
        LinkError: If it is none.
    """
    return _read(_ROVER, text)


def _read(known: TypeAdapter[Any], text: bytes) -> Any:
    try:
        return known.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(each) for each in first["loc"])
        raise LinkError(f"a message cannot be read: {quote(where)}: {quote(first['msg'])}") from None
