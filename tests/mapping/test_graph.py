"""Pose graphs: solved as GTSAM does, and wrong loops lose their weight."""

import math

import numpy as np
import pytest

from sandlot.geometry.planar import between, compose
from sandlot.mapping.graph import DONE, Edge, floor, solve

INFORMATION = np.diag([400.0, 400.0, 2500.0])


def circle(count=40, radius=5.0, seed=0):
    """True poses around a circle, edges with noise from each to the next and some across, and poses by the first."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
    truth = np.column_stack([radius * np.sin(angles), radius * (1.0 - np.cos(angles)), angles])
    pairs = [(k, k + 1) for k in range(count - 1)] + [(0, count - 1), (5, 30), (10, 25)]
    deviations = 1.0 / np.sqrt(np.diag(INFORMATION))
    edges = [
        Edge(a, b, between(truth[a], truth[b]) + rng.normal(0.0, deviations), INFORMATION, doubtful=b != a + 1)
        for a, b in pairs
    ]
    start = [truth[0]]
    for edge in edges[: count - 1]:
        start.append(compose(start[-1], edge.relative))
    return truth, edges, np.array(start)


def distance(found, truth):
    return np.hypot(*(found - truth)[:, :2].T)


def test_the_solution_is_that_of_gtsam():
    gtsam = pytest.importorskip("gtsam")
    _, edges, start = circle()
    graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    for k, pose in enumerate(start):
        values.insert(k, gtsam.Pose2(*pose))
    graph.add(gtsam.PriorFactorPose2(0, gtsam.Pose2(*start[0]), gtsam.noiseModel.Isotropic.Sigma(3, 1e-4)))
    noise = gtsam.noiseModel.Gaussian.Information(INFORMATION)
    for edge in edges:
        graph.add(gtsam.BetweenFactorPose2(edge.first, edge.second, gtsam.Pose2(*edge.relative), noise))
    exact = gtsam.LevenbergMarquardtParams()
    exact.setRelativeErrorTol(1e-14)
    exact.setAbsoluteErrorTol(1e-14)
    found = gtsam.LevenbergMarquardtOptimizer(graph, values, exact).optimize()
    theirs = np.array(
        [[found.atPose2(k).x(), found.atPose2(k).y(), found.atPose2(k).theta()] for k in range(len(start))]
    )
    ours = solve(start, [edge._replace(doubtful=False) for edge in edges]).poses
    # Their residuals are in the frame of the measured second pose. The information is the same along x and y, so both
    # costs are equal, and the solutions differ by less than the step at which ours ends.
    assert distance(ours, theirs).max() < DONE
    assert np.abs(np.sin(ours[:, 2] - theirs[:, 2])).max() < DONE


def test_loops_correct_drift():
    truth, edges, start = circle()
    solution = solve(start, edges)
    assert distance(solution.poses, truth).max() < 0.5 * distance(start, truth).max()
    assert (solution.weights > 0.5).all()


def test_wrong_loops_lose_their_weight():
    truth, edges, start = circle()
    wrong = [Edge(a, b, np.array([0.5, 0.2, 1.0]), INFORMATION, doubtful=True) for a, b in ((3, 20), (8, 33))]
    solution, right = solve(start, [*edges, *wrong]), solve(start, edges)
    assert (solution.weights[-2:] < 0.01).all()
    assert (solution.weights[:-2] > 0.5).all()
    assert distance(solution.poses, right.poses).max() < 0.02
    trusting = solve(start, [edge._replace(doubtful=False) for edge in (*edges, *wrong)])
    assert distance(trusting.poses, truth).max() > 1.0  # so the test can fail


def test_the_first_pose_stays_and_no_edges_change_nothing():
    _, edges, start = circle()
    np.testing.assert_allclose(solve(start, edges).poses[0], start[0], atol=1e-6)
    np.testing.assert_array_equal(solve(start, []).poses, start)


def test_information_has_a_floor():
    sure = floor(np.diag([1e9, 1e9, 1e9]), 0.02, 0.005)
    np.testing.assert_allclose(np.diag(sure), [2500.0, 2500.0, 40000.0], rtol=1e-4)
    weak = floor(np.diag([1.0, 1e9, 1e9]), 0.02, 0.005)
    assert weak[0, 0] == pytest.approx(1.0, rel=1e-2)
