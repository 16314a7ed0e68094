"""Oracle: the swimming snake of Draschwandtner (2015) in the engine that he used, the Open Dynamics Engine (ODE).

A planar chain of equal boxes joined by hinges about the vertical axis, without gravity. Water pushes against the faces
of each link, explicitly at every step, by the link's velocity at its centre (his algorithm 6.2); there is no drag
torque. Each hinge has a motor with a wanted rate and a greatest torque. At each command its rate is set to
gain * (wanted angle - angle) and is kept until the next command. All settings of ODE that are not named here are its
defaults (ERP 0.2, CFM 1e-10, `World.step`, infinitesimal rotation); links do not collide.

The script needs nothing but ODE's Python binding, in Debian a package for the system's Python:

    apt-get install python3-pyode
    /usr/bin/python3 ode_snake.py                # All cases, to ode_snake.json beside the script
    /usr/bin/python3 ode_snake.py --only a g     # Some cases: those of the file that have these names are replaced
"""

import argparse
import ctypes
import json
import math
import random
import subprocess
import time
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

import ode

FORCE_MAX = 5
"""ODE's number of a motor's greatest force. The binding's `ode.ParamFMax` is 3, another parameter to ODE."""

TOO_FAST = 1e6
"""Speed of a link [m/s] from which a run counts as exploded and is ended."""

SLOW = 1e-4
"""Difference of a joint's rate from the wanted one [rad/s] from which its motor counts as at its torque limit."""

FACTORS = (1 + 1e-6, 1 + 1e-4)
"""Each case runs again with its amplitude times each of these, to see whether its motion is chaotic."""

SENSITIVE = 0.01
"""Relative change of the distance from which a case is called sensitive."""


@dataclass(frozen=True)
class Case:
    """Body, water, motors, gait and time steps of one run; the defaults are the standard body and the source's gait.

    Attributes:
        links: Number of links.
        length: Length of a link [m].
        width: Width of a link [m].
        height: Height of a link [m].
        mass: Mass of the whole body [kg].
        drag: Force per area of a face and speed across it [N s/m^3].
        faces: End faces that the water pushes against: those of "all" links, or the "open" ones, the head's front when
            it moves forwards and the tail's rear when it moves backwards.
        gain: Rate of a motor per error of its angle [1/s].
        max_torque: Greatest torque of a motor [N m].
        amplitude: Amplitude of each joint's angle [rad].
        frequency: Frequency of the gait [Hz].
        phase: Phase by which each joint lags the one before it [rad].
        offset: Mean angle of each joint [rad].
        step: Time step of the engine [s].
        interval: Time between two commands, a multiple of the step [s].
        duration: Time that the body swims [s].
    """

    links: int = 17
    length: float = 1.5
    width: float = 0.5
    height: float = 0.5
    mass: float = 318.75
    drag: float = 18.85
    faces: str = "open"
    gain: float = 28.0
    max_torque: float = 1e5
    amplitude: float = 0.46
    frequency: float = 2.0
    phase: float = 0.68
    offset: float = 0.0
    step: float = 0.005
    interval: float = 0.02
    duration: float = 10.0

    def target(self, joint: int, time: float) -> float:
        """Return the angle that a joint, counted from 0 at the head, should have at a time [s]."""
        return self.amplitude * math.sin(2 * math.pi * self.frequency * time - joint * self.phase) + self.offset


class Snake:
    """A snake in ODE: straight, at rest, head front at x = 0, body along -x.

    Joint i sits between link i and link i + 1. Its angle is the yaw of link i minus that of link i + 1.
    """

    def __init__(self, case: Case):
        self.case = case
        self.world = ode.World()
        self.bodies = [self._link(index) for index in range(case.links)]
        self.hinges = [self._hinge(index) for index in range(case.links - 1)]

    def _link(self, index: int) -> ode.Body:
        case, body, mass = self.case, ode.Body(self.world), ode.Mass()
        mass.setBox(1.0, case.length, case.width, case.height)
        mass.adjust(case.mass / case.links)
        body.setMass(mass)
        body.setPosition((-(index + 0.5) * case.length, 0.0, 0.0))
        return body

    def _hinge(self, index: int) -> ode.HingeJoint:
        hinge = ode.HingeJoint(self.world)
        hinge.attach(self.bodies[index], self.bodies[index + 1])
        hinge.setAnchor((-(index + 1) * self.case.length, 0.0, 0.0))
        hinge.setAxis((0.0, 0.0, 1.0))
        hinge.setParam(FORCE_MAX, self.case.max_torque)
        return hinge

    def command(self, time: float) -> None:
        """Give each motor the rate that leads to the angles wanted at a time [s]."""
        for joint, hinge in enumerate(self.hinges):
            hinge.setParam(ode.ParamVel, self.case.gain * (self.case.target(joint, time) - hinge.getAngle()))

    def push(self) -> float:
        """Apply the water's force to each link for the next step; return the speed of the fastest link [m/s]."""
        case, fastest = self.case, 0.0
        side, end = case.drag * case.length * case.height, case.drag * case.width * case.height
        for index, body in enumerate(self.bodies):
            along, across, _ = body.vectorFromWorld(body.getLinearVel())
            head_on, tail_on = index == 0 and along > 0, index == case.links - 1 and along < 0
            wet = case.faces == "all" or head_on or tail_on
            body.addRelForce((-end * along if wet else 0.0, -side * across, 0.0))
            fastest = max(fastest, math.hypot(along, across))
        return fastest

    def motors_at_limit(self) -> int:
        """Return how many motors did not reach their wanted rate in the last step, for want of torque."""
        return sum(abs(hinge.getParam(ode.ParamVel) - hinge.getAngleRate()) > SLOW for hinge in self.hinges)

    def angles(self) -> list[float]:
        """Return the angle of each joint, head first, within -pi to pi [rad]."""
        return [hinge.getAngle() for hinge in self.hinges]

    def yaws(self) -> list[float]:
        """Return the yaw of each link, head first, within -pi to pi [rad]."""
        return [math.atan2(rotation[3], rotation[0]) for rotation in (body.getRotation() for body in self.bodies)]

    def centre(self) -> tuple[float, float]:
        """Return x and y of the centre of mass [m]."""
        positions = [body.getPosition() for body in self.bodies]
        return sum(p[0] for p in positions) / len(positions), sum(p[1] for p in positions) / len(positions)


def run(case: Case) -> dict:
    """Let a body swim and return what it did.

    Returns:
        finite: Whether all positions stayed finite and no link reached `TOO_FAST`; a run that did not ends there.
        x, y: Way of the centre of mass at the end [m], +x is forwards.
        distance: Straight distance between the centre's first and last position [m].
        heading: Mean yaw of the links at the end [rad], whole turns counted.
        angles: Joint angles at the end, head first [rad].
        centres: Position of the centre of mass at each whole second, from 0 on [m].
        peak_speed: Speed of the fastest link at any step [m/s].
        peak_angle: Largest joint angle at any step [rad], whole turns counted. Beyond pi the angle that ODE tells, and
            with it the motor's rate, jumps to the other side; and the body has passed through itself.
        saturated: Share of all motors and steps in which a motor was at its torque limit.
    """
    snake = Snake(case)
    steps, second = round(case.duration / case.step), round(1 / case.step)
    steps_per_command = round(case.interval / case.step)
    if not math.isclose(steps_per_command * case.step, case.interval):
        raise ValueError("interval must be a multiple of the step")
    start, centres, yaws = snake.centre(), [snake.centre()], snake.yaws()
    finite, peak_speed, peak_angle, at_limit = True, 0.0, 0.0, 0
    for done in range(steps):
        if done % steps_per_command == 0:
            snake.command(done * case.step + case.interval)
        speed = snake.push()
        finite = speed < TOO_FAST  # False if the speed is not a number, too.
        if not finite:
            break
        snake.world.step(case.step)
        peak_speed = max(peak_speed, speed)
        at_limit += snake.motors_at_limit()
        yaws = [old + math.remainder(new - old, 2 * math.pi) for old, new in zip(yaws, snake.yaws(), strict=True)]
        peak_angle = max(peak_angle, *(abs(front - rear) for front, rear in pairwise(yaws)))
        if (done + 1) % second == 0:
            centres.append(snake.centre())
    x, y = (now - first for now, first in zip(snake.centre(), start, strict=True))
    finite = finite and math.isfinite(x) and math.isfinite(y)
    if not finite:
        return {"finite": False, "centres": centres, "peak_speed": peak_speed}
    return {
        "finite": True,
        "x": x,
        "y": y,
        "distance": math.hypot(x, y),
        "heading": sum(yaws) / len(yaws),
        "angles": snake.angles(),
        "centres": centres,
        "peak_speed": peak_speed,
        "peak_angle": peak_angle,
        "saturated": at_limit / (steps * len(snake.hinges)),
    }


def sensitivity(case: Case, result: dict) -> dict:
    """Return how far a body swims when its gait's amplitude is a little larger.

    Returns:
        runs: For each factor on the amplitude: whether finite, x, y and distance [m], the relative change of the
            distance, and how far the end lies from that of the case itself, relative to its distance.
        sensitive: Whether the distance changes by more than `SENSITIVE` for any of the factors.
    """
    runs = []
    for factor in FACTORS:
        other = run(replace(case, amplitude=case.amplitude * factor))
        entry = {"factor": factor, "finite": other["finite"]}
        if result["finite"] and other["finite"]:
            apart = math.hypot(other["x"] - result["x"], other["y"] - result["y"])
            entry |= {key: other[key] for key in ("x", "y", "distance")}
            entry["change_of_distance"] = other["distance"] / result["distance"] - 1
            entry["change_of_end"] = apart / result["distance"]
        runs.append(entry)
    changes = [abs(entry.get("change_of_distance", math.inf)) for entry in runs]
    return {"runs": runs, "sensitive": max(changes) > SENSITIVE}


def cases() -> dict[str, Case]:
    """Return all cases by name; l01 to l16 are random gaits of the standard body."""
    source = Case()
    drifter = replace(source, links=8, mass=15.6, max_torque=1e3, amplitude=1.0, phase=2 * math.pi / 7, interval=0.005)
    table = {
        "a": source,
        "b": replace(source, amplitude=0.7, frequency=0.9, phase=0.8),
        "c": replace(source, amplitude=0.4, frequency=2.9, phase=0.6),
        "d": replace(source, amplitude=0.3, frequency=1.0, phase=0.4),
        "e": replace(source, amplitude=0.6, frequency=1.0, phase=0.39, offset=0.05),
        "f": replace(source, amplitude=0.5, frequency=2.7, phase=0.6),
        "g": replace(source, max_torque=2.5e4),
        "h": replace(source, step=0.0025),
        "i": replace(source, step=0.01),
        "j": drifter,
        "k": replace(drifter, faces="all", max_torque=100.0, frequency=0.6),
    }
    draw = random.Random(1).uniform
    for number in range(1, 17):
        amplitude, frequency, phase = draw(0.1, 1.0), draw(0.1, 2.5), draw(0.2, 1.5)
        table[f"l{number:02}"] = replace(source, amplitude=amplitude, frequency=frequency, phase=phase)
    return table


def check_motor() -> dict:
    """Check that ODE limits a motor's torque: it turns a heavy box from rest, and must reach torque * time / inertia.

    Returns:
        expected: Rate by Newton's law [rad/s].
        reached: Rate in ODE [rad/s].
        wanted: Rate that the motor was told [rad/s], which it must not reach.
    """
    torque, wanted, duration, step = 3.0, 50.0, 2.0, 0.005
    world, mass = ode.World(), ode.Mass()
    body, hinge = ode.Body(world), ode.HingeJoint(world)
    mass.setBoxTotal(100.0, 1.5, 0.5, 0.5)
    body.setMass(mass)
    hinge.attach(body, ode.environment)
    hinge.setAnchor((0.0, 0.0, 0.0))
    hinge.setAxis((0.0, 0.0, 1.0))
    hinge.setParam(FORCE_MAX, torque)
    hinge.setParam(ode.ParamVel, wanted)
    for _ in range(round(duration / step)):
        world.step(step)
    expected, reached = torque * duration / mass.I[2][2], abs(body.getAngularVel()[2])
    if not math.isclose(expected, reached, rel_tol=1e-6):
        raise RuntimeError(f"the motor reached {reached} rad/s instead of {expected}: is {FORCE_MAX} ODE's dParamFMax?")
    return {"expected": expected, "reached": reached, "wanted": wanted}


def engine() -> dict[str, str]:
    """Return the versions of ODE and its binding, as Debian says, and ODE's own line about how it was built."""
    packages = ("libode8", "python3-pyode")
    shown = {name: ["dpkg-query", "--show", "--showformat=${Version}", name] for name in packages}
    versions = {name: subprocess.run(shown[name], capture_output=True, text=True).stdout for name in packages}
    library = ctypes.CDLL("libode.so.8")
    library.dGetConfiguration.restype = ctypes.c_char_p
    return versions | {"configuration": library.dGetConfiguration().decode()}


def main() -> None:
    """Run the cases and write each to the file as soon as it is done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="CASE", choices=list(cases()), help="run these cases only")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("ode_snake.json"))
    options = parser.parse_args()
    kept = json.loads(options.output.read_text())["cases"] if options.only and options.output.exists() else {}
    table = {
        "command": "/usr/bin/python3 ode_snake.py",
        "engine": engine(),
        "motor_check": check_motor(),
        "cases": kept,
    }
    for name, case in cases().items():
        if options.only and name not in options.only:
            continue
        begin = time.perf_counter()
        result = run(case)
        seconds = time.perf_counter() - begin
        table["cases"][name] = {"settings": asdict(case), "result": result, "sensitivity": sensitivity(case, result)}
        options.output.write_text(json.dumps(table, indent=1) + "\n")
        note = " sensitive" if table["cases"][name]["sensitivity"]["sensitive"] else ""
        way = f"{result['x']:9.3f} {result['y']:9.3f} m" if result["finite"] else "exploded"
        print(f"{name:4} {way} {seconds:6.2f} s{note}", flush=True)


if __name__ == "__main__":
    main()
