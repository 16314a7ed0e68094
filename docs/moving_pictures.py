"""Makes the moving pictures of ``docs/images`` that the README and the docs lead with.

``python docs/moving_pictures.py [NAME ...]`` makes all, or some. Each is an animated WebP of one drive, with the same
seed every time.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from sandlot.control.leveling import LevelingController
from sandlot.control.navigation.driving import Mobility
from sandlot.control.navigation.navigator import Navigator
from sandlot.control.navigation.pilot import Pilot
from sandlot.geometry.planar import compose
from sandlot.mapping.grids.geometry import OBSTACLE, UNKNOWN, Grid
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.leveling.world import Leveling
from sandlot.worlds.obstacles.world import Obstacles
from sandlot.worlds.picture import picture
from sandlot.worlds.rollout import rollout
from sandlot.worlds.scene import (
    DONE,
    FRONT,
    GRID_LINE,
    LASER,
    ROBOT,
    TYRE,
    WALL,
    Area,
    HeightField,
    Lines,
    Scene,
    Shape,
    upright,
)
from sandlot.worlds.terrain.world import Terrain
from sandlot.worlds.water.scene import open_water
from sandlot.worlds.water.world import Water

IMAGES = Path(__file__).parent / "images"
SIZE = (400, 268)
RATE = 12.5
"""Pictures a second."""
QUALITY = 62
HOLD = 1.2
"""How long the last picture stays [s]."""


def leveling() -> Iterator[Scene]:
    """A swarm of 40 agents levels a terrain of 40 x 40 cells."""
    world = Leveling(shape=(40, 40), agents=40, relief=16, hill_size=7.0)
    rule = world.controllers()["probabilistic"]
    assert isinstance(rule, LevelingController)

    def begin() -> None:
        world.reset(seed=4)
        rule.reset([np.random.SeedSequence(4)])

    begin()
    cycles = world.run(rule, 4_000_000)
    begin()
    yield world.scene()
    for share in np.linspace(0.0, 1.0, 80)[1:] ** 2.0:
        world.run(rule, int(share * cycles) - world.cycles)
        yield world.scene()


def water() -> Iterator[Scene]:
    """A snake brings a ball home, ten times as fast as in reality."""
    world = Water(fidelity="reference", target=(26.0, 10.0))
    scenes = [
        world.scene()
        for step in rollout(world, world.controller("fetch", 6000), 1, 6000)
        if step.number % 40 == 0 or step.ended[0]
    ]
    # All have the same frame, around everything that ever moves.
    places = np.array([item.position[:2] for each in scenes for item in each.items if isinstance(item, Shape)])
    low, high = fitted(places.min(axis=0) - 4.0, places.max(axis=0) + 4.0)
    for scene in scenes:
        yield open_water([item for item in scene.items if item.name != "grid"], low, high)


def terrain() -> Iterator[Scene]:
    """A rover drives curves on soft soil, in real time."""
    world = Terrain(soil="soft", terrain="A", shape=(400, 400))
    world.reset(seed=1)
    for number in range(900):
        if number % 8 == 0:
            yield world.scene()
        turn = 1.5 * np.sin(2.0 * np.pi * number / 450.0)
        world.step(np.array([[0.25, turn]]))


def indoor() -> Iterator[Scene]:
    """A rover explores a flat by the map that it makes, about ten times as fast as in reality."""
    settings = IndoorSettings(robot="tracked", plan="apartment", start=(3.0, 1.6, 0.0))
    driver, truth = simulate(settings, seed=1)
    low, high = truth.plan.bounds[:2] - truth.start[:2] - 0.6, truth.plan.bounds[2:] - truth.start[:2] + 0.6
    cells = OccupancyGrid(Grid.around([low, high], 0.05))
    mobility = Mobility(
        radius=driver.chassis.radius, top_speed=driver.chassis.top_speed, interval=settings.lidar.period
    )
    pilot = Pilot(driver, Navigator(cells, mobility, "autonomous"))
    colours = np.zeros((OBSTACLE + 2, 3), np.uint8)
    colours[:] = DONE
    colours[UNKNOWN], colours[OBSTACLE:] = GRID_LINE, WALL
    path: list[np.ndarray] = []
    taken = pilot.take

    def take(scan):  # keeps the scan for the picture
        pilot.last = scan
        return taken(scan)

    pilot.take = take
    for number, step in enumerate(pilot.run(400.0)):
        pose = np.array(step.pose)
        path.append(pose[:2])
        if number % 10:
            continue
        ranges, bearings = np.asarray(pilot.last.ranges, float), np.asarray(pilot.last.bearings, float)
        seen = np.isfinite(ranges)
        ends = compose(
            pose, np.column_stack([ranges * np.cos(bearings), ranges * np.sin(bearings), 0.0 * ranges])[seen]
        )
        fan = np.column_stack([np.concatenate([pose[None, :2], ends[:, :2]]), np.zeros(seen.sum() + 1)])
        places = np.column_stack([np.array(path), np.zeros(len(path))])
        radius = driver.chassis.radius
        nose = compose(pose, radius * np.array([(1.4, 0.0, 0.0), (0.4, 0.7, 0.0), (0.4, -0.7, 0.0)]))
        corner = np.array(cells.grid.origin) + 0.5 * cells.grid.resolution
        ground = HeightField(
            "map", np.zeros(cells.kinds.shape), cells.grid.resolution, corner, colours[cells.kinds], cells=True
        )
        yield Scene(
            (
                ground,
                Area("scan", fan, LASER),
                Lines("path", np.stack([places[:-1], places[1:]], 1), ROBOT, 1.5),
                Shape("tracks", "box", (radius, radius, 0.1), *upright(pose[0], pose[1], yaw=pose[2]), TYRE),
                Shape(
                    "rover", "box", (1.1 * radius, 0.7 * radius, 0.1), *upright(pose[0], pose[1], yaw=pose[2]), ROBOT
                ),
                Area("nose", np.column_stack([nose[:, :2], np.zeros(3)]), FRONT),
            ),
            low,
            high,
            SIZE[0],
            GRID_LINE,
        )


def stairs() -> Iterator[Scene]:
    """A climbing robot on stairs, in real time."""
    yield from climb({"kind": "stairs"})


def box() -> Iterator[Scene]:
    """The same robot climbs a box of 45 cm, at half the speed of reality."""
    yield from climb({"kind": "box", "height": 0.45}, first=35, every=1)


def climb(course: dict[str, object], first: int = 20, every: int = 2) -> Iterator[Scene]:
    """The trained controller on a course, from its step ``first`` on."""
    world = Obstacles(course=course)
    for step in rollout(world, world.controller("trained"), 1, 1200):
        if step.number >= first and step.number % every == 0:
            yield world.scene()


PICTURES = {each.__name__: each for each in (terrain, water, leveling, indoor, stairs, box)}


def fitted(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (2,) [m], wider or taller so that they have the shape of a picture."""
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    half = np.maximum(half, half[::-1] * (SIZE[0] / SIZE[1], SIZE[1] / SIZE[0]))
    return middle - half, middle + half


def draw(scene: Scene) -> Image.Image:
    """One picture of `SIZE`, without text."""
    camera = None if scene.camera is None else replace(scene.camera, size=SIZE, distance=0.9 * scene.camera.distance)
    if camera is None:  # widen or heighten it to the shape of the picture
        low, high = fitted(scene.low, scene.high)
        scene = replace(scene, low=low, high=high, pixels=SIZE[0])
    image = Image.fromarray(picture(replace(scene, camera=camera, caption="", legend=())))
    return image.resize(SIZE, Image.Resampling.LANCZOS)


def main() -> None:
    """Make the pictures that are named, or all."""
    for name in sys.argv[1:] or PICTURES:
        frames = [draw(scene) for scene in PICTURES[name]()]
        durations = [round(1000.0 / RATE)] * (len(frames) - 1) + [round(1000.0 * HOLD)]
        path = IMAGES / f"{name}.webp"
        frames[0].save(
            path, save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=QUALITY, method=5
        )
        print(f"{path.name}: {len(frames)} pictures, {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
