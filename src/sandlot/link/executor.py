"""Executes orders, one after the other, in a thread of its own; quick ones also in the middle of a move."""

import threading
import time
from collections import deque
from contextlib import suppress
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sandlot.control.navigation.near import Avoidance
from sandlot.errors import LinkError, SandlotError
from sandlot.link.data import describe
from sandlot.link.messages import (
    PARAMETERS,
    Configuration,
    CorrectedMove,
    Descriptor,
    ManualMove,
    MapRequest,
    ModeChange,
    ScanRequest,
    SetWaypoint,
    Status,
)
from sandlot.link.modes import MM, Modes, in_link_units, samples
from sandlot.link.queue import HALTED, Entry, Queue
from sandlot.link.wheels import HaltedError, Wheels
from sandlot.recordings.scans import Scan
from sandlot.robots.driver import Driver, Sensed
from sandlot.robots.hardware.board import Board, SimulatedBoard
from sandlot.robots.hardware.supervisor import PERIOD, Power, Supervisor, telemetry

Outcome = Literal["done", "refused", "halted", "failed"]
AWAKE, IDLE = 0.02, 0.5
"""How long an idle executor waits for an order, and between scans while it is idle [s]."""
MAPS = 1.0
"""Between maps that are sent while the rover navigates [s]."""
MOST_ASKED = 64
"""Scan requests that may wait for turns of the lidar."""
QUICK = 0.005
"""Time for quick orders between two pieces of a move [s]."""


class Sink(Protocol):
    """Where the executor's words go; called by its thread."""

    def ended(self, entry: Entry, outcome: Outcome, report: str) -> None:
        """An order has ended."""

    def status(self, status: Status) -> None:
        """Where the rover is and what it does."""

    def data(self, session: str | None, descriptor: Descriptor, array: NDArray[Any]) -> None:
        """An array for a session, or for all."""

    def sensed(self, sensed: Sensed) -> None:
        """What the rover has sensed in a piece of an order."""


class Executor:
    """Takes orders from a queue and executes them.

    Attributes:
        queue: Of orders.
        wheels: Of the rover.
        modes: What the rover does and knows.
        supervisor: Of its power.
        values: Parameters that were set.
    """

    def __init__(
        self,
        driver: Driver,
        sink: Sink,
        board: Board | None = None,
        pace: float = 0.0,
        avoidance: Avoidance | None = None,
    ) -> None:
        """Take a rover at rest; `start` begins."""
        self.queue, self.wheels, self._sink = Queue(), Wheels(driver, pace), sink
        self.modes, self.supervisor = Modes(self.wheels, avoidance), Supervisor(board or SimulatedBoard())
        self.values = {"report_rate": 5.0, "auto_without_link": 0.0, "note": 0.0}
        self._scans: deque[Scan] = deque(maxlen=512)
        self._asked: list[tuple[Entry, list[NDArray[np.float32]]]] = []
        self._time = 0.0
        self._power: Power | None = None
        self._measured = self._reported = self._mapped = self._rested = time.monotonic()
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name="executor", daemon=True)

    def start(self) -> None:
        """Begin to execute orders."""
        self.wheels.between = self._between
        self._thread.start()

    def close(self) -> None:
        """Halt, and end the thread."""
        self._closed = True
        self.queue.hold("switched off")
        self.wheels.close()
        if self._thread.ident is not None:
            self._thread.join(timeout=10.0)

    def hold(self, reason: str) -> None:
        """Stop the rover, and begin no order that moves until told to go on."""
        self.queue.hold(reason)
        self.wheels.brake()

    def _loop(self) -> None:
        while not self._closed:
            entry = self.queue.take(wait=AWAKE)
            if entry is not None:
                self._run(entry)
            elif self.queue.standing is not None and not self.queue.held:
                self._explore(self.queue.standing)
            else:
                self._rest()
            self._housekeeping()

    def _run(self, entry: Entry) -> None:
        """Execute an order that was taken from the queue."""
        self.wheels.entry = entry
        outcome: Outcome = "done"
        try:
            if entry.order.moves and (why := self.supervisor.refuse_motion()):
                outcome, report = "refused", why
            else:
                report = self._execute(entry)
        except HaltedError as stopped:
            waits = isinstance(entry.order, SetWaypoint) and not self._closed
            if waits and self.queue.put_back(entry):  # until a controller lets it go on
                self.wheels.entry = None
                return
            outcome, report = "halted", str(stopped)
        except SandlotError as problem:
            outcome, report = "refused" if isinstance(entry.order, ModeChange) else "failed", str(problem)
        except Exception as error:  # a fault of the program must not leave a rover without its executor
            outcome, report = "failed", f"{type(error).__name__}: {error}"
        self.wheels.entry = None
        self.queue.done(entry)
        if outcome != "done" and entry.order.moves:
            self.wheels.brake()
        if entry.order.moves:
            self._report()  # before the result: whoever waits for it finds the present state
        if report != WAITS:
            self._sink.ended(entry, outcome, report)

    def _execute(self, entry: Entry) -> str:
        match entry.order:
            case Configuration() as order:
                return self._configure(order, entry.session)
            case ModeChange() as order:
                if self.supervisor.asleep:
                    self.supervisor.sleep(False)
                self.modes.change(order.mode)
                self.queue.standing = entry if order.mode == "AUTO" else None
                return order.mode
            case ManualMove() as order:
                return self.modes.move(order)
            case CorrectedMove() as order:
                self._scans.clear()
                try:
                    return self.modes.correct(order)
                finally:
                    self.modes.follow(list(self._scans))
            case SetWaypoint() as order:
                self.modes.aim(order)
                return self._drive()
            case MapRequest() as order:
                self._sink.data(entry.session, *self.modes.map(order.N, self._time))
                return ""
            case ScanRequest():
                if not self._lidar_on:
                    raise LinkError("the lidar is switched off")
                if len(self._asked) >= MOST_ASKED:
                    raise LinkError(f"{MOST_ASKED} scan requests wait already")
                self._asked.append((entry, []))
                return WAITS
            case _:
                raise LinkError(f"{entry.order.type} is not executed from the queue")

    def _drive(self) -> str:
        """Drive to the waypoint, or until a newer one waits."""
        pilot = self.modes.pilot
        assert pilot is not None
        late = self.wheels.late
        for _ in self.modes.steps():
            self._show_map()
            front = self.queue.front()
            if front is not None and isinstance(front.order, SetWaypoint):
                return "replaced by a newer waypoint"
        if pilot.navigator.state != "arrived":
            late = self.wheels.late - late
            slow = (
                f"; tracks were stopped {late} times, as decisions came too late: is the computer busy?" if late else ""
            )
            raise LinkError(pilot.navigator.report + slow)
        self._show_map(now=True)
        return pilot.navigator.report

    def _explore(self, entry: Entry) -> None:
        """Explore until an order waits, or nothing is left; then enter the low-power state."""
        if self.supervisor.refuse_motion():
            self._rest()
            return
        pilot = self.modes.pilot
        assert pilot is not None
        if not self.queue.begin(entry):
            pilot.navigator.halt()
            self.queue.standing = None
            return
        self.wheels.entry = entry
        try:
            for _ in self.modes.steps():
                self._show_map()
                front = self.queue.front()
                if front is not None and not front.order.quick:
                    break
            else:
                self.queue.standing = None
                self._show_map(now=True)
                self.supervisor.sleep(True)
        except HaltedError:
            if not self.queue.held or entry.stop == HALTED:  # a halt, and not only a lost link
                pilot.navigator.halt()
                self.queue.standing = None
        except Exception as error:
            self.queue.standing = None
            pilot.navigator.report = f"{type(error).__name__}: {error}"
            self.wheels.brake()
        self.wheels.entry = None
        self.queue.done(entry)

    def _rest(self) -> None:
        """At rest: scan now and then, so that controllers see the surroundings."""
        now = time.monotonic()
        wanted = bool(self._asked) or now - self._rested >= IDLE
        if wanted and self._lidar_on:
            self._rested = now
            with suppress(HaltedError, SandlotError, OSError):
                self.wheels.scan()

    @property
    def _lidar_on(self) -> bool:
        """Whether the lidar has power."""
        supervisor = self.supervisor
        return not supervisor.asleep and not supervisor.backup and supervisor.board.switched("usb")

    def _between(self, sensed: Sensed) -> None:
        """After each piece of an order: pass on what was sensed, and execute quick orders."""
        self._time = sensed.time
        if self.modes.pilot is None:
            self.modes.pose = sensed.odometry
        self._sink.sensed(sensed)
        for scan in sensed.scans:
            self._scans.append(scan)
            self._answer(scan)
        if threading.current_thread() is self._thread:
            end = time.monotonic() + QUICK
            while (entry := self.queue.take(quick=True)) is not None:
                moving = self.wheels.entry
                self._run(entry)
                self.wheels.entry = moving
                if time.monotonic() > end:
                    break
            self._housekeeping()

    def _answer(self, scan: Scan) -> None:
        """Give those who asked for samples what they asked for."""
        if time.monotonic() - self._rested > IDLE and not self._asked:
            self._rested = time.monotonic()
        for entry, got in self._asked[:]:
            assert isinstance(entry.order, ScanRequest)
            got.append(samples(scan, entry.order.MAX_RANGE))
            if sum(map(len, got)) >= entry.order.SAMPLE_SIZE or len(got) >= 64:
                self._asked.remove((entry, got))
                array = np.concatenate(got)
                descriptor = describe(
                    array, data="SCAN", names=SCAN, time=scan.time, pose=in_link_units(self.modes.pose), N=entry.order.N
                )
                self._sink.data(entry.session, descriptor, array)
                enough = len(array) >= entry.order.SAMPLE_SIZE
                self._sink.ended(entry, "done" if enough else "failed", f"{len(array)} samples in {len(got)} turns")

    def _configure(self, order: Configuration, session: str) -> str:
        value, supervisor = order.value, self.supervisor
        match order.parameter:
            case "go_on":
                self.queue.go_on(session)
                self._report()  # before the result: whoever waits for it finds the present state
            case "report_rate" if 0.2 <= value <= 50.0:
                self.values["report_rate"] = value
            case "auto_without_link" | "note":
                self.values[order.parameter] = value
            case "sleep" if value in (0, 1):
                self._still(value == 1)
                supervisor.sleep(value == 1)
            case "usb_power" if value in (0, 1):
                supervisor.board.switch("usb", value == 1)
            case "motor_power" if value in (0, 1):
                self._still(value == 0)
                supervisor.switch_motors(value == 1)
            case "backup_power" if value in (0, 1):
                self._still(value == 1)
                supervisor.use_backup() if value == 1 else supervisor.use_main()
            case "undervoltage" if 9.0 <= value <= 12.6:
                supervisor.threshold = value
            case name if name in PARAMETERS:
                raise LinkError(f"{name}={value:g} is not possible; allowed: {PARAMETERS[name]}")
            case name:
                raise LinkError(f"no parameter {name!r}; known: {', '.join(PARAMETERS)}")
        return ""

    def _still(self, needed: bool) -> None:
        """Stop a move before its power goes off."""
        if needed and self.queue.current is not None and not self.queue.current.order.quick:
            self.queue.current.stop = "power off"
            self.wheels.brake()

    def _housekeeping(self) -> None:
        """Measure the power and report, when it is time."""
        now = time.monotonic()
        if now - self._measured >= PERIOD:
            since, self._measured = now - self._measured, now
            try:
                self._power, problem = self.supervisor.update(self.wheels.moving, since)
            except (SandlotError, OSError) as error:
                problem = f"the power cannot be measured: {error}"
            if problem:
                self.hold(problem)
        if now - self._reported >= 1.0 / self.values["report_rate"]:
            self._reported = now
            self._report()

    def _report(self) -> None:
        pilot, power = self.modes.pilot, self._power
        x, y, yaw = in_link_units(self.modes.pose)
        navigator = None if pilot is None else pilot.navigator
        target = None if navigator is None else navigator.planner.waypoint
        path = () if navigator is None else tuple((MM * px, MM * py) for px, py in navigator.path.tolist())
        known = {} if power is None else {"time_left": power.time_left, "charge": power.charge, "backup": power.backup}
        if power is not None:
            known["volts"] = power.readings.main
        self._sink.status(
            Status(
                time=self._time,
                mode=self.modes.mode,
                state="moving"
                if navigator is None and self.wheels.moving
                else navigator.state
                if navigator
                else "idle",
                report="" if navigator is None else navigator.report,
                held=self.queue.held,
                x=x,
                y=y,
                yaw=yaw,
                queued=len(self.queue),
                path=path,
                waypoint=None if target is None else (MM * target[0], MM * target[1]),
                **known,
            )
        )
        if power is not None:
            named = telemetry(power)
            array = np.array(list(named.values()))
            self._sink.data(None, describe(array, data="TELEMETRY", names=tuple(named), time=self._time), array)
        if self._scans:
            scan = self._scans[-1]
            array = samples(scan, np.inf)
            about = {"names": SCAN, "time": scan.time, "pose": in_link_units(self.modes.pose)}
            self._sink.data(None, describe(array, data="SCAN", **about), array)

    def _show_map(self, now: bool = False) -> None:
        if now or time.monotonic() - self._mapped >= MAPS:
            self._mapped = time.monotonic()
            self._sink.data(None, *self.modes.map(0, self._time))


WAITS = "\0"
"""Stands for the report of an order whose result comes later."""
SCAN = ("angle [degree]", "range [mm]")
