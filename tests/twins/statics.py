"""Whether a climbing robot can stand, done again plainly: outlines as many points, forces by SciPy's linear program."""

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import KDTree

from sandlot.robots.climber import mass_centre

GRAVITY = 9.81
ANGLES = np.linspace(0.0, 2.0 * np.pi, 721)


def hulls(climber, position, pitch, axles):
    """Of front tracks, rear tracks and body: centres (2, 2) and radii of the two circles of each."""
    track, body = climber.track, -pitch
    ahead, up = np.array([np.cos(body), np.sin(body)]), np.array([-np.sin(body), np.cos(body)])
    found = []
    for side, axle in zip((1.0, -1.0), axles, strict=True):
        hub = position + 0.5 * side * climber.axles.span * ahead + climber.axles.height * up
        arm = side * track.reach * np.array([np.cos(body + axle), np.sin(body + axle)])
        found.append((np.array([hub, hub + arm]), (track.wheel, track.tip)))
    radius = 0.5 * climber.body.height
    straight = 0.5 * climber.body.length - radius
    found.append((np.array([position - straight * ahead, position + straight * ahead]), (radius, radius)))
    return found


def outline(centres, radii):
    """Points of the outline of the hull of two circles, and its outward normals: its support in every direction."""
    normals = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
    reaches = normals @ centres.T + np.array(radii)
    which = reaches.argmax(axis=1)
    arcs = centres[which] + np.array(radii)[which, None] * normals
    points, directions = [arcs], [normals]
    for k in np.flatnonzero(
        np.diff(which)
    ):  # the straight parts, where the support changes from one circle to the other
        shares = np.linspace(0.0, 1.0, 200)[:, None]
        points.append(arcs[k] + shares * (arcs[k + 1] - arcs[k]))
        directions.append(np.repeat(normals[k : k + 1], 200, axis=0))
    return np.concatenate(points), np.concatenate(directions)


def depth(climber, course, position, pitch, axles):
    """How deep the robot is in the ground [m]; negative if it does not touch it."""
    points = np.concatenate([outline(*hull)[0] for hull in hulls(climber, position, pitch, axles)])
    return float((course.heights(points[:, 0]) - points[:, 1]).max())


def distance(climber, course, position, pitch, axles):
    """From the outlines of the robot to the surface of the ground, both as points [m]."""
    points = np.concatenate([outline(*hull)[0] for hull in hulls(climber, position, pitch, axles)])
    return float(KDTree(_surface(course)).query(points)[0].min())


def stands(climber, course, position, pitch, axles, gap):
    """Whether contact forces within the limits of friction, thrust and torque carry the robot.

    A contact is a point of an outline that is closer to the ground's surface than ``gap``, where the surface is many
    points; its normal is that of the outline.
    """
    surface = KDTree(_surface(course))
    contacts = []
    for part, hull in enumerate(hulls(climber, position, pitch, axles)):
        points, normals = outline(*hull)
        near = surface.query(points)[0] < gap
        contacts += [(part, point, -normal) for point, normal in zip(points[near], normals[near], strict=True)]
    return carried(climber, position, pitch, axles, contacts)


def carried(climber, position, pitch, axles, contacts, move=0):
    """Whether forces at contacts (part, point, normal) carry the robot while it drives as ``move`` says."""
    equal, thrust, torque = [], [], []
    parts = hulls(climber, position, pitch, axles)
    for part, point, normal in contacts:
        grip = climber.body.friction if part == 2 else climber.track.friction
        for way in (-move * grip,) if part == 2 and move else (grip, -grip):
            force = normal + way * np.array([normal[1], -normal[0]])
            lever, hub = point - position, point - parts[part][0][0]
            equal.append([*force, lever[0] * force[1] - lever[1] * force[0]])
            thrust.append([way * (part == pair) for pair in (0, 1)])
            torque.append([(hub[0] * force[1] - hub[1] * force[0]) * (part == pair) for pair in (0, 1)])
    if not contacts:
        return False
    weight = climber.mass * GRAVITY
    centre = mass_centre(climber, np.array(pitch), np.array(axles))[0]
    limits = np.array([2.0 * climber.thrust] * 2 + [climber.axles.torque] * 2)
    arms = [0.5 * (hull[0][1] - hull[0][0])[0] for hull in parts[:2]]
    drops = np.array([0.0, 0.0, *(2.0 * climber.track.mass * GRAVITY * arm for arm in arms)])
    rows = np.hstack([thrust, torque]).T
    answer = linprog(
        np.zeros(len(equal)),
        A_ub=np.vstack([rows, -rows]),
        b_ub=np.concatenate([limits + drops, limits - drops]),
        A_eq=np.array(equal).T,
        b_eq=[0.0, weight, weight * centre],
    )
    return answer.status == 0


def _surface(course):
    """Points every 2 mm of the course's profile near its obstacle."""
    pieces = []
    for (x, z), (x_next, z_next) in zip(course.profile[:-1], course.profile[1:], strict=True):
        low, high = max(x, course.near - 2.0), min(x_next, course.end + 2.0)
        number = int(np.ceil(np.hypot(high - low, z_next - z) / 0.002)) + 2
        share = np.linspace(0.0, 1.0, number)[:, None]
        pieces.append(np.array([low, z]) + share * np.array([high - low, z_next - z]))
    return np.concatenate(pieces)
