"""A heap of particles that collapses, side by side with LIGGGHTS on the same spheres, all awake, in one run.

LIGGGHTS is a program for granular matter that engineers use; Debian has it (``apt-get install liggghts``), PyPI does
not. ``heap.liggghts`` is its input. Both start from the same positions and velocities of a block of spheres that leans
on a wall, with the same mass, friction, springs and dashpots, in the same steps. Sleep is switched off here, since
LIGGGHTS has none: every particle is computed in every step.

What differs: LIGGGHTS limits the springs of slip and rolling, and adds the dashpot only below that limit; ours limits
spring and dashpot together. LIGGGHTS integrates by velocity Verlet, ours by semi-implicit Euler. It stores strains in
double precision, ours in single precision. It runs on several cores as processes that exchange messages, ours as
threads. Debian's build has these contacts only in its general form, which is up to 20% slower by its own warning; one
row has the nearest ones that it has in an optimised form.

LIGGGHTS' users mostly take Hertz contacts with a Young's modulus. One row has them, with the softest material that
LIGGGHTS accepts, in steps of a fifth of the Rayleigh time.

Times on one thread are processor time, those on two wall time, and all are per second of simulated time.
"""

import math
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numba import get_num_threads, set_num_threads

from _side_by_side import Comparison, main
from sandlot.physics.particles import Particles
from sandlot.studies.terrain.heaps import angle_of
from sandlot.typing import Array

SCRIPT = Path(__file__).with_suffix(".liggghts")
RADIUS, DENSITY = 0.0125, 1600.0
"""Of a particle [m], [kg/m^3]: the grain of the terrain benchmark."""
WIDTH, COLUMNS, LAYERS, LENGTH = 40, 20, 25, 80
"""Of the container across, of the block along it, of the block's height, and of the container along it [particles]."""
SHAKE = 0.2
"""Standard deviation of the velocities at the start [m/s], without which the lattice would stand."""
SECONDS = 1.0
"""Simulated time in which the block collapses."""
PART = 0.1
"""Simulated time for the times on two threads and for Hertz contacts [s]."""
REPETITIONS = 3
"""Of these shorter runs, in turns; the minimum counts."""
SKIN = 0.5 * RADIUS
"""How far beyond contact LIGGGHTS lists neighbours [m]: the fastest of 0.15, 0.3, 0.5 and 0.8 radii."""
YOUNG, POISSON, BOUNCE = 5e6, 0.3, 0.4
"""Of Hertz contacts: the minimum modulus that LIGGGHTS accepts [Pa], Poisson's ratio and coefficient of restitution."""


class Contacts(NamedTuple):
    """LIGGGHTS' models of contacts and of rolling resistance, and their options."""

    contacts: str
    rolling: str
    options: str = "limitForce on torsionTorque on tangential_damping on absolute_damping on"


LINEAR = Contacts("hooke/stiffness", "epsd3")
"""As ours."""
QUICK = Contacts("hooke/stiffness", "epsd2")
"""Rolls against a softer spring without a dashpot, but Debian's build has it in an optimised form."""
HERTZ = Contacts("hertz", "cdt", "limitForce on torsionTorque on tangential_damping on")
"""As is usual; rolling resistance has no spring. In an optimised form, too."""


class Run(NamedTuple):
    """Time for a second of simulated time [s], steps for it, and positions at the end (n, 3) [m]."""

    processor: float
    wall: float
    steps: float
    position: Array


def block() -> Particles:
    """A block of particles that leans on the low end of a long container, shaken, and without sleep."""
    heights = np.zeros((WIDTH, LENGTH))
    heights[:, :COLUMNS] = LAYERS * 2.0 * RADIUS
    particles = Particles(heights, 2.0 * RADIUS, radius=RADIUS, density=DENSITY)
    particles.velocity[:] = np.random.default_rng(0).normal(0.0, SHAKE, particles.velocity.shape)
    particles.law = particles.law._replace(sleep_delay=math.inf)
    return particles


def ours(seconds: float, threads: int = 1) -> Run:
    """Let the block collapse here."""
    particles, before = block(), get_num_threads()
    set_num_threads(threads)
    start, wall = time.process_time(), time.perf_counter()
    particles.fall(seconds)
    processor, wall = time.process_time() - start, time.perf_counter() - wall
    set_num_threads(before)
    assert particles.awake == len(particles.position)
    steps = math.ceil(seconds / particles.law.longest_step)
    return Run(processor / seconds, wall / seconds, steps / seconds, particles.position)


def variables(particles: Particles, contacts: Contacts) -> dict[str, str | float]:
    """The variables of the script, apart from its step."""
    law, box = particles.law, particles.state.box
    # It gives the rolling spring and dashpot as multiples of these.
    spring = law.stiffness * (law.rolling * law.radius) ** 2
    critical = 2.0 * math.sqrt(1.4 * law.mass * law.radius**2 * law.roll_stiffness)
    return {
        **contacts._asdict(),
        **{"kn": law.stiffness, "cn": law.damping, "kt": law.slip_stiffness, "ct": law.slip_damping},
        **{"young": YOUNG, "poisson": POISSON, "bounce": BOUNCE, "mu": law.friction, "gravity": law.gravity},
        **{"roll": 2.0 * law.rolling, "wallroll": law.rolling, "rollstiff": law.roll_stiffness / spring},
        **{"rolldamp": math.sqrt(2.0) * law.roll_damping / critical, "wallrolldamp": law.roll_damping / critical},
        **{"xmin": box.x_min, "xmax": box.x_max, "ymin": box.y_min, "ymax": box.y_max, "skin": SKIN},
    }


def write_spheres(particles: Particles, path: Path) -> None:
    """Write the particles as LIGGGHTS reads them."""
    box, count = particles.state.box, len(particles.position)
    number = np.arange(1, count + 1)[:, None]
    kind = np.broadcast_to([1.0, 2.0 * RADIUS, DENSITY], (count, 3))
    top = float(particles.position[:, 2].max()) + 1.0
    with path.open("w", encoding="utf-8") as file:
        file.write(f"A block of spheres\n\n{count} atoms\n2 atom types\n\n")
        file.write(f"{box.x_min} {box.x_max} xlo xhi\n{box.y_min} {box.y_max} ylo yhi\n0 {top} zlo zhi\n\nAtoms\n\n")
        np.savetxt(file, np.hstack([number, kind, particles.position]), "%d %d %.17g %.17g %.17g %.17g %.17g")
        file.write("\nVelocities\n\n")
        np.savetxt(file, np.hstack([number, particles.velocity, particles.spin]), "%d" + 6 * " %.17g")


def rayleigh_time() -> float:
    """Time in which a wave crosses a sphere of the Hertz material [s], as LIGGGHTS' manual gives it."""
    shear = YOUNG / (2.0 * (1.0 + POISSON))
    return math.pi * RADIUS * math.sqrt(DENSITY / shear) / (0.1631 * POISSON + 0.8766)


def call(folder: Path, threads: int, values: dict[str, str | float]) -> tuple[float, float]:
    """Run the script; returns processor time of the program [s], and wall time of its steps [s]."""
    given = [word for name, value in values.items() for word in ("-var", name, str(value))]
    command = ["liggghts", "-in", str(SCRIPT), "-log", "none", *given]
    if threads > 1:
        command = ["mpirun", "--bind-to", "none", "--oversubscribe", "-np", str(threads), *command]
    # Open MPI otherwise refuses to start in a container whose only user is root.
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **allow}, capture_output=True, text=True, errors="replace"
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    loops = re.findall(r"Loop time of (\S+) on", done.stdout)
    if done.returncode or not loops:
        raise SystemExit(f"error: liggghts failed: {done.stdout[-500:]}{done.stderr[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, float(loops[0])


def theirs(seconds: float, threads: int = 1, contacts: Contacts = LINEAR) -> Run:
    """Let the same block collapse in LIGGGHTS."""
    particles = block()
    longest = 0.2 * rayleigh_time() if contacts is HERTZ else particles.law.longest_step
    steps = math.ceil(seconds / longest)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_spheres(particles, folder / "spheres")
        values = {**variables(particles, contacts), "folder": name, "dt": seconds / steps}
        # Reading the spheres does not count.
        reading, _ = call(folder, threads, {**values, "steps": 0})
        whole, wall = call(folder, threads, {**values, "steps": steps})
        position = np.loadtxt(folder / "positions", skiprows=9, ndmin=2)[:, 1:]
    return Run((whole - reading) / seconds, wall / seconds, steps / seconds, position)


def shape(position: Array) -> tuple[float, float]:
    """Height at the wall [m] and angle [deg] of a heap, in the middle half of the container's width."""
    particles = block()
    particles.position[:] = position
    heights = particles.surface((5 * WIDTH, 5 * LENGTH))[5 * WIDTH // 4 : -5 * WIDTH // 4]
    profile = heights.mean(axis=0)
    box = particles.state.box
    return float(profile[: 5 * 2].mean()), angle_of(np.linspace(box.x_min, box.x_max, len(profile)), profile)


def in_turns(*works: Callable[[], Run]) -> list[list[Run]]:
    """Several runs of each work, in turns, so that a busy machine slows all of them."""
    rounds = [[work() for work in works] for _ in range(REPETITIONS)]
    return [list(runs) for runs in zip(*rounds, strict=True)]


def compare() -> list[Comparison]:
    """Let a heap of particles collapse here and in LIGGGHTS, if it is installed."""
    if shutil.which("liggghts") is None:
        print("liggghts is not installed (Debian: apt-get install liggghts): nothing is compared", file=sys.stderr)
        return []
    ours(0.001)  # compiles
    here, there = ours(SECONDS), theirs(SECONDS)
    name = f"a second of {len(here.position):,} particles in a collapsing heap"
    (height, angle), (their_height, their_angle) = shape(here.position), shape(there.position)
    rows = [
        Comparison(f"{name}, threads: 1", here.processor, "s", there.processor),
        Comparison("steps for it", here.steps, "1", there.steps),
        Comparison("height of the heap at the wall, after it", height, "m", their_height),
        Comparison("angle of the heap, after it", angle, "deg", their_angle),
    ]
    kinds = {"": LINEAR, ", against its quick contacts": QUICK, ", against Hertz contacts": HERTZ}
    works = [lambda kind=kind: theirs(PART, 1, kind) for kind in kinds.values()]
    short, *others = in_turns(lambda: ours(PART), *works)
    least, beginning = min(run.processor for run in short), f"the first {PART:g} s of it, for a second"
    for words, runs in zip(kinds, others, strict=True):
        rows.append(Comparison(f"{beginning}, threads: 1{words}", least, "s", min(run.processor for run in runs)))
    rows.append(Comparison("steps for it, against Hertz contacts", short[0].steps, "1", others[-1][0].steps))
    if get_num_threads() < 2 or shutil.which("mpirun") is None:
        return rows
    if os.getloadavg()[0] > get_num_threads() - 0.5:
        # Processes that wait for each other lose more by other programs than threads do.
        print("other programs use the cores: wall times on two threads are not compared", file=sys.stderr)
    else:
        pairs = in_turns(lambda: ours(PART, 2), lambda: theirs(PART, 2))
        wall, their_wall = (min(run.wall for run in runs) for runs in pairs)
        rows.append(Comparison(f"{beginning}, threads: 2, wall", wall, "s", their_wall))
    return rows


if __name__ == "__main__":
    main(compare)
