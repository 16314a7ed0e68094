"""The driver and an emulated device, in simulated time: whatever either does, they get along or say why not."""

from dataclasses import replace

import numpy as np
import pytest

from lidar_streams import patchy, room
from sandlot.errors import DeviceError
from sandlot.sensing.rplidar import Health, Info, Lidar, Status
from sandlot.sensing.rplidar.answers import Answer
from sandlot.sensing.rplidar.device import BOOT, KINDS, Device
from sandlot.sensing.rplidar.driver import SILENCE
from sandlot.sensing.rplidar.faults import KERNEL_BUFFER, Faults, Line
from sandlot.sensing.rplidar.requests import Command, plain


class SimulatedPort:
    """A device in a time that passes only while the driver waits."""

    name = "simulated"

    def __init__(self, device, deaf=False):
        self.device, self.baud, self.deaf = device, device.kind.baud, deaf
        self.now, self.spins, self.closed, self.before_read = 0.0, [], False, None

    def clock(self):
        return self.now

    def read(self, seconds):
        if self.before_read:
            self.before_read(self)
        until = self.now + seconds
        while self.now < until:
            self.now += 0.005
            if data := self.device.poll(self.now):
                return data
        return b""

    def write(self, data):
        if not self.deaf:
            self.device.receive(data, self.now)

    def spin(self, on):
        self.spins.append(on)

    def close(self):
        self.closed = True


def connect(device, **options):
    port = SimulatedPort(device, **options)
    return Lidar(port, port.clock), port


def first_turns(lidar, count):
    turns = lidar.turns()
    return [next(turns) for _ in range(count)]


@pytest.mark.parametrize("kind", KINDS)
def test_it_knows_the_device(kind):
    lidar, _ = connect(Device(room, KINDS[kind]))
    assert lidar.info == KINDS[kind].info
    assert lidar.mode.number == KINDS[kind].typical
    for mode, expected in zip(lidar.modes, KINDS[kind].modes, strict=True):
        assert (mode.number, mode.name, mode.answer) == (expected.number, expected.name, expected.answer)
        assert mode.period == pytest.approx(expected.period, rel=1e-4)
        assert mode.max_range == pytest.approx(expected.max_range, rel=1e-2)
    assert lidar.health() == Health(Status.GOOD, 0)


@pytest.mark.parametrize(("kind", "mode"), [(kind, mode.name) for kind in KINDS for mode in KINDS[kind].modes])
def test_it_scans_in_every_mode(kind, mode):
    lidar, _ = connect(Device(room, KINDS[kind]))
    lidar.start(mode.upper())
    for turn in first_turns(lidar, 3):
        scan = turn.scan(12.0)
        assert turn.complete
        assert np.nanmax(abs(scan.ranges - room(scan.bearings, None))) < 0.04
        assert turn.period == pytest.approx(1.0 / KINDS[kind].turns, rel=0.05)
    assert lidar.losses.bytes == 0


def test_a_mode_that_does_not_exist():
    lidar, _ = connect(Device(room))
    with pytest.raises(DeviceError, match=r"no scan mode 'Turbo'; it has: Standard, Express, Boost"):
        lidar.start("Turbo")


@pytest.mark.parametrize(("firmware", "modes"), [((1, 20), ["Standard", "Express"]), ((1, 15), ["Standard"])])
def test_old_firmware_has_no_table_of_modes(firmware, modes):
    info = Info(0x18, firmware, 5, "00" * 16)
    lidar, _ = connect(Device(room, replace(KINDS["A1"], info=info)))
    assert [mode.name for mode in lidar.modes] == modes
    lidar.start()
    assert lidar.mode.answer is (Answer.EXPRESS if len(modes) == 2 else Answer.STANDARD)
    assert all(turn.complete for turn in first_turns(lidar, 2))


def test_nobody_answers():
    with pytest.raises(DeviceError, match="does not answer when asked for its model"):
        connect(Device(room), deaf=True)


def test_a_device_that_protects_itself_is_reset():
    lidar, port = connect(Device(room, health=Health(Status.ERROR, 0x8000)))
    assert lidar.health() == Health(Status.ERROR, 0x8000)
    before = port.now
    lidar.start()
    assert port.now - before > BOOT
    assert port.device.scanning is not None
    assert first_turns(lidar, 1)[0].complete


def test_a_device_that_stays_unhealthy():
    class Broken(Device):
        def poll(self, now):
            self.health = Health(Status.ERROR, 7)
            return super().poll(now)

    lidar, _ = connect(Broken(room))
    with pytest.raises(DeviceError, match="reports a fault, code 7, also after a reset"):
        lidar.start()


def test_a_device_that_protects_itself_ignores_a_scan():
    device = Device(room, health=Health(Status.ERROR, 1))
    device.receive(plain(Command.SCAN), 0.0)
    assert device.scanning is None
    assert device.poll(1.0) == b""


def test_the_motor_of_an_accessory_board():
    device = Device(room, KINDS["A2"])
    lidar, port = connect(device)
    device.receive(plain(Command.SCAN), 10.0)
    assert len(device.poll(12.0)) == 7  # the descriptor; the head does not turn
    port.now = 12.0
    lidar.start("Express")
    assert first_turns(lidar, 1)[0].complete
    lidar.stop()
    assert device.scanning is None
    device.receive(plain(Command.SCAN), 30.0)
    assert len(device.poll(32.0)) == 7


def test_the_motor_of_an_a1_is_switched_by_a_line():
    lidar, port = connect(Device(room))
    lidar.start()
    lidar.close()
    assert port.spins == [True, False]
    assert port.closed


def test_a_device_that_restarts_in_a_scan():
    lidar, port = connect(Device(room))
    lidar.start("Express")
    first_turns(lidar, 2)
    port.device.receive(plain(Command.RESET), port.now)
    assert all(turn.complete for turn in first_turns(lidar, 3))
    assert lidar.restarts == 1


def test_a_device_that_falls_silent():
    lidar, port = connect(Device(room))
    lidar.start("Express")
    first_turns(lidar, 2)
    port.device.receive(plain(Command.STOP), port.now)
    before = port.now
    first_turns(lidar, 2)
    assert lidar.restarts == 1
    assert port.now - before > SILENCE


def test_stale_bytes_do_not_disturb_the_next_request():
    lidar, _ = connect(Device(room, faults=Faults(stale=2000)))
    for mode in ("Boost", "Standard", "Express"):
        lidar.start(mode)
        assert all(turn.complete for turn in first_turns(lidar, 2))
    assert lidar.health().status is Status.GOOD
    assert lidar.losses.stale > 1000


@pytest.mark.parametrize("mode", ["Standard", "Express", "Boost"])
def test_a_bad_line(mode):
    """One byte of 2,000 is lost, one of 2,000 flipped: most samples come, none is far off."""
    lidar, port = connect(Device(patchy, faults=Faults(lost=5e-4, flipped=5e-4), seed=3))
    lidar.start(mode)
    turns = first_turns(lidar, 20)
    seconds = port.now
    assert len(turns) / seconds > 4.0
    assert lidar.losses.breaks > 0
    wrong = total = 0
    for turn in turns:
        scan = turn.scan(12.0)
        error = abs(scan.ranges - room(scan.bearings, None))
        wrong, total = wrong + int((error > 0.05).sum()), total + int((error >= 0.0).sum())
    # A standard packet has no checksum: a flipped bit of its distance stays unseen.
    assert wrong <= (0.004 * total if mode == "Standard" else 0)


def test_a_host_that_reads_too_late():
    lidar, _ = connect(Device(room, faults=Faults(stall=0.8, stall_every=3.0)))
    lidar.start("Boost")
    turns = first_turns(lidar, 30)
    assert lidar.losses.breaks + lidar.losses.gaps > 0
    assert sum(turn.complete for turn in turns) > 15
    assert max(len(turn.samples) for turn in turns) < 1.1 * np.median([len(turn.samples) for turn in turns])


def test_a_line_keeps_what_fits_into_a_buffer():
    line = Line(Faults(stall=1.0, stall_every=2.0), np.random.default_rng(0))
    assert line.carry(b"a" * 10, 0.5) == b"a" * 10
    assert line.carry(b"b" * 5000, 1.5) == b""
    assert line.carry(b"c", 2.1) == b"b" * KERNEL_BUFFER + b"c"


def test_bytes_come_at_the_pace_of_the_line():
    device = Device(room)
    device.receive(KINDS["A1"].modes[2].request(), 0.0)
    counts = [len(device.poll(0.01 * k)) for k in range(1, 200)]
    assert max(counts) <= 116  # 11,520 bytes a second
    assert sum(counts) / 1.99 == pytest.approx(132 / 96 / 127e-6, rel=0.02)


def test_a_request_while_it_starts_is_not_heard():
    device = Device(room)
    device.receive(plain(Command.RESET), 0.0)
    device.receive(plain(Command.GET_INFO), 0.3)
    text = device.poll(2.0)
    assert text == b"RP LIDAR System.\r\nFirmware Ver 1.29 - rtm, HW Ver 7\r\nModel: 18\r\n"
    assert len(text) == 64
