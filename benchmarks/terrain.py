"""Deformable ground: time of a step, compared with Project Chrono's soil contact model.

Chrono does not install from PyPI, so its times were measured before, on one thread of a similar machine; the minimum of
several is given. The time of the source's particles is from the source. All others are measured in this run, as
processor time unless it says wall.

The source's terrains are built at a twelfth of their size, as the terrain world does, so that the rovers fit. Stacks
of particles are shaken and settle, for a minute and a half, before a rover drives over them. A frame in which all
particles move is measured right after the shaking, on all threads and on one. The last lines are the parts of the time
of a recorded frame.
"""

import resource
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np
from numba import get_num_threads, set_num_threads

from _side_by_side import Comparison, main
from _terrain_parts import frame_parts
from sandlot.physics.particles import Particles
from sandlot.physics.soil import Soil
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive
from sandlot.worlds.record import LONG, record_world

CHRONO = {0.02: 0.38e-3, 0.01: 1.7e-3}
"""Minimum time of its soil step [s], for the wheel below, by spacing of the ground [m]."""
REPETITIONS = 7
WHEEL = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body>
      <joint type="slide" axis="1 0 0" armature="1e9"/>
      <joint type="slide" axis="0 0 1"/>
      <joint type="hinge" axis="0 1 0" armature="1e9"/>
      <geom type="cylinder" size="0.25 0.1" euler="90 0 0" mass="50.97"/>
    </body>
  </worldbody>
</mujoco>"""
SPEED, SLIP, RADIUS = 0.4, 0.3, 0.25
SIDES = (18.0, 36.0, 72.0)
"""Of the source's three terrains, in units of its rover: these are scaled to ours, 600 nodes for the smallest."""
COUNTS = dict(zip(SIDES, (30_642, 112_570, 490_379), strict=True))
"""Particles in each of them: its table 5.2."""
MIDDLE = 36.0
SOURCE = 8.98
"""What a frame of that terrain took there [s]."""
GRAIN, DIAMETER = 0.15 / 12.0, 0.3 / 12.0
"""Of a particle, at a twelfth of its size [m]."""
FRAME = 0.01
"""[s]"""
FRAMES = 100
"""Frames in which a rover drives over particles."""
RECORDED = 64_000
"""Frames of a recording, as many as the source's."""
WINDOWED = 2_000
"""Recorded frames whose time is measured by part."""


def least(work: Callable[[], object]) -> float:
    """Minimum processor time of several runs [s]."""
    times = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def both(work: Callable[[], object]) -> tuple[float, float]:
    """Processor and wall time of one run [s]."""
    start, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - start, time.perf_counter() - wall


def wheel(spacing: float, steps: int = 1000) -> float:
    """Time of a step of the soil under a wheel of 500 N that slips by 30% [s], without MuJoCo's own."""
    model = mujoco.MjModel.from_xml_string(WHEEL)
    data = mujoco.MjData(model)
    soil = Soil(np.zeros((round(0.8 / spacing), round(6.0 / spacing))), spacing, "soft").attach(model)
    data.qpos[:2], data.qvel[:] = (-2.5, RADIUS), (SPEED, 0.0, SPEED / (1.0 - SLIP) / RADIUS)
    soil.step(data, 1000)
    with_soil = least(lambda: soil.step(data, steps))
    alone = least(lambda: mujoco.mj_step(model, data, steps))
    return (with_soil - alone) / steps


def rover(name: str, side: int = 300, seconds: float = 2.0) -> float:
    """How many times faster than real time a rover drives over soil, in steps of 1 ms."""
    made = build_model([load_rover(name)], [[0.0, 0.0, 0.06, 0.0, 0.0, 0.0]])
    parts, data = made.rovers[0], mujoco.MjData(made.model)
    soil = Soil(np.zeros((side, side)), 0.01, "mid", wrap=True).attach(made.model, parts.ground, parts.tracks)
    soil.step(data, 500)
    drive(made, data, [[0.2, 0.3]])
    return seconds / least(lambda: soil.step(data, round(seconds * 1000)))


def stacks(side: float) -> Particles:
    """As many particles as the source has on a terrain of this side, in hills that are not too steep."""
    columns, count = round(side / 0.3), COUNTS[side]
    wave = np.cos(np.linspace(0.0, 2.0 * np.pi, columns, endpoint=False))
    layers = np.rint(count / columns**2 * (1.0 + np.outer(wave, wave)))
    over = round(layers.sum()) - count
    layers.flat[np.argsort(layers, axis=None)[-abs(over) :]] -= np.sign(over)
    return Particles(layers * DIAMETER, DIAMETER, radius=GRAIN)


def commotion(side: float, threads: int) -> Comparison:
    """Time a frame in which every particle moves, on so many threads."""
    all_threads = get_num_threads()
    set_num_threads(threads)
    particles = stacks(side)
    assert len(particles.position) == COUNTS[side]
    rng = np.random.default_rng(0)
    particles.fall(0.1 * FRAME)  # finds neighbours, and compiles
    particles.velocity[:] += rng.normal(0.0, 0.2, particles.velocity.shape)
    _, wall = both(lambda: particles.fall(FRAME))
    assert particles.awake == COUNTS[side]
    set_num_threads(all_threads)
    return Comparison(f"a frame of {COUNTS[side]:,} particles that all move, threads: {threads}, wall", wall, "s")


def disturbance() -> list[Comparison]:
    """Drive a rover over settled particles, from the top of a hill."""
    particles = stacks(MIDDLE)
    particles.fall(0.1 * FRAME)
    settling, waiting = both(lambda: particles.settle(np.random.default_rng(0)))
    top = particles.surface((120, 120))[55:65, 55:65].max()
    made = build_model([load_rover("tracked")], [[0.0, 0.0, top + 0.06, 0.0, 0.0, 0.0]])
    parts, data = made.rovers[0], mujoco.MjData(made.model)
    particles.attach(made.model, parts.ground, parts.tracks)
    particles.step(data, 500)
    drive(made, data, [[0.2, 0.3]])
    start, spent, awake = data.qpos[:2].copy(), [], []
    for _ in range(FRAMES):
        spent.append(both(lambda: particles.step(data, round(FRAME / made.model.opt.timestep))))
        awake.append(particles.awake)
    mean, wall = np.mean(spent, axis=0)
    driven, settled = "a frame of 112,570 particles under a rover", "settling of 112,570 particles"
    return [
        Comparison(driven, float(mean), "s", at_most=0.1),
        Comparison(f"{driven}, wall", float(wall), "s"),
        Comparison(f"{driven}, the slowest", float(np.max(spent, axis=0)[0]), "s"),
        Comparison(f"{driven}, against the source", float(mean), "s", SOURCE),
        Comparison("particles that are awake there, on average", float(np.mean(awake)), "1"),
        Comparison(
            "distance of the rover there, in a second", float(np.hypot(*(data.qpos[:2] - start))), "m", at_least=0.1
        ),
        Comparison(settled, settling, "s"),
        Comparison(f"{settled}, wall", waiting, "s"),
    ]


def recording() -> list[Comparison]:
    """Record a long drive, with windows of 128 x 128 nodes."""
    with TemporaryDirectory() as folder:
        record_world("terrain", Path(folder) / "compile", LONG, observations=False)
        path = Path(folder) / "measure"
        seconds, wall = both(lambda: record_world("terrain", path, RECORDED, observations=False))
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    name = f"recording of {RECORDED:,} frames"
    return [
        Comparison(f"{name}, wall", wall, "s", at_most=25.0),
        Comparison(name, seconds, "s"),
        Comparison(f"{name}, on disk", 1e-6 * size, "MB", at_most=500.0),
    ]


def compare() -> list[Comparison]:
    """Time soil under a wheel, rovers on soil and on particles, and a recording; and measure the parts of its time."""
    soils = [
        Comparison(f"soil step under a wheel, {1000 * spacing:g} mm", wheel(spacing), "s", chrono, at_most=0.05)
        for spacing, chrono in CHRONO.items()
    ]
    rovers = [
        Comparison(f"{name} rover on soil, 1 ms steps", rover(name), "x real time", at_least=20.0)
        for name in ("wheeled", "tracked")
    ]
    # The best of three rounds over all sizes, so that another program on this machine slows no size alone.
    rounds = [[rover("wheeled", round(600 * side / SIDES[0])) for side in SIDES] for _ in range(3)]
    small, *others = (max(speeds) for speeds in zip(*rounds, strict=True))
    flat = Comparison("frame time, largest terrain against smallest", small / min(others), "times", at_most=1.3)
    under = disturbance()
    moving = [commotion(side, threads) for side in SIDES for threads in sorted({1, get_num_threads()}, reverse=True)]
    most = 1e-6 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = Comparison("maximum memory of all of this", most, "GB", at_most=8.0)
    parts = [Comparison(f"a recorded frame: {name}", seconds, "s") for name, seconds in frame_parts(WINDOWED).items()]
    return [*soils, *rovers, flat, *under, *moving, memory, *recording(), *parts]


if __name__ == "__main__":
    main(compare)
