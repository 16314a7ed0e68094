"""The soil contact model: the forces between ground that gives way and the bodies on it.

A node under a body is pressed by the body's lowest point above it. The stress is elastic up to yield and Bekker's from
there on; shear stress grows with slip, as Janosi and Hanamoto have it, up to the limit of Mohr and Coulomb. The soil
that is pressed out goes to the rim of the patch. Stresses act on the part of a cell that is covered, and under what
moves along the normal of the ground as it was before it was pressed, as in other soil contact models.

Loops over nodes are kept free of branches where most of the time is spent, so that they are compiled to vector
instructions: what a patch needs is first gathered in rows of numbers, and brought back in the end.
"""

import math

from sandlot.kernels import kernel
from sandlot.physics.shapes import TRACK, Three
from sandlot.physics.soil.ground import FREE, HEIGHT, PART, SUNK, TOUCHED, Ground, beside, push
from sandlot.typing import Array, IntArray

KPHI, KC, EXPONENT, COHESION, FRICTION, SHEAR, ELASTIC, DAMPING, REPOSE, POWERS = range(10)
"""Of the soil: Bekker's moduli [Pa/m^n], [Pa/m^(n-1)] and exponent; cohesion [Pa] and tangent of the angle of friction;
shear displacement [m]; elastic stiffness [Pa/m]; damping [Pa*s/m]; tangent of the angle of repose; and from there on
the powers of depths 0, FINE, 2 FINE and so on, since taking powers would take longer than all the rest."""
FINE = 1e-4
"""[m]"""
CREEP, CALM = 0.01, 5.0
"""Slip slower than this [m/s] is damped, by this part of the shear strength for its speed [s/m], so that a body comes
to rest."""
THIN = 1e-3
"""A patch is taken to be no narrower than this [m]."""

X, Y, Z, COVERED, ALONG_X, ALONG_Y, BODY_X, BODY_Y, OLD_FREE, OLD_SUNK, OLD_LOOSE, OLD_X, OLD_Y = range(13)
BELT_X, BELT_Y, BELT_Z, FORCE_X, FORCE_Y, FORCE_Z, MEAN, OLD_PART, DOWN, PUSHED, STORED = range(13, 24)
ROWS, LANES = 24, 64
"""Rows of what is known of so many nodes of a patch: place of the body's lowest point above them [m] and part of the
cell it covers; slope of the ground before it was pressed, and of the hollow that the body has made; what is kept of
them, as in `physics.soil.ground`; direction in which a belt runs; force [N]; mean height and covered part before
this step; soil that is displaced, pressed down by what covers the cell or pushed along by what comes to cover more of
it, as a height of its cell [m]; and elastic energy [J]."""
PATCH = 8
"""As many of them are known before anything is pressed."""


@kernel(error_model="numpy", allocates=False)
def width(patch: Array, spacing: float) -> float:
    """The smaller side of the rectangle that is spread out as a patch is [m]."""
    area, x, y, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(patch)):
        part, dx, dy = patch[k, COVERED], patch[k, X] - patch[0, X], patch[k, Y] - patch[0, Y]
        area, x, y = area + part, x + part * dx, y + part * dy
        xx, xy, yy = xx + part * dx * dx, xy + part * dx * dy, yy + part * dy * dy
    x, y = x / area, y / area
    # A cell is itself spread out.
    own = spacing * spacing / 12.0
    xx, xy, yy = xx / area - x * x + own, xy / area - x * y, yy / area - y * y + own
    least = 0.5 * (xx + yy) - math.sqrt(0.25 * (xx - yy) ** 2 + xy * xy)
    return max(math.sqrt(12.0 * max(least, 0.0)), THIN)


@kernel(error_model="numpy", allocates=False)
def slope(nodes: Array, index: int, low: int, high: int, per: float, step: float) -> tuple[float, float, bool]:
    """How steep the ground is at a node, between its neighbours to both sides.

    The rim of a patch is not what the body lies on: if a node beside this one is touched in this step, the other one
    counts only if it is touched too.

    Returns:
        The slope before anything was pressed, the slope now, and whether both neighbours are touched.
    """
    held_low = low >= 0 and nodes[low, TOUCHED] == step
    held_high = high >= 0 and nodes[high, TOUCHED] == step
    if low < 0 or (held_high and not held_low):
        low = index
    if high < 0 or (held_low and not held_high):
        high = index
    if low != index and high != index:
        per *= 0.5
    rise = nodes[high, FREE] - nodes[low, FREE]
    return rise * per, (rise - nodes[high, SUNK] + nodes[low, SUNK]) * per, held_low and held_high


@kernel(error_model="numpy", allocates=False)
def slopes(ground: Ground, under: IntArray, patch: Array, step: float, edge: IntArray) -> int:
    """How steep the ground is at every node of a patch, into ``patch``, and which are at its edge; returns how many."""
    nodes, ny, nx, wrap, per = ground.nodes, ground.ny, ground.nx, ground.wrap, 1.0 / ground.spacing
    count, i, first, half_per = 0, 0, 0, 0.5 * per
    for k in range(len(under)):
        index = under[k]
        if not first <= index < first + nx:
            # Another row; it begins with another node.
            i = index // nx
            first = i * nx
        j = index - first
        west, east, south, north = index - 1, index + 1, index - nx, index + nx
        if 0 < i < ny - 1 and 0 < j < nx - 1:
            across = (nodes[west, TOUCHED] == step) & (nodes[east, TOUCHED] == step)
            if across & (nodes[south, TOUCHED] == step) & (nodes[north, TOUCHED] == step):
                # As most are: the same as below, without asking again.
                rise_x, rise_y = nodes[east, FREE] - nodes[west, FREE], nodes[north, FREE] - nodes[south, FREE]
                patch[k, ALONG_X], patch[k, ALONG_Y] = rise_x * half_per, rise_y * half_per
                patch[k, BODY_X] = (rise_x - nodes[east, SUNK] + nodes[west, SUNK]) * half_per
                patch[k, BODY_Y] = (rise_y - nodes[north, SUNK] + nodes[south, SUNK]) * half_per
                continue
        else:
            west, east = beside(i, j - 1, ny, nx, wrap), beside(i, j + 1, ny, nx, wrap)
            south, north = beside(i - 1, j, ny, nx, wrap), beside(i + 1, j, ny, nx, wrap)
        patch[k, ALONG_X], patch[k, BODY_X], within = slope(nodes, index, west, east, per, step)
        patch[k, ALONG_Y], patch[k, BODY_Y], between = slope(nodes, index, south, north, per, step)
        if not (within and between):
            edge[count] = index
            count += 1
    if count == 0:
        # The body covers all there is.
        for k in range(len(under)):
            edge[k] = under[k]
        count = len(under)
    return count


@kernel(error_model="numpy", allocates=False)
def gather(
    ground: Ground, under: IntArray, patch: Array, work: Array, belt: bool, half: float, pos: Array, mat: Array
) -> None:
    """Bring together what is known of some nodes of a patch.

    Args:
        ground: Not changed.
        under: (n,) nodes, at most 64.
        patch: (n, 8) of them, as from `sandlot.physics.soil.find.find` and `slopes`.
        work: (24 * 64,) rows to be filled.
        belt: Whether a belt lies on them.
        half: Half the way between its pulleys [m].
        pos: (3,) of it [m].
        mat: (9,) its rotation.
    """
    nodes = ground.nodes
    for k in range(len(under)):
        for name in range(PATCH):
            work[name * LANES + k] = patch[k, name]
    for k in range(len(under)):
        index = under[k]
        for name in range(5):
            work[(OLD_FREE + name) * LANES + k] = nodes[index, FREE + name]
        work[MEAN * LANES + k], work[OLD_PART * LANES + k] = nodes[index, HEIGHT], nodes[index, PART]
    work[BELT_X * LANES : (BELT_Z + 1) * LANES] = 0.0
    for k in range(len(under) if belt else 0):
        # Around a pulley, or straight.
        x, y, z = work[X * LANES + k] - pos[0], work[Y * LANES + k] - pos[1], work[Z * LANES + k] - pos[2]
        f, u = mat[0] * x + mat[3] * y + mat[6] * z, mat[2] * x + mat[5] * y + mat[8] * z
        over = f - min(max(f, -half), half)
        length = math.sqrt(over * over + u * u)
        f, u = u / length, -over / length
        work[BELT_X * LANES + k] = mat[0] * f + mat[2] * u
        work[BELT_Y * LANES + k] = mat[3] * f + mat[5] * u
        work[BELT_Z * LANES + k] = mat[6] * f + mat[8] * u


@kernel(error_model="numpy", allocates=False, fastmath={"contract"})
def press(
    work: Array, count: int, soil: Array, modulus: float, stiff: float, rebound: float, still: float, spacing: float,
    dt: float, belt: float, velocity: Array, about: Array,
) -> None:  # fmt: skip
    """Press and shear some nodes of a patch: new states, and forces on the body.

    Args:
        work: (24 * 64,) changed in place.
        count: How many nodes.
        soil: As described by this module's constants.
        modulus: Bekker's, for this patch [Pa/m^n].
        stiff: Elastic stiffness [Pa/m].
        rebound: Where the body leaves the ground at this speed, the stress is half as large [m/s].
        still: From 0, stress acts along the normal of the ground before it was pressed, to 1, along the hollow's.
        spacing: Of nodes [m].
        dt: A step [s].
        belt: How fast the belt runs [m/s].
        velocity: (6,) of the body: turning [rad/s], then moving [m/s].
        about: (3,) of which point [m].
    """
    last = len(soil) - POWERS - 2
    w_x, w_y, w_z, v_x, v_y, v_z = velocity[0], velocity[1], velocity[2], velocity[3], velocity[4], velocity[5]
    a_x, a_y, a_z = about[0], about[1], about[2]
    cohesion, friction, damping, cell = soil[COHESION], soil[FRICTION], soil[DAMPING], spacing * spacing
    per_shear, per_stiff, per_rebound = 1.0 / soil[SHEAR], 1.0 / stiff, 1.0 / rebound
    per_creep = 1.0 / CREEP**2
    # Loops over all lanes, of which the last may hold nothing, are compiled to vector instructions; the one that looks
    # up powers is not. Until there are forces, their rows hold depth, Bekker's stress, and how much longer the
    # surface is than its cell.
    for k in range(LANES):
        along_x, along_y = work[ALONG_X * LANES + k], work[ALONG_Y * LANES + k]
        longer = math.sqrt(1.0 + along_x * along_x + along_y * along_y)
        work[FORCE_X * LANES + k] = max((work[OLD_FREE * LANES + k] - work[Z * LANES + k]) / longer, 0.0)
        work[FORCE_Z * LANES + k] = longer
    for k in range(count):
        at = work[FORCE_X * LANES + k] * (1.0 / FINE)
        low = min(int(at), last)
        below, above = soil[POWERS + low], soil[POWERS + low + 1]
        work[FORCE_Y * LANES + k] = modulus * (below + (at - low) * (above - below))
    for k in range(LANES):
        free, sunk, loose, z = (
            work[OLD_FREE * LANES + k],
            work[OLD_SUNK * LANES + k],
            work[OLD_LOOSE * LANES + k],
            work[Z * LANES + k],
        )
        depth, plastic, longer = work[FORCE_X * LANES + k], work[FORCE_Y * LANES + k], work[FORCE_Z * LANES + k]
        up = 1.0 / longer
        along_x, along_y = work[ALONG_X * LANES + k], work[ALONG_Y * LANES + k]
        n_x, n_y = -along_x * up, -along_y * up
        # Loose soil gives way to anything.
        level = free - sunk
        away = max(min(loose, level + loose - z), 0.0)
        # Stress: elastic from where it was pressed to before, but no more than Bekker's.
        elastic = stiff * (level - z) * up
        stress = max(min(elastic, plastic), 0.0)
        more = max((depth - stress * per_stiff) * longer - sunk, 0.0) if elastic > plastic else 0.0
        work[OLD_SUNK * LANES + k] = sunk + more
        work[OLD_LOOSE * LANES + k] = loose - away
        # What lies beside the body in a cell is pushed along as it comes to cover more of it.
        part, before = work[COVERED * LANES + k], work[OLD_PART * LANES + k]
        beside_it = (work[MEAN * LANES + k] - before * (level + loose)) / max(1.0 - before, 1e-9)
        grown, pressed = max(part - before, 0.0), level + loose - more - away
        work[DOWN * LANES + k] = min(part, before) * (more + away)
        work[PUSHED * LANES + k] = grown * max(beside_it - pressed, 0.0)
        firm = 1.0 if elastic > 0.0 else 0.0
        work[STORED * LANES + k] = 0.5 * stress * stress * per_stiff * work[COVERED * LANES + k] * cell
        # How the surface moves there.
        x, y, z = work[X * LANES + k] - a_x, work[Y * LANES + k] - a_y, z - a_z
        vx = v_x + w_y * z - w_z * y + belt * work[BELT_X * LANES + k]
        vy = v_y + w_z * x - w_x * z + belt * work[BELT_Y * LANES + k]
        vz = v_z + w_x * y - w_y * x + belt * work[BELT_Z * LANES + k]
        apart = vx * n_x + vy * n_y + vz * up
        stress = firm * max(stress / (1.0 + max(apart, 0.0) * per_rebound) - damping * apart, 0.0)
        vx, vy, vz = vx - apart * n_x, vy - apart * n_y, vz - apart * up
        # Shear: the part of the strength that is mobilised follows slip; this is exp(-way) to 1 in 1000 up to 1.
        square = vx * vx + vy * vy + vz * vz
        slip = math.sqrt(square)
        way = min(slip * dt * per_shear, 2.0)
        old = (12.0 - way * (6.0 - way)) / (12.0 + way * (6.0 + way))
        new = (1.0 - old) / max(slip, 1e-12)
        sx, sy = work[OLD_X * LANES + k] * old + vx * new, work[OLD_Y * LANES + k] * old + vy * new
        work[OLD_X * LANES + k], work[OLD_Y * LANES + k] = firm * sx, firm * sy
        sz = -(sx * n_x + sy * n_y) * longer
        slow = 1.0 + square * per_creep
        calm = CALM / (slow * slow)
        limit = firm * cohesion + stress * friction
        area = work[COVERED * LANES + k] * cell * longer
        n_x += still * up * (along_x - work[BODY_X * LANES + k])
        n_y += still * up * (along_y - work[BODY_Y * LANES + k])
        work[FORCE_X * LANES + k] = area * (stress * n_x - limit * (sx + calm * vx))
        work[FORCE_Y * LANES + k] = area * (stress * n_y - limit * (sy + calm * vy))
        work[FORCE_Z * LANES + k] = area * (stress * up - limit * (sz + calm * vz))


@kernel(error_model="numpy", allocates=False, fastmath={"reassoc", "contract", "nsz"})
def add_up(work: Array, count: int, centre: Array, sums: Array) -> None:
    """Sum up what some nodes of a patch do to the body, in whichever order is fastest; arguments as for `scatter`."""
    x0, y0, z0 = centre[0], centre[1], centre[2]
    fx = fy = fz = tx = ty = tz = along = out = out_x = out_y = stored = 0.0
    for k in range(count):
        x, y, z = work[X * LANES + k], work[Y * LANES + k], work[Z * LANES + k] - z0
        px, py, pz = work[FORCE_X * LANES + k], work[FORCE_Y * LANES + k], work[FORCE_Z * LANES + k]
        part = work[DOWN * LANES + k]
        fx, fy, fz = fx + px, fy + py, fz + pz
        tx, ty, tz = tx + (y - y0) * pz - z * py, ty + z * px - (x - x0) * pz, tz + (x - x0) * py - (y - y0) * px
        along += px * work[BELT_X * LANES + k] + py * work[BELT_Y * LANES + k] + pz * work[BELT_Z * LANES + k]
        out, out_x, out_y = out + part, out_x + part * x, out_y + part * y
        stored += work[STORED * LANES + k]
    parts = (fx, fy, fz, tx, ty, tz, along, out, out_x, out_y, stored)
    for k in range(11):
        sums[k] += parts[k]


@kernel(error_model="numpy", allocates=False)
def scatter(ground: Ground, under: IntArray, work: Array, step: float, centre: Array, sums: Array) -> None:
    """Bring what has become of some nodes of a patch back to the ground, and sum up the forces on the body.

    Args:
        ground: Changed in place.
        under: (n,) nodes, at most 64.
        work: (24 * 64,) as from `press`.
        step: Which.
        centre: (3,) where force and torque are to act [m].
        sums: (11,) added to: force [N], torque [N*m], force along the belt [N]; volume pressed out, as a height of one
            cell [m], and this times x and y of where it comes from [m]; and elastic energy [J].
    """
    nodes = ground.nodes
    for k in range(len(under)):
        index = under[k]
        ahead = work[PUSHED * LANES + k]
        nodes[index, HEIGHT] -= work[DOWN * LANES + k] + ahead
        if ahead > 0.0:
            work[DOWN * LANES + k] += push(ground, index, ahead, step)
        nodes[index, PART] = work[COVERED * LANES + k]
        for name in range(1, 5):
            nodes[index, FREE + name] = work[(OLD_FREE + name) * LANES + k]
    add_up(work, len(under), centre, sums)


@kernel(error_model="numpy", allocates=False)
def tread(
    ground: Ground, soil: Array, stiff: float, rebound: float, still: float, under: IntArray, patch: Array, step: float,
    dt: float, kind: int, size: Three, pos: Array, mat: Array, belt: float, velocity: Array, about: Array,
    centre: Array, sums: Array, edge: IntArray, work: Array,
) -> int:  # fmt: skip
    """Let a shape press and shear the nodes under it.

    Args:
        ground: Changed in place.
        soil: As described by this module's constants.
        stiff: Elastic stiffness [Pa/m].
        rebound: As for `press`.
        still: As for `press`.
        under: (n,) nodes that it touches.
        patch: (n, 8) of them, as from `sandlot.physics.soil.find.find`.
        step: Which.
        dt: How long it is [s].
        kind: Of the shape.
        size: Of the shape [m].
        pos: (3,) where it is [m].
        mat: (9,) its rotation.
        belt: How fast its belt runs [m/s].
        velocity: As for `press`.
        about: As for `press`.
        centre: As for `scatter`.
        sums: As for `scatter`.
        edge: Room for the nodes at the edge of the patch.
        work: (24 * 64,) room to work in.

    Returns:
        How many are at the edge.
    """
    for k in range(len(under)):
        ground.nodes[under[k], TOUCHED] = step
    modulus = soil[KPHI]
    if soil[KC] != 0.0:
        modulus += soil[KC] / width(patch, ground.spacing)
    count = slopes(ground, under, patch, step, edge)
    for first in range(0, len(under), LANES):
        some, part = under[first : first + LANES], patch[first : first + LANES]
        gather(ground, some, part, work, kind == TRACK, size[0], pos, mat)
        press(work, len(some), soil, modulus, stiff, rebound, still, ground.spacing, dt, belt, velocity, about)
        scatter(ground, some, work, step, centre, sums)
    return count
