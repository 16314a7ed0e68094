"""Loops that contradict the others count for nothing; and no loop is added twice."""

from dataclasses import replace

import numpy as np

from sandlot.mapping.loops import Loop, Loops
from sandlot.mapping.submaps import Keyframe, Submap


def lost_between(count, gap):
    """Submaps in a row; the robot was lost before the one of index ``gap``."""
    return [
        Submap(
            np.array([k, 0.0, 0.0]),
            Keyframe(np.zeros((0, 2)), max(k - 1, 0), np.array([1.0, 0.0, 0.0]), np.eye(3), k != gap, float(k)),
        )
        for k in range(count)
    ]


def test_a_rejected_loop_connects_nothing():
    submaps, loops = lost_between(4, gap=2), Loops()
    assert loops.parts(submaps) == 2
    loops.found.append(Loop(0, 3, np.array([3.0, 0.0, 0.0]), np.eye(3)))
    assert loops.parts(submaps) == 1  # found, and not judged yet
    loops.weights = np.array([0.9])
    assert loops.parts(submaps) == 1
    loops.weights = np.array([0.1])
    assert loops.parts(submaps) == 2
    assert loops.paths(submaps, 0)[3] > 1000.0
    assert loops.kept == []


def test_loops_outweigh_a_step_on_which_the_robot_was_lost():
    """Where the robot was carried by 5 m, the loops afterwards agree with each other and not with that step."""
    submaps, loops = lost_between(6, gap=2), Loops()
    sure = np.diag([1e4, 1e4, 1e5])
    for submap in submaps:
        submap.anchor = replace(submap.anchor, information=sure)
    loops.found = [Loop(0, k, np.array([k + 3.0, 4.0, 0.0]), sure) for k in (3, 4, 5)]
    loops.solve(submaps)
    np.testing.assert_allclose([s.pose[:2] for s in submaps[2:]], [(k + 3.0, 4.0) for k in range(2, 6)], atol=0.05)
    np.testing.assert_allclose([s.pose[:2] for s in submaps[:2]], [(0.0, 0.0), (1.0, 0.0)], atol=0.05)
    assert loops.kept == loops.found
