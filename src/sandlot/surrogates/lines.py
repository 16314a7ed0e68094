"""Polynomials in line coordinates: the range along a ray, from the ray's position and direction.

If a robot drives one metre towards a wall, the range to the wall decreases by one metre. So the range plus the robot's
position *along* the ray depends only on the line: on its offset *across* from the centre of a cell, and on its *turn*
from the direction of the cell, as long as no obstacle is in between. In these coordinates few terms suffice.
"""

import itertools
from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates import equations
from sandlot.surrogates.line_tables import look, pack, turned
from sandlot.surrogates.orthogonal import bic, coefficients, take
from sandlot.surrogates.terms import NONE, Variable, design, monomials
from sandlot.typing import Array, IntArray

NAMES = ("turn", "across", "along")
"""Inputs of the polynomials."""
MIN_SAMPLES = 12
"""A cell with fewer samples gets no polynomial."""
SCANS_PER_TERM = 3
"""A cell needs this many scans for each of its terms."""
MAX_CELLS = 300
"""Maximum number of cells across, and along; in a larger log the cells are wider."""


class Samples(NamedTuple):
    """Ranges along rays.

    Attributes:
        rays: (samples, 3) x [m], y [m] and direction [rad].
        medians: (samples,) median range [m].
        scans: (samples,) index of the scan, ascending.
        shared: Number of overlapping samples per independent sample.
    """

    rays: Array
    medians: Array
    scans: IntArray
    shared: float


class Grid(NamedTuple):
    """Polynomials for cells of direction and position. Each direction has its own cells, aligned with it.

    Neighbouring cells overlap by half.

    Attributes:
        shape: (3,) number of cells by direction, across and along.
        corner: (2,) lower edge of the cells across and along, relative to the origin [m].
        origin: (2,) centre of the log [m].
        width: (3,) distance between neighbouring cells [rad, m, m].
        axes: (directions + 1, 2) cosine and sine of each direction; the first is repeated at the end.
        model: (cells,) index of the polynomial, -1 for none.
        factors: (polynomials, terms, degree) as `terms.monomials`, of turn, across and along in units of ``width``.
        coefficients: (polynomials, terms), 0 for unused terms, which come last.
        limits: (polynomials, 2) minimum and maximum of the samples, to which predictions are clipped [m].
    """

    shape: IntArray
    corner: Array
    origin: Array
    width: Array
    axes: Array
    model: IntArray
    factors: IntArray
    coefficients: Array
    limits: Array


@kernel()
def _fit(
    values: Array, target: Array, scans: IntArray, begins: IntArray, candidates: IntArray, max_terms: int, shared: float
) -> tuple[IntArray, Array]:
    """Fit each cell: (cells, max_terms) indices of the selected candidates, -1 for none, and their coefficients."""
    cells = begins.size - 1
    which, found = np.full((cells, max_terms), -1), np.zeros((cells, max_terms))
    for c in range(cells):
        low, high = begins[c], begins[c + 1]
        here = 1
        for k in range(low + 1, high):
            if scans[k] != scans[k - 1]:
                here += 1
        rows = design(np.ascontiguousarray(values[:, low:high]), candidates)
        path = take(rows, target[low:high], min(max_terms, max(1, here // SCANS_PER_TERM)), 0)
        if path.order.size == 0:
            continue
        count = int(np.argmin(bic(path, max((high - low) / shared, 2.0)))) + 1
        kept = 0
        for t, value in enumerate(coefficients(path, count)):
            if value != 0.0:
                which[c, kept], found[c, kept] = path.order[t], value
                kept += 1
    return which, found


def fit(samples: Samples, widths: tuple[float, float, float], degree: int, max_terms: int) -> Grid:
    """Fit a polynomial to every cell with enough samples.

    Args:
        samples: Ranges along rays.
        widths: Of the cells: by direction [degrees], across and along [m].
        degree: Of each polynomial.
        max_terms: Of each polynomial.
    """
    low, high = samples.rays[:, :2].min(0), samples.rays[:, :2].max(0)
    origin = 0.5 * (low + high)
    reach = float(np.hypot(*(samples.rays[:, :2] - origin).T).max()) + 1e-9
    across, along = (max(1, int(min(MAX_CELLS, np.ceil(2.0 * reach / each)))) for each in widths[1:])
    shape = (round(360.0 / widths[0]), across, along)
    width = np.array([2.0 * np.pi / shape[0], 2.0 * reach / shape[1], 2.0 * reach / shape[2]])
    turned = np.arange(shape[0] + 1) % shape[0] * width[0]
    axes = np.column_stack([np.cos(turned), np.sin(turned)])
    cells, members, begins = _members(samples.rays, shape, width, axes, origin, reach)
    values, ahead = _coordinates(
        samples.rays[members], np.repeat(cells, np.diff(begins)), shape, width, axes, origin, reach
    )
    target, candidates = samples.medians[members] + ahead, monomials(3, degree)
    which, found = _fit(values, target, samples.scans[members], begins, candidates, max_terms, samples.shared)
    model = np.full(shape[0] * shape[1] * shape[2], -1, np.int64)
    model[cells] = np.arange(len(cells))
    factors = np.where((which >= 0)[:, :, None], candidates[which], NONE)
    limits = np.zeros((len(cells), 2))
    if len(cells):
        limits[:, 0], limits[:, 1] = (each.reduceat(target, begins[:-1]) for each in (np.minimum, np.maximum))
    return Grid(np.array(shape), np.full(2, -reach), origin, width, axes, model, factors, found, limits)


def predict(grid: Grid, rays: Array, least: float = 0.0) -> Array:
    """Interpolated range along each ray: (rays,) [m]; NaN where no cell near the ray has a polynomial.

    Args:
        grid: From `fit`.
        rays: (rays, 3) x [m], y [m] and direction [rad].
        least: Share of the interpolation's weights that cells with a polynomial must have; otherwise NaN.
    """
    result = np.full((len(rays), 1), np.nan)
    places, yaws, order = np.ascontiguousarray(rays), turned(rays[:, 2]), np.arange(len(rays))
    look(pack(grid), places, yaws, turned(np.zeros(1)), least, order, result)
    return result[:, 0]


def equation(grid: Grid, which: int) -> str:
    """One of the polynomials as text, of turn, across and along in units of a cell, and of ``ahead`` in metres."""
    names = [Variable(name) for name in NAMES]
    parts = []
    for factors, value in zip(grid.factors[which], grid.coefficients[which].tolist(), strict=True):
        if value != 0.0:
            product = equations.term(factors, names)
            parts.append(f"{'-' if value < 0 else '+'} {abs(value):.4g}{'' if product == '1' else ' ' + product}")
    return f"range = {' '.join([*parts, '- ahead']).removeprefix('+ ')}"


def _members(
    rays: Array, shape: tuple[int, int, int], width: Array, axes: Array, origin: Array, reach: float
) -> tuple[IntArray, IntArray, IntArray]:
    """Cells with enough samples; the indices of their samples, cell by cell; and where those of each cell begin."""
    x, y = (rays[:, :2] - origin).T
    nearest = np.minimum(rays[:, 2] % (2.0 * np.pi) / width[0], shape[0] - 1.0).astype(np.int64)
    cells, samples = [], []
    for side, a, b in itertools.product((0, 1), repeat=3):
        axis_x, axis_y = axes[nearest + side].T
        across = np.clip((y * axis_x - x * axis_y + reach) / width[1] - 0.5, 0.0, shape[1] - 1.0).astype(np.int64) + a
        along = np.clip((x * axis_x + y * axis_y + reach) / width[2] - 0.5, 0.0, shape[2] - 1.0).astype(np.int64) + b
        inside = np.flatnonzero((across < shape[1]) & (along < shape[2]))
        place = ((nearest[inside] + side) % shape[0], across[inside], along[inside])
        cells.append(np.ravel_multi_index(place, shape))
        samples.append(inside)
    cell, sample = np.concatenate(cells), np.concatenate(samples)
    order = np.lexsort((sample, cell))
    names, counts = np.unique(cell, return_counts=True)
    enough = counts >= MIN_SAMPLES
    members = sample[order][np.repeat(enough, counts)]
    return names[enough], members, np.concatenate([[0], np.cumsum(counts[enough])])


def _coordinates(
    rays: Array, cells: IntArray, shape: tuple[int, int, int], width: Array, axes: Array, origin: Array, reach: float
) -> tuple[Array, Array]:
    """Turn, across and along of rays in units of their cells: (3, rays); and along in metres: (rays,)."""
    direction, a, b = np.unravel_index(cells, shape)
    axis_x, axis_y = axes[direction].T
    u, v = (a + 0.5) * width[1] - reach, (b + 0.5) * width[2] - reach
    x, y = (rays[:, :2] - origin).T
    dx, dy = x - (v * axis_x - u * axis_y), y - (v * axis_y + u * axis_x)
    cos, sin = np.cos(rays[:, 2]), np.sin(rays[:, 2])
    turn = (rays[:, 2] % (2.0 * np.pi) / width[0] - direction + 0.5 * shape[0]) % shape[0] - 0.5 * shape[0]
    ahead = dx * cos + dy * sin
    return np.array([turn, (dy * cos - dx * sin) / width[1], ahead / width[2]]), ahead
