"""Closes loops: finds earlier submaps that the latest one overlaps, and corrects the poses of all."""

import math
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from sandlot.geometry.planar import between, compose, invert
from sandlot.mapping.graph import Edge, floor, solve
from sandlot.mapping.matching.field import Field
from sandlot.mapping.matching.matcher import align
from sandlot.mapping.matching.points import sample
from sandlot.mapping.matching.search import Window, search
from sandlot.mapping.submaps import Submap, place
from sandlot.typing import Array

LEVELS = 7
"""Of likelihoods: squares of 64 cells, 3.2 m, are the first to be judged."""
FIELDS = 16
"""Fields of submaps that are kept in memory."""
PARTS, PART = (5, 15, 25), 10
"""Keyframes of a submap where a part of it begins, and how many there are in one; each is matched by itself."""
MIN_PART = 5
SEARCHED, REFINED = 0.25, 0.1
"""Distance between the points of a part that are searched with, and refined with [m]."""
NEAR = 6.0
"""A part may overlap a submap if the distance of their middles is below this, and what is uncertain [m]."""
MIN_PATH = 10.0
"""Loops are longer than this [m]."""
DRIFT, TURN_DRIFT = (0.3, 0.03, 5.0), (0.1, 0.01, 0.8)
"""Uncertainty of a submap's position seen from another [m], and of its yaw [rad]: at once, per metre, and at most."""
LOST = 1000.0
"""Where the robot was lost, the path counts this much longer [m]; then all yaws are searched."""
MIN_SCORE, MIN_LOST_SCORE = 0.5, 0.6
"""Of a search; higher where the robot was lost, since more places are searched."""
MIN_OVERLAP, MIN_FIT = 0.6, 0.7
"""Shares of the points of a part that have to lie where the submap has points, and to fit those."""
REJECTED = 0.5
"""Weight in a solution below which a loop counts as wrong."""
STEP_DEVIATION, LOOP_DEVIATION = (0.02, 0.005), (0.03, 0.006)
"""Least standard deviations of the pose of a submap in the one before, and of a loop [m, rad]."""


class Loop(NamedTuple):
    """An overlap of two submaps.

    Attributes:
        first: Index of the earlier submap.
        second: Index of the later one.
        relative: (3,) pose of the second in the first [m, rad].
        information: (3, 3) of the match [1/m2, 1/rad2].
    """

    first: int
    second: int
    relative: Array
    information: Array


class Loops:
    """All loops of a map.

    Attributes:
        found: The loops.
        weights: (loops,) of each in the last solution, 0 to 1; those below `REJECTED` contradict the others.
    """

    def __init__(self) -> None:
        self.found: list[Loop] = []
        self.weights = np.zeros(0)
        self._closed: set[tuple[int, int, int]] = set()
        self._fields: OrderedDict[int, Field] = OrderedDict()

    @property
    def kept(self) -> list[Loop]:
        """The loops that do not contradict the others; also those found since the last solution."""
        weights = np.append(self.weights, np.ones(len(self.found) - len(self.weights)))
        return [loop for loop, weight in zip(self.found, weights, strict=True) if weight >= REJECTED]

    def close(self, submaps: list[Submap], latest: int) -> bool:
        """Look for loops of a submap; if there are new ones, correct the poses of all submaps, and return True."""
        before = len(self.found)
        for begin in PARTS:
            if len(submaps[latest].keyframes) >= begin + MIN_PART:
                self._close_part(submaps, latest, begin)
        if len(self.found) > before:
            self.solve(submaps)
        return len(self.found) > before

    def _close_part(self, submaps: list[Submap], latest: int, begin: int) -> None:
        mine = submaps[latest]
        end = min(begin + PART, len(mine.keyframes))
        if (latest, begin, end) in self._closed:
            return
        self._closed.add((latest, begin, end))
        middle = mine.locals[(begin + end) // 2]
        points = sample(place(mine.points(begin, end), invert(middle)), REFINED)
        few = sample(points, SEARCHED)
        pose = compose(mine.pose, middle)
        path = self.paths(submaps, latest)
        for other in np.argsort(path[: max(latest - 1, 0)], kind="stable").tolist():
            theirs, length = submaps[other], float(path[other])
            slack, turn = (min(now + rate * length, most) for now, rate, most in (DRIFT, TURN_DRIFT))
            lost = length >= LOST
            centre = compose(theirs.pose, theirs.locals[len(theirs.locals) // 2])
            if length < MIN_PATH or math.dist(centre[:2], pose[:2]) > NEAR + slack:
                continue
            field, guess = self._field(submaps, other), between(theirs.pose, pose)
            least = MIN_LOST_SCORE if lost else MIN_SCORE
            window = Window(slack, math.pi if lost else turn, math.inf, math.inf, 0.0)
            found = search(field, few, guess, window, least)
            if found.score <= least:
                continue
            fine = align(field, points, np.array(found[:3]))
            if fine.fit >= MIN_FIT and fine.overlap >= MIN_OVERLAP:
                self.found.append(Loop(other, latest, compose(fine.pose, invert(middle)), fine.information))
                path = self.paths(submaps, latest)

    def paths(self, submaps: list[Submap], start: int) -> Array:
        """Length of the shortest path from a submap to all, over steps and loops that are not rejected: (submaps,) [m].

        It is a measure of drift.
        """
        steps = [
            (
                s.anchor.submap,
                k,
                0.1 + s.anchor.driven - submaps[s.anchor.submap].anchor.driven + LOST * (not s.anchor.matched),
            )
            for k, s in enumerate(submaps)
            if k
        ]
        jumps = [(loop.first, loop.second, 0.5) for loop in self.kept]
        if not steps:
            return np.zeros(len(submaps))
        first, second, length = zip(*steps, *jumps, strict=True)
        # Of several edges between the same two, a sparse matrix would add up the lengths.
        shortest: dict[tuple[int, int], float] = {}
        for a, b, metres in zip(first, second, length, strict=True):
            shortest[a, b] = min(metres, shortest.get((a, b), math.inf))
        ends = np.array(list(shortest)).T
        graph = sparse.csr_matrix((list(shortest.values()), tuple(ends)), shape=(len(submaps),) * 2)
        return np.asarray(dijkstra(graph, directed=False, indices=start))

    def parts(self, submaps: list[Submap]) -> int:
        """Number of parts of the map that no match connects."""
        paths = self.paths(submaps, 0)
        return 1 + int((np.diff(np.sort(paths)) >= 0.5 * LOST).sum())

    def _field(self, submaps: list[Submap], index: int) -> Field:
        if index not in self._fields:
            self._fields[index] = submaps[index].build(LEVELS)
        self._fields.move_to_end(index)
        while len(self._fields) > FIELDS:
            self._fields.popitem(last=False)
        return self._fields[index]

    def solve(self, submaps: list[Submap]) -> None:
        """Correct the poses of all submaps. Loops, and steps on which the robot was lost, may turn out to be wrong."""
        steps = [
            Edge(
                s.anchor.submap,
                k,
                s.anchor.local,
                floor(s.anchor.information, *STEP_DEVIATION),
                doubtful=not s.anchor.matched,
            )
            for k, s in enumerate(submaps)
            if k
        ]
        loops = [
            Edge(loop.first, loop.second, loop.relative, floor(loop.information, *LOOP_DEVIATION), doubtful=True)
            for loop in self.found
        ]
        solution = solve(np.array([s.pose for s in submaps]), [*steps, *loops])
        self.weights = solution.weights[len(steps) :]
        for submap, pose in zip(submaps, solution.poses, strict=True):
            submap.pose = pose
