"""Resting and standing: the kernels of the planner against their twins."""

import numpy as np

from sandlot.control.climbing.resting import RESTS, STEEPEST, come_down, hulls, rests
from sandlot.control.climbing.statics import COLUMNS, ROWS, stands
from sandlot.physics.climbing.contacts import find
from sandlot.physics.climbing.ground import empty_ground, set_ground
from sandlot.physics.climbing.robot import CONTACTS
from sandlot.places.course_kinds import Rubble
from sandlot.robots.climber import load_climber
from sandlot.robots.fast_climbers import record
from twins.statics import carried, depth, distance

CLIMBER = load_climber()
WEAK = CLIMBER.model_copy(update={"axles": CLIMBER.axles.model_copy(update={"torque": 5.0})})
COURSE = Rubble(distance=0.5, height=0.3, seed=3).draw(np.random.default_rng(0))


def poses(number):
    """Random shapes that just touch the ground: x, z, angles of body, front and rear tracks."""
    rng, robot = np.random.default_rng(1), record(CLIMBER)[0]
    ground = set_ground(empty_ground(1), 0, COURSE.outlines(), COURSE.near, COURSE.end)
    for _ in range(number):
        x, body = rng.uniform(0.0, 4.0), rng.uniform(-1.0, 1.0)
        front, back = body + rng.uniform(-2.0, 2.0, 2)
        z, _ = come_down(robot, ground.segments[0], x, body, front, back)
        yield ground, (x, z, body, front, back)


def test_a_robot_that_was_lifted_just_touches_the_ground():
    for _, (x, z, body, front, back) in poses(60):
        pose = np.array([x, z]), -body, (front - body, back - body)
        assert depth(CLIMBER, COURSE, *pose) < 1e-6
        assert distance(CLIMBER, COURSE, *pose) < 2e-3  # the twin's points are up to 2 mm apart


def test_a_robot_at_rest_touches_the_ground_with_two_parts_of_its_outline():
    """Or with one that turns into another: a slightly other pitch touches elsewhere."""
    found, number, turn = np.empty(RESTS), 0, np.radians(5.0)
    for ground, (x, _, body, front, back) in poses(10):
        robot, segments = record(CLIMBER)[0], ground.segments[0]
        shape = front - body, back - body
        count = rests(robot, segments, x, *shape, -STEEPEST, turn, round(2.0 * STEEPEST / turn), found)
        assert (np.diff(found[:count]) > 0.0).all()
        for angle in found[:count]:
            sides = [angle - 1e-4, angle + 1e-4]
            one, other = (come_down(robot, segments, x, each, *(each + axle for axle in shape)) for each in sides)
            assert one[1] != other[1]
            z, _ = come_down(robot, segments, x, angle, *(angle + axle for axle in shape))
            assert z <= max(one[0], other[0]) + 1e-9
            assert depth(CLIMBER, COURSE, np.array([x, z]), -angle, shape) < 1e-6
            number += 1
    assert number > 20


def test_forces_are_found_when_a_linear_program_finds_them():
    found, labels = np.empty((CONTACTS, 5)), np.empty((CONTACTS, 2), np.int64)
    tableau, basis = np.empty((ROWS, COLUMNS)), np.empty(ROWS, np.int64)
    answers = []
    for climber in (CLIMBER, WEAK):
        robot = record(climber)[0]
        for number, (ground, pose) in enumerate(poses(150)):
            x, z, body, front, back = pose
            count = 0
            for part in range(3):
                hull = hulls(robot, x, z, body, front, back, part)
                # A wide gap, so that there are enough contacts to stand on.
                count = find(*(each[0] for each in ground), hull, 0.06, part, found, labels, count)
            contacts = [(labels[k, 0], found[k, :2].copy(), found[k, 2:4].copy()) for k in range(count)]
            move = number % 3 - 1
            mine = stands(robot, pose, found, labels, count, move, tableau, basis)
            its = carried(climber, np.array([x, z]), -body, (front - body, back - body), contacts, move)
            assert mine == its
            answers.append(mine)
    assert 0.1 < np.mean(answers) < 0.9
