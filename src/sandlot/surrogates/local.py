"""A sensor model of many small polynomials, each for rays that run nearly alike.

A reading is known by the line it is taken along. A robot that goes ahead by a metre sees the wall ahead a metre nearer:
the reading plus how far the robot is *along* the ray depends on how far *across* the ray's line is from the origin and
on its direction, hardly on anything else, as long as nothing stands in between. In these coordinates few terms suffice.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.surrogates.orthogonal import _forward, bic, coefficients
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, directions
from sandlot.surrogates.terms import NONE, Array, Index, design, monomials

NAMES = ("turn", "across", "along")
FEW = 12
"""A cell with fewer samples has no model."""
PER = 3
"""So many scans a cell needs for each of its terms."""
WIDE = np.inf
GRIDS = (
    (30.0, WIDE, WIDE),
    (15.0, 2.5, WIDE),
    (7.5, 1.2, WIDE),
    (5.0, 0.8, WIDE),
    (15.0, 1.6, 3.0),
    (10.0, 0.8, 1.6),
    (7.5, 0.5, 1.0),
)
"""Widths of cells, by direction [degrees], across and along [m], from which cross-validation chooses."""


class Grid(NamedTuple):
    """Polynomials for every direction and place. Each direction has cells of its own, turned to lie along it.

    Cells overlap, half of each with its neighbours.

    Attributes:
        shape: (3,) cells by direction, across and along.
        corner: (2,) where those across and along begin, from the origin [m].
        origin: (2,) in the middle of the log [m].
        width: (3,) from a cell to the next [rad, m, m].
        model: (cells,) which polynomial, -1 for none.
        factors: (polynomials, terms, degree) as `terms.monomials`; of turn, across and along, as shares of ``width``.
        coefficients: (polynomials, terms)
        limits: (polynomials, 2) the least and the most that was seen [m]; no polynomial says more.
    """

    shape: Index
    corner: Array
    origin: Array
    width: Array
    model: Index
    factors: Index
    coefficients: Array
    limits: Array


@kernel()
def _predict(grid: Grid, rays: Array) -> Array:
    """Mean of the polynomials around each ray, the nearest counting most: (rays,), not a number where there is none."""
    result = np.empty(rays.shape[0])
    value = np.empty(3)
    for i in range(rays.shape[0]):
        x, y = rays[i, 0] - grid.origin[0], rays[i, 1] - grid.origin[1]
        cos, sin = np.cos(rays[i, 2]), np.sin(rays[i, 2])
        turned = rays[i, 2] % (2.0 * np.pi) / grid.width[0]
        total, weight = 0.0, 0.0
        for side in range(2):
            direction = int(turned) + side
            turn = turned - direction
            axis_x, axis_y = np.cos(direction * grid.width[0]), np.sin(direction * grid.width[0])
            across = (y * axis_x - x * axis_y - grid.corner[0]) / grid.width[1] - 0.5
            along = (x * axis_x + y * axis_y - grid.corner[1]) / grid.width[2] - 0.5
            across = min(max(across, 0.0), grid.shape[1] - 1.0)
            along = min(max(along, 0.0), grid.shape[2] - 1.0)
            for a in range(int(across), min(int(across) + 2, grid.shape[1])):
                for b in range(int(along), min(int(along) + 2, grid.shape[2])):
                    w = (1.0 - abs(turn)) * (1.0 - abs(across - a)) * (1.0 - abs(along - b))
                    which = grid.model[(direction % grid.shape[0] * grid.shape[1] + a) * grid.shape[2] + b]
                    if which < 0 or w <= 0.0:
                        continue
                    u = grid.corner[0] + (a + 0.5) * grid.width[1]
                    v = grid.corner[1] + (b + 0.5) * grid.width[2]
                    dx, dy = x - (v * axis_x - u * axis_y), y - (v * axis_y + u * axis_x)
                    ahead = dx * cos + dy * sin
                    value[0], value[1] = turn, (dy * cos - dx * sin) / grid.width[1]
                    value[2] = ahead / grid.width[2]
                    polynomial = 0.0
                    for t in range(grid.coefficients.shape[1]):
                        product = grid.coefficients[which, t]
                        for k in range(grid.factors.shape[2]):
                            if grid.factors[which, t, k] == NONE:
                                break
                            product *= value[grid.factors[which, t, k]]
                        polynomial += product
                    polynomial = min(max(polynomial, grid.limits[which, 0]), grid.limits[which, 1])
                    total += w * (polynomial - ahead)
                    weight += w
        result[i] = total / weight if weight > 0.0 else np.nan
    return result


@kernel()
def _fit(values: Array, target: Array, scans: Index, begins: Index, candidates: Index, most: int, shared: float) -> tuple[Index, Array]:
    """A polynomial for each cell: its terms (cells, most) among the candidates, -1 for none, and their coefficients."""
    cells = begins.size - 1
    which, found = np.full((cells, most), -1), np.zeros((cells, most))
    for c in range(cells):
        low, high = begins[c], begins[c + 1]
        here = 1
        for k in range(low + 1, high):
            if scans[k] != scans[k - 1]:
                here += 1
        y = target[low:high].copy()
        path = _forward(design(values[low:high], candidates), y, min(most, max(1, here // PER)), 0)
        if path.order.size == 0:
            continue
        count = np.argmin(bic(path, max((high - low) / shared, 2.0))) + 1
        which[c, :count] = path.order[:count]
        found[c, :count] = coefficients(path, count)
    return which, found


class Local:
    """Polynomials for overlapping cells of direction, and of place across and along it; which cells, by cross-validation.

    Args:
        degree: Of each polynomial.
        most: Terms of each.
        grids: From which to choose; from coarse to fine.
        folds: For cross-validation: parts in a row of the log.
        segments: Of a scan.

    Attributes:
        grids_: Those that are asked, the finest first; where it knows nothing, the next.
        chosen_: Their numbers of cells by direction, across and along.
        wrong_: Mean absolute error in cross-validation [m].
    """

    def __init__(
        self,
        degree: int = 3,
        most: int = 12,
        grids: Sequence[tuple[float, float, float]] = GRIDS,
        folds: int = 4,
        segments: int = SEGMENTS,
    ) -> None:
        self.degree, self.most, self.grids, self.folds, self.segments = degree, most, grids, folds, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Choose among the grids, and fit their polynomials."""
        truth = graph.segments(self.segments)
        guesses = np.full((len(self.grids), *truth.shape), np.nan)
        usual = np.zeros(truth.shape)
        for part in np.array_split(np.arange(len(graph)), self.folds):
            rest = graph.part(np.delete(np.arange(len(graph)), part))
            rays, medians, scans = rest.windows(self.segments)
            asked = directions(graph.poses[part], graph.spread, self.segments)
            usual[part] = np.median(medians)
            for k, shape in enumerate(self.grids):
                guesses[k, part] = _predict(self._grid(shape, rays, medians, scans), asked).reshape(-1, self.segments)
        self.wrong_, best = np.inf, ()
        for size in range(len(self.grids) + 1):
            for chosen in itertools.combinations(range(len(self.grids)), size):
                guess = usual
                for k in chosen:
                    guess = np.where(np.isnan(guesses[k]), guess, guesses[k])
                wrong = float(np.nanmean(np.abs(np.clip(guess, np.nanmin(truth), np.nanmax(truth)) - truth)))
                if wrong < self.wrong_:
                    self.wrong_, best = wrong, chosen
        rays, medians, scans = graph.windows(self.segments)
        self.chosen_ = [tuple(self.grids[k]) for k in reversed(best)]
        self.grids_ = [self._grid(shape, rays, medians, scans) for shape in self.chosen_]
        self.spread_, self.usual_ = graph.spread, float(np.median(medians))
        self.limits_ = float(medians.min()), float(medians.max())
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from the right to the left: (poses, segments) [m]."""
        rays = directions(np.ascontiguousarray(poses, np.float64), self.spread_, self.segments)
        result = np.full(len(rays), np.nan)
        for grid in self.grids_:
            unknown = np.isnan(result)
            if unknown.any():
                result[unknown] = _predict(grid, rays[unknown])
        result = np.clip(np.where(np.isnan(result), self.usual_, result), *self.limits_)
        return result.reshape(-1, self.segments)

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return sum(int((grid.coefficients != 0.0).sum()) for grid in self.grids_)

    def _grid(self, widths: tuple[float, float, float], rays: Array, medians: Array, scans: Index) -> Grid:
        origin = 0.5 * (rays[:, :2].min(0) + rays[:, :2].max(0))
        x, y = (rays[:, :2] - origin).T
        reach = float(np.hypot(x, y).max()) + 1e-9
        shape = (round(360.0 / widths[0]), *(max(1, int(np.ceil(2.0 * reach / each))) for each in widths[1:]))
        width = np.array([2.0 * np.pi / shape[0], 2.0 * reach / shape[1], 2.0 * reach / shape[2]])
        turned = rays[:, 2] % (2.0 * np.pi) / width[0]
        cells, samples = [], []
        for side in (0, 1):
            direction = turned.astype(np.int64) + side
            axis_x, axis_y = np.cos(direction * width[0]), np.sin(direction * width[0])
            across = np.clip((y * axis_x - x * axis_y + reach) / width[1] - 0.5, 0.0, shape[1] - 1.0).astype(np.int64)
            along = np.clip((x * axis_x + y * axis_y + reach) / width[2] - 0.5, 0.0, shape[2] - 1.0).astype(np.int64)
            for a, b in itertools.product((0, 1), repeat=2):
                inside = (across + a < shape[1]) & (along + b < shape[2])
                place = (direction % shape[0], across + a, along + b)
                cells.append(np.ravel_multi_index(tuple(each[inside] for each in place), shape))
                samples.append(np.flatnonzero(inside))
        cell, sample = np.concatenate(cells), np.concatenate(samples)
        order = np.lexsort((sample, cell))
        names, begins, counts = np.unique(cell[order], return_index=True, return_counts=True)
        kept = np.repeat(counts >= FEW, counts)
        members, names, counts = sample[order][kept], names[counts >= FEW], counts[counts >= FEW]
        begins = np.concatenate([[0], np.cumsum(counts)])
        direction, a, b = (np.repeat(each, counts) for each in np.unravel_index(names, shape))
        u, v = (a + 0.5) * width[1] - reach, (b + 0.5) * width[2] - reach
        axis_x, axis_y = np.cos(direction * width[0]), np.sin(direction * width[0])
        cos, sin = np.cos(rays[members, 2]), np.sin(rays[members, 2])
        dx, dy = x[members] - (v * axis_x - u * axis_y), y[members] - (v * axis_y + u * axis_x)
        turn = (turned[members] - direction + 0.5 * shape[0]) % shape[0] - 0.5 * shape[0]
        ahead = dx * cos + dy * sin
        values = np.column_stack([turn, (dy * cos - dx * sin) / width[1], ahead / width[2]])
        target = medians[members] + ahead
        candidates = monomials(3, self.degree)
        shared = len(rays) / (len(np.unique(scans)) * self.segments)
        which, found = _fit(values, target, scans[members], begins, candidates, self.most, shared)
        model = np.full(shape[0] * shape[1] * shape[2], -1, np.int64)
        model[names] = np.arange(len(names))
        factors = np.where((which >= 0)[:, :, None], candidates[which], NONE)
        low, high = np.minimum.reduceat(target, begins[:-1]), np.maximum.reduceat(target, begins[:-1])
        return Grid(np.array(shape), np.full(2, -reach), origin, width, model, factors, found, np.column_stack([low, high]))
