"""Frames of learned rovers: as the recording's inputs through the net, and the same alone, in a batch, on threads."""

import numpy as np
import pytest

from sandlot.physics.soil import PRESETS
from sandlot.surrogates.terrain.contact import SEEN
from sandlot.surrogates.terrain.drives import MOVED, RESTS, WHEELS
from sandlot.surrogates.terrain.feet import Ground
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.inputs import soil_inputs
from sandlot.surrogates.terrain.looking import (
    LOOK,
    LOOK_IMPRINTS,
    LOOK_WHEELS,
    NEVER,
    STATE,
    has_left,
    higher,
    look_below,
)
from sandlot.surrogates.terrain.motion_model import SHIPPED, load_motion
from sandlot.surrogates.terrain.recorded import drives_of, open_drives
from sandlot.surrogates.terrain.rollout import drive_many
from sandlot.surrogates.terrain.step import (
    FEW,
    advance,
    give_in,
    make_maps,
    make_scratch,
    put_down,
    stand_up,
)

MODEL = load_motion(SHIPPED / "wheeled")
LEARNED = MODEL.learned()


def fleet(count, maps=1, deforms=True):
    """Rovers that were put down on bumpy ground, and all that `drive_many` takes but commands."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[0:90, 0:110] * 0.01
    heights = np.tile(0.03 * np.sin(9.0 * x) * np.cos(8.0 * y), (maps, 1, 1))
    ground = make_maps(heights, heights.copy(), 0.0, 0.0, 0.01, True)
    states = np.zeros(count, STATE)
    states["since"], states["position"][:, :2] = NEVER, rng.uniform(0.0, 0.9, (count, 2))
    states["attitude"][:, 2] = rng.uniform(-3.0, 3.0, count)
    seen = np.zeros((count, SEEN))
    kinds = [PRESETS[("soft", "mid")[k % 2]] for k in range(count)]
    soils = MODEL.soils(np.array([soil_inputs(kind, MODEL.shape) for kind in kinds]))
    spreading = np.array([GroundModel().spreading(kind) for kind in kinds])
    where = np.sort(np.arange(count) % maps)
    put_down(LEARNED, states, seen, soils, ground, where, spreading, deforms, make_scratch(LEARNED, 0.01))
    return states, seen, soils, ground, where, spreading, deforms


def given_commands(frames, count):
    return np.random.default_rng(1).uniform(-1.0, 1.0, (frames, count, 2)) * (0.2, 1.0)


def driven(frames, threads, **how):
    states, seen, soils, ground, where, spreading, deforms = fleet(**how)
    drive_many(
        LEARNED,
        states,
        seen,
        soils,
        given_commands(frames, len(states)),
        ground,
        where,
        spreading,
        deforms,
        threads,
    )
    return states, ground


def test_a_frame_is_the_net_of_the_recordings_inputs(recorded):
    """The NumPy twin of a frame: the recorded state through the net, and its outputs added to it.

    Where the ground would carry the rover elsewhere than before, the rover itself stays.
    """
    drive = next(drives_of(open_drives(recorded["mid"]), MODEL.shape))
    changes = MODEL.changes(drive.inputs(MODEL.shape), drive.soil)
    moved = drive.states[:-1, list(MOVED)] + changes
    away = drive.rows(MODEL.shape)[:, -2:] - drive.states[:-1, WHEELS]
    wheels = drive.states[:-1, WHEELS] + np.clip(MODEL.motors.share * away, -MODEL.motors.most, MODEL.motors.most)
    flat = np.zeros((1, 60, 60))
    for k in (3, 50, 120):
        state = np.zeros(1, STATE)
        before = drive.states[k]
        state["motion"], state["wheels"] = before[:3], before[3:5]
        state["rest"], state["change"], state["at_rest"] = before[RESTS], before[8:], (0.045, 0.0, 0.0)
        state["grip"], state["looked"] = drive.grips(MODEL.shape)[k - 1], np.nan
        maps = make_maps(flat.copy(), flat, 0.0, 0.0, 0.01, True)
        seen, command = drive.seen[k : k + 1].copy(), drive.commands[k + 1 : k + 2].copy()
        where, spreading = np.zeros(1, np.int64), GroundModel().spreading(drive.kind)[None]
        scratch = make_scratch(LEARNED, 0.01)
        advance(LEARNED, state, seen, MODEL.soils(drive.soil[None]), command, maps, where, spreading, False, scratch)
        roll, pitch, _ = state[0]["attitude"]
        found = np.array([*state[0]["motion"], state[0]["position"][2] - 0.045, pitch, roll])
        np.testing.assert_allclose(found, moved[k], rtol=1e-5, atol=1e-6)  # 32-bit floats
        np.testing.assert_allclose(state[0]["change"], changes[k], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(state[0]["wheels"], wheels[k], rtol=1e-9)
        resting = state[0]["at_rest"]
        assert 0.03 < resting[0] < 0.051  # of the chassis above flat ground at height 0, less what the soil yields
        assert np.abs(resting[1:]).max() < 0.01
        assert np.hypot(*state[0]["position"][:2]) == pytest.approx(0.01 * np.hypot(*found[:2]))


def test_rovers_drive_the_same_in_a_batch_and_on_threads():
    several, ground = driven(30, 1, count=70, maps=7)
    threaded, other = driven(30, 3, count=70, maps=7)
    np.testing.assert_array_equal(several["position"], threaded["position"])
    np.testing.assert_array_equal(ground.heights, other.heights)


def test_one_rover_drives_as_in_a_batch():
    """Few are computed one after the other, many together; both give the same bits."""
    many, _ = driven(40, 1, count=FEW + 3, deforms=False)
    assert len(many) > FEW
    states, seen, soils, ground, where, spreading, deforms = fleet(FEW + 3, deforms=False)
    for k in range(len(states)):
        one = slice(k, k + 1)
        some = given_commands(40, len(states))[:, one]
        drive_many(LEARNED, states[one], seen[one], soils[one], some, ground, where[one], spreading[one], deforms)
    np.testing.assert_array_equal(states["position"], many["position"])


def test_between_two_looks_the_ground_goes_on_with_its_slope():
    state = np.zeros(1, STATE)[0]
    state["looked"] = np.nan
    assert higher(state) == 0.0
    state["looked"], state["slope"] = (0.1, -0.2, 0.5), (0.3, -0.1)
    state["position"] = 0.104, -0.206, 1.0
    assert higher(state) == pytest.approx(0.004 * 0.3 + 0.006 * 0.1)
    state["attitude"][2] = 0.5
    assert not has_left(LEARNED.lever, state)
    state["position"][0] += LOOK
    assert has_left(LEARNED.lever, state)


def test_a_rover_looks_again_when_its_wheels_turn_differently():
    state = np.zeros(1, STATE)[0]
    state["turned"] = state["wheels"] = 5.0, 6.0
    assert not has_left(LEARNED.lever, state)
    state["wheels"][1] += 1.01 * LOOK_WHEELS
    assert has_left(LEARNED.lever, state)


def test_a_rover_looks_again_when_it_has_changed_the_ground_so_often():
    state = np.zeros(1, STATE)[0]
    for _ in range(LOOK_IMPRINTS):
        assert not has_left(LEARNED.lever, state)
        state["imprints"] += 1
    assert has_left(LEARNED.lever, state)
    states, seen, soils, ground, where, spreading, deforms = fleet(4)
    commands, scratch, counts = np.tile([0.15, 0.1], (4, 1)), make_scratch(LEARNED, 0.01), []
    for _ in range(200):
        advance(LEARNED, states, seen, soils, commands, ground, where, spreading, deforms, scratch)
        counts.append(states["imprints"].copy())
    assert np.max(counts) == LOOK_IMPRINTS
    before, after = np.array(counts[:-1]), np.array(counts[1:])
    assert after[before == LOOK_IMPRINTS].max() <= 1


def test_a_look_does_not_move_a_rover():
    """Its height and tilt stay as they are, whatever the ground below looks like."""
    states, seen, soils, ground, where, *_ = fleet(6)
    before = np.column_stack([states["position"], states["attitude"]])
    ground.heights[:] += 0.002 * np.random.default_rng(0).random(ground.heights.shape)
    springs = make_scratch(LEARNED, 0.01).springs
    for k in range(len(states)):
        rest = states["rest"][k].copy()
        below = Ground(*(each[where[k]] for each in ground[:6]), *ground[7:])
        look_below(LEARNED.body, give_in(soils[k]), states[k], below, springs, seen[k])
        stand_up(states[k])
        assert np.abs(states["rest"][k] - rest).max() > 0.0
    np.testing.assert_allclose(np.column_stack([states["position"], states["attitude"]]), before, atol=1e-12)


def test_a_rover_at_a_steady_command_turns_its_wheels_as_commanded():
    states, seen, soils, ground, where, spreading, deforms = fleet(8)
    commands = np.tile([0.15, 0.2], (100, len(states), 1))
    drive_many(LEARNED, states, seen, soils, commands, ground, where, spreading, deforms)
    shape = MODEL.shape
    expected = np.array([0.15 - 0.1 * shape.base, 0.15 + 0.1 * shape.base]) / shape.radius
    np.testing.assert_allclose(states["wheels"], np.tile(expected, (8, 1)), rtol=1e-6)


def test_no_soil_is_made_or_lost():
    _, ground = driven(60, 2, count=12, maps=3)
    changes = ground.heights - ground.initial
    assert np.abs(changes).max() > 0.002
    np.testing.assert_allclose(changes.sum(axis=(1, 2)), 0.0, atol=1e-10)
