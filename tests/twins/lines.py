"""Polynomials of lines once more: every cell of every direction weighed, in plain Python."""

import math


def predict(grid, rays):
    """What is seen along each ray: a list, not a number where no cell knows."""
    return [predict_one(grid, *ray) for ray in rays.tolist()]


def predict_one(grid, x, y, direction):
    x, y = x - grid.origin[0], y - grid.origin[1]
    directions, across_cells, along_cells = grid.shape.tolist()
    cell_turn, cell_across, cell_along = grid.width.tolist()
    total, weight = 0.0, 0.0
    for d in range(directions):
        axis = d * cell_turn
        turn = math.remainder(direction - axis, 2.0 * math.pi) / cell_turn
        u, v = y * math.cos(axis) - x * math.sin(axis), x * math.cos(axis) + y * math.sin(axis)
        for a in range(across_cells):
            for b in range(along_cells):
                which = grid.model[(d * across_cells + a) * along_cells + b]
                w = hat(turn) * share(u, grid.corner[0], cell_across, a, across_cells)
                w *= share(v, grid.corner[1], cell_along, b, along_cells)
                if which < 0 or w <= 0.0:
                    continue
                middle_u, middle_v = (
                    grid.corner[0] + (a + 0.5) * cell_across,
                    grid.corner[1] + (b + 0.5) * cell_along,
                )
                dx = x - middle_v * math.cos(axis) + middle_u * math.sin(axis)
                dy = y - middle_v * math.sin(axis) - middle_u * math.cos(axis)
                ahead = dx * math.cos(direction) + dy * math.sin(direction)
                aside = dy * math.cos(direction) - dx * math.sin(direction)
                values = (turn, aside / cell_across, ahead / cell_along)
                said = polynomial(grid.factors[which], grid.coefficients[which], values)
                total += w * (min(max(said, grid.limits[which, 0]), grid.limits[which, 1]) - ahead)
                weight += w
    return total / weight if weight > 0.0 else math.nan


def polynomial(factors, coefficients, values):
    """A sum of products."""
    terms = zip(factors, coefficients, strict=True)
    return sum(c * math.prod(values[f] for f in term if f >= 0) for term, c in terms)


def hat(away):
    """1 in the middle of a cell, 0 in the middle of the next."""
    return max(0.0, 1.0 - abs(away))


def share(place, corner, width, cell, cells):
    """How much a cell counts; beyond the last middle, it counts alone."""
    return hat(min(max((place - corner) / width - 0.5, 0.0), cells - 1.0) - cell)


def monomials_of(rng, degree):
    """Factors of a random term of turn, across and along."""
    size = rng.integers(0, degree + 1)
    return [*rng.integers(0, 3, size).tolist(), *[-1] * (degree - size)]
