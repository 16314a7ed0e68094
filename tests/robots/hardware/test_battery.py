"""The batteries, and who watches them."""

import math

import pytest

from sandlot.errors import HardwareError
from sandlot.robots.hardware.battery import BACKUP, CURRENTS, HOUR, LIVES, MAIN, Gauge
from sandlot.robots.hardware.board import CELLS, SimulatedBoard
from sandlot.robots.hardware.supervisor import SURE, Supervisor, telemetry


@pytest.mark.parametrize("state", list(CURRENTS))
def test_lives_are_those_of_the_table(state):
    hours = MAIN.time_left(1.0, CURRENTS[state]) / HOUR
    assert hours == pytest.approx(LIVES[state], rel=0.07)


def test_voltages_are_those_of_the_source():
    assert MAIN.voltage(1.0, 0.0) == pytest.approx(12.6)
    assert MAIN.voltage(0.0, 0.0) == pytest.approx(10.2)
    assert (MAIN.capacity, BACKUP.capacity) == (12.0, 2.2)


def test_charge_follows_from_the_voltage():
    for charge in (0.1, 0.5, 1.0):
        for current in CURRENTS.values():
            assert MAIN.charge(MAIN.voltage(charge, current), current) == pytest.approx(charge)


def test_the_time_left_predicts_when_the_backup_takes_over():
    board = SimulatedBoard(charge=0.6)
    supervisor = Supervisor(board)
    power, _ = supervisor.update(True, 1.0)
    predicted, driven, report = power.time_left, 0.0, ""
    while not report:
        _, report = supervisor.update(True, 10.0)
        driven += 10.0
        assert driven < 24 * HOUR
    assert driven == pytest.approx(predicted, rel=0.02)


def test_an_undervoltage_switches_to_the_backup_first_and_reports():
    switched = []

    class Board(SimulatedBoard):
        def switch(self, name, on):
            switched.append((name, on))
            super().switch(name, on)

    board = Board(charge=0.05)
    supervisor = Supervisor(board)
    reports = [supervisor.update(True, 0.1)[1] for _ in range(SURE + 2)]
    assert [bool(each) for each in reports].index(True) == SURE - 1
    assert sum(map(bool, reports)) == 1
    assert "undervoltage" in "".join(reports)
    assert switched.index(("backup", True)) < switched.index(("main", False))
    assert supervisor.backup
    assert "must not move" in supervisor.refuse_motion()
    with pytest.raises(HardwareError, match="backup"):
        supervisor.switch_motors(True)
    with pytest.raises(HardwareError, match="empty"):
        supervisor.use_main()
    board.charge = 1.0  # new batteries
    supervisor.use_main()
    assert supervisor.refuse_motion() == ""
    assert board.switches == {"motors": True, "usb": True, "main": True, "backup": False}


def test_a_ripple_is_no_undervoltage():
    board = SimulatedBoard(charge=1.0)
    supervisor = Supervisor(board)
    for k in range(20):
        board.charge = 0.02 if k % 3 else 1.0
        assert supervisor.update(False, 0.01)[1] == ""


def test_a_voltage_that_is_not_a_number_counts_as_low():
    class Broken(SimulatedBoard):
        def read(self):
            readings = super().read()
            return type(readings)(dict.fromkeys(readings.volts, math.nan), math.nan, readings.switches)

    board = SimulatedBoard()
    supervisor = Supervisor(board)
    supervisor.board = Broken()
    assert any(supervisor.update(False, 0.1)[1] for _ in range(SURE))


def test_the_low_power_state_draws_less():
    board = SimulatedBoard()
    supervisor = Supervisor(board)
    supervisor.sleep(True)
    assert not board.switches["motors"]
    assert not board.switches["usb"]
    power, _ = supervisor.update(False, 1.0)
    assert power.state == "low power"
    assert power.time_left / HOUR == pytest.approx(47.0, rel=0.05)
    supervisor.sleep(False)
    assert supervisor.update(False, 1.0)[0].state == "stand-by"


def test_a_gauge_counts_and_is_corrected_by_the_voltage():
    gauge = Gauge(MAIN, MAIN.voltage(0.9, 0.45), 0.45)
    assert gauge.charge == pytest.approx(0.9)
    for _ in range(100):
        gauge.update(MAIN.voltage(0.5, 0.45), 0.45, 60.0)
    assert gauge.charge == pytest.approx(0.5, abs=0.01)


def test_telemetry_names_nine_voltages():
    power, _ = Supervisor(SimulatedBoard()).update(False, 1.0)
    named = telemetry(power)
    assert sum(name.endswith("[V]") for name in named) == 9
    assert {f"{cell} [V]" for cell in CELLS} <= set(named)
    assert all(map(math.isfinite, named.values()))
