"""The real rover on gpiozero's mock pins and a fake bus."""

import itertools
import math
import threading

import numpy as np
import pytest

from sandlot.errors import HardwareError, SettingError
from sandlot.recordings.scans import Scan
from sandlot.robots.hardware.bridge import HBridge
from sandlot.robots.hardware.monitor import AnalogMonitor
from sandlot.robots.hardware.rover import HardwareRover
from sandlot.robots.hardware.wiring import Calibration, Wiring, read_wiring

gpiozero = pytest.importorskip("gpiozero")
mock = pytest.importorskip("gpiozero.pins.mock")


@pytest.fixture
def pins(monkeypatch):
    factory = mock.MockFactory(pin_class=mock.MockPWMPin)
    monkeypatch.setattr(gpiozero.Device, "pin_factory", factory)
    yield factory
    factory.reset()


class FakeBus:
    """An MCP3021 behind a multiplexer: the voltage at the channel that the pins select."""

    def __init__(self, factory, wiring, volts):
        self.factory, self.wiring, self.volts, self.errors = factory, wiring, volts, 0

    def read_i2c_block_data(self, address, register, length):
        if self.errors:
            self.errors -= 1
            raise OSError(5, "Input/output error")
        assert (address, length) == (0x4D, 2)
        channel = sum(int(self.factory.pin(pin).state) << bit for bit, pin in enumerate(self.wiring.select))
        code = round(self.volts[channel] / 3.3 * 1024)
        return [(code << 2) >> 8, (code << 2) & 0xFF]


class Body:
    """Tracks behind the pins: while time passes, the encoders turn as the H-bridges say, and then coast."""

    def __init__(self, factory, wiring, speed=0.3):
        self.factory, self.wiring, self.now, self.speed = factory, wiring, 0.0, speed
        self.phase, self.rates = [0.0, 0.0], [0.0, 0.0]

    def clock(self):
        return self.now

    def sleep(self, seconds):
        for _ in range(max(round(seconds / 0.001), 1)):
            self.now += 0.001
            for k, track in enumerate((self.wiring.left, self.wiring.right)):
                forward, backward = (float(self.factory.pin(pin).state) for pin in (track.forward, track.backward))
                assert not (forward and backward)
                wanted = self.speed * (forward - backward)
                self.rates[k] += np.clip(wanted - self.rates[k], -0.01, 0.01)
                before = self.phase[k]
                self.phase[k] += self.rates[k] * 0.001 / (math.pi * 0.05 / 76) * 4  # quarters of a pulse
                self._edges(track, math.floor(before), math.floor(self.phase[k]))

    def _edges(self, track, quarter, last):
        step = 1 if last > quarter else -1
        while quarter != last:
            quarter += step
            a, b = quarter % 4 in (1, 2), quarter % 4 in (2, 3)
            for channel, high in ((track.channel_b, b), (track.channel_a, a)):
                pin = self.factory.pin(channel)
                pin.drive_high() if high else pin.drive_low()


class Ring:
    """A lidar that completes a turn every 0.18 s."""

    def __init__(self, body):
        self.body, self.last = body, 0.0

    def take(self):
        scans = []
        while self.body.now >= self.last + 0.18:
            self.last += 0.18
            ages = np.linspace(0.0, 0.18, 60, endpoint=False)
            scans.append(Scan(self.last, np.full(60, 2.0, np.float32), np.linspace(-3, 3, 60), ages=ages))
        return scans

    def close(self):
        pass


@pytest.fixture
def rover(pins):
    wiring = Wiring()
    body = Body(pins, wiring)
    volts = {k: 1.0 + 0.1 * k for k in range(16)}
    made = HardwareRover(wiring, Ring(body), FakeBus(pins, wiring, volts), body.clock, body.sleep)
    made.body = body
    yield made
    made.close()


def test_a_drive_is_counted_by_the_encoders(rover):
    sensed = rover.drive(0.3, 0.3, 1.0)
    assert rover.chassis.travel == pytest.approx(0.05 * math.pi / 152)
    assert sensed.odometry.x == pytest.approx(0.3, abs=0.01)
    assert sensed.counts[0] == pytest.approx(0.3 / rover.chassis.travel, rel=0.05)
    back = rover.drive(-0.3, -0.3, 1.0)
    assert back.odometry.x == pytest.approx(0.0, abs=0.03)


def test_a_turn_to_the_left_is_positive(rover):
    sensed = rover.drive(-0.15, 0.15, 1.0)
    assert sensed.odometry.yaw > 0.3
    assert sensed.counts[0] < 0 < sensed.counts[1]


def test_a_halt_waits_until_the_tracks_are_at_rest(rover):
    rover.drive(0.3, 0.3, 0.5)
    rover.halt()
    assert rover.body.rates == [0.0, 0.0]


def test_a_scan_has_only_turns_that_began_at_rest(rover):
    rover.drive(0.3, 0.3, 0.5)
    rested = rover.body.now
    sensed = rover.scan(3)
    assert len(sensed.scans) == 3
    assert sensed.scans[0].time - 0.18 >= rested - 0.001
    assert sensed.scans[0].speed == pytest.approx(0.0, abs=0.02)


def test_a_lidar_without_turns_is_one_clear_line(rover):
    rover._lidar = type("Dead", (), {"take": lambda self: (), "close": lambda self: None})()
    with pytest.raises(HardwareError, match="check its power"):
        rover.scan()


def test_what_is_not_a_speed_switches_off(rover):
    rover.drive(0.3, 0.3, 0.1)
    with pytest.raises(HardwareError, match="finite"):
        rover.drive(math.nan, 0.3, 0.1)
    assert all(bridge.power == 0.0 for bridge in rover._bridges)


class Pin:
    """A pin that checks its partner at every change."""

    def __init__(self):
        self._value, self.partner = 0.0, None

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, new):
        self._value = new
        assert not (self._value and self.partner is not None and self.partner.value), "both directions at once"

    def close(self):
        pass


def bridge():
    one, other = Pin(), Pin()
    one.partner, other.partner = other, one
    return HBridge(one, other), one, other


def test_never_both_directions_whatever_comes_after_whatever():
    made, forward, backward = bridge()
    for before, after in itertools.product((-1.0, -0.3, 0.0, 0.3, 1.0, 5.0, -5.0), repeat=2):
        made.run(before)
        made.run(after)
        assert (forward.value > 0.0, backward.value > 0.0) == (after > 0.0, after < 0.0)


def test_never_both_directions_from_many_threads():
    made, _, _ = bridge()
    failed = []

    def drive(seed):
        rng = np.random.default_rng(seed)
        try:
            for power in rng.uniform(-1.0, 1.0, 50):
                made.run(power)
        except AssertionError as problem:
            failed.append(problem)

    threads = [threading.Thread(target=drive, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed


def test_both_directions_at_once_are_refused():
    made, forward, backward = bridge()
    with pytest.raises(HardwareError, match="at once"):
        made._set(0.5, 0.5)
    assert (forward.value, backward.value) == (0.0, 0.0)


def test_voltages_by_channel_and_calibration(pins):
    wiring = Wiring(calibration={"cell_2": Calibration(gain=4.0, offset=-0.1)})
    select = [gpiozero.DigitalOutputDevice(pin) for pin in wiring.select]
    bus = FakeBus(pins, wiring, {k: 0.2 * k for k in range(16)})
    monitor = AnalogMonitor(wiring, select, bus)
    volts = monitor.read_all()
    assert volts["cell_2"] == pytest.approx(4.0 * 0.2 - 0.1, abs=4 * 3.3 / 1024)
    assert volts["backup"] == pytest.approx(1.6, abs=3.3 / 1024)
    bus.errors = 2
    assert monitor.read("backup") == pytest.approx(1.6, abs=3.3 / 1024)
    bus.errors = 3
    with pytest.raises(HardwareError, match="does not answer"):
        monitor.read("backup")


def test_switches_and_their_senses(rover, pins):
    wiring = Wiring()
    assert rover.board.switched("main")
    assert not pins.pin(wiring.disconnect).state
    rover.board.switch("main", False)
    assert pins.pin(wiring.disconnect).state
    rover.board.switch("usb", False)
    assert not pins.pin(wiring.usb).state
    assert rover.board.read().switches == {"motors": True, "usb": False, "main": False, "backup": False}


def test_a_wiring_from_a_file(tmp_path):
    path = tmp_path / "pins.toml"
    path.write_text("motors = 26\n[left]\nforward = 7\nbackward = 8\nchannel_a = 9\nchannel_b = 10\n")
    wiring = read_wiring(path)
    assert (wiring.motors, wiring.left.backward) == (26, 8)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("motors = 5", "pin 5 is used twice"),
        ("motors = 99", "motors"),
        ("[channels]\ncell_1 = 0", "channels"),
        ("x = 1", "x"),
    ],
)
def test_an_impossible_wiring_is_one_clear_line(tmp_path, text, says):
    path = tmp_path / "pins.toml"
    path.write_text(text)
    with pytest.raises(SettingError, match=says):
        read_wiring(path)
