"""An emulated lidar measures the plan that it is in, from where its robot is."""

import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.link.lidar_emulator import RADIUS, SPEED, PlanView, Walk, emulate
from sandlot.mapping.mapper import Mapper
from sandlot.sensing.rplidar import Receiver, Samples, Turns
from sandlot.sensing.rplidar.device import KINDS
from sandlot.sensing.spinning_lidar import SpinningLidar

EXACT = SpinningLidar(**dict.fromkeys(("noise", "noise_growth", "missing", "specular", "mixed"), 0.0))


def turns_of(device, mode, seconds):
    receiver, turns, found = Receiver(device.kind.baud), Turns(), []
    device.receive(device.kind.modes[mode].request(), 0.0)
    for now in np.arange(0.0, seconds, 0.02):
        for event in receiver.receive(device.poll(now), now):
            found += turns.add(event) if isinstance(event, Samples) else []
    return found


def test_a_view_at_rest_is_that_of_a_laser():
    walk = Walk("apartment", seed=2, moving=False)
    pose = walk(np.zeros(1))[0]
    bearings = EXACT.bearings[::10]
    seen = PlanView(walk.plan, walk, EXACT)(bearings, np.linspace(0.0, 9.0, len(bearings)))
    np.testing.assert_allclose(seen, EXACT.cast(walk.plan, [pose]).ranges[0, ::10], rtol=1e-6)


def test_a_robot_wanders_and_hits_nothing():
    walk = Walk("apartment", seed=1)
    times = np.arange(0.0, 30.0, 0.05)
    poses = np.concatenate([walk(part) for part in np.split(times, 60)])
    steps = np.hypot(*np.diff(poses[:, :2], axis=0).T)
    assert steps.max() < 1.2 * SPEED * 0.05
    assert steps.sum() > 2.0
    assert min(walk.plan.clearance(pose) for pose in poses[::10, :2]) > 0.95 * RADIUS


def test_the_same_seed_gives_the_same_bytes():
    def sent(seed):
        device = emulate("flat", seed=seed)
        device.receive(KINDS["A1"].modes[1].request(), 0.0)
        return b"".join(device.poll(now) for now in np.arange(0.0, 1.0, 0.02))

    assert sent(1) == sent(1) != sent(2)


def test_most_samples_are_missing_as_of_a_real_one():
    turns = turns_of(emulate("apartment", moving=False), 0, 1.0)
    share = np.mean(np.concatenate([turn.samples.distances for turn in turns]) == 0)
    assert 0.58 < share < 0.84


def test_its_turns_can_be_mapped():
    device = emulate("apartment", seed=4)
    mapper, walk = Mapper(), Walk("apartment", seed=4)
    turns = turns_of(device, 1, 6.0)
    for turn in turns:
        mapper.add(turn.scan(12.0))
    assert len(turns) >= 28
    assert len(mapper.refused) <= 2
    walked = np.array([walk(np.array([turn.end]))[0, :2] for turn in turns])
    driven = np.hypot(*np.diff(mapper.trajectory().poses[:, :2], axis=0).T).sum()
    straight = np.hypot(*(walked[-1] - walked[0]))
    found = np.hypot(*(mapper.trajectory().poses[-1, :2] - mapper.trajectory().poses[0, :2]))
    assert found == pytest.approx(straight, abs=0.05)
    assert driven > 0.2


def test_a_plan_that_does_not_exist():
    with pytest.raises(SandlotError, match="plan"):
        emulate("nowhere")
