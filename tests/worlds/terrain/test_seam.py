"""The terrain world runs on any drive and ground that answer the questions of the seam, without MuJoCo."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from sandlot import recordings
from sandlot.geometry.rotations import rotation_matrix
from sandlot.recordings import check_frame
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_layout import find_layout
from sandlot.robots.rover_shapes import drawn_shapes
from sandlot.robots.rover_state import RoverState
from sandlot.worlds.record import record_world
from sandlot.worlds.terrain import fidelity
from sandlot.worlds.terrain.windows import rebuild
from sandlot.worlds.terrain.world import Terrain

SMALL = {"shape": (80, 90), "window": 40, "map_every": 20, "rovers": ("wheeled", "tracked"), "patch": 3}
SMALL |= {"poses": [(0.0, 0.2, 0.0), (0.0, -0.2, 1.0)]}


class KinematicDrive:
    """Rovers that move exactly as commanded, 5 cm above the ground at their centre."""

    def __init__(self, settings, ground):
        layouts = [find_layout(load_rover(name)) for name in settings.rovers]
        self.count, self._interval, self._ground = len(layouts), settings.interval, ground
        self._start = self.poses = np.array(settings.poses)
        self.wheel_radius = np.array([layout.radius for layout in layouts])
        self.top_speeds = np.tile([0.25, 2.0], (self.count, 1))
        self.shapes = [drawn_shapes(layout) for layout in layouts]
        self._poses, self._angles = self._start, np.zeros((self.count, 2))
        self._look(np.zeros((self.count, 2)))

    def restart(self):
        self._poses, self._angles = self._start, np.zeros((self.count, 2))
        self._look(np.zeros((self.count, 2)))

    def drive(self, commands):
        x, y, yaw = self._poses.T
        step = commands[:, 0] * self._interval
        self._poses = np.column_stack([x + step * np.cos(yaw), y + step * np.sin(yaw), yaw + commands[:, 1] * 0.01])
        self._look(commands)

    def _look(self, commands):
        speeds = np.tile(commands[:, :1] / self.wheel_radius[:, None], (1, 2))
        self._angles = self._angles + speeds * self._interval
        rotation = np.stack([rotation_matrix(0.0, 0.0, yaw) for yaw in self._poses[:, 2]])
        rates = np.column_stack([np.zeros((self.count, 2)), commands[:, 1]])
        force = np.tile([0.0, 0.0, 9.81], (self.count, 1))
        position = np.column_stack([self._poses[:, :2], np.full(self.count, 0.05)])
        nothing = np.zeros(self.count, bool)
        self.state = RoverState(position, rotation, rates, 0.0 * rates, force, self._angles, speeds, nothing)

    @property
    def footprint(self):
        return self._poses[:, :2]


class DentedGround:
    """Ground that sinks by a millimetre at the node under each rover in every frame."""

    def __init__(self, grid):
        self.grid, self.heights, self.grain = grid, np.zeros(grid.shape), 0.0

    def restart(self, heights):
        self.heights, self.initial = heights.copy(), heights.copy()

    def change(self, before, after):
        rows, columns = np.rint(self.grid.nodes(after.position)).astype(int).T % np.array(self.grid.shape)[:, None]
        self.heights[rows, columns] -= 1e-3


@pytest.fixture(autouse=True)
def learned(monkeypatch):
    def make_physics(settings, grid):
        ground = DentedGround(grid)
        return KinematicDrive(settings, ground), ground

    monkeypatch.setitem(fidelity.PHYSICS, "reference", make_physics)


@pytest.mark.filterwarnings("ignore:.*symmetric and normalized", "ignore:.*alternative render modes")
def test_passes_the_checker():
    check_env(Terrain(render_mode="rgb_array", **SMALL))


def test_drives_observes_and_draws():
    world = Terrain(**SMALL)
    world.reset(seed=0)
    for _ in range(50):
        observation, reward, terminated, truncated, _ = world.step(np.array([[0.2, 0.0], [-0.1, 0.0]]))
    assert reward == pytest.approx((0.2 - 0.1) * 0.01)
    assert not terminated
    assert not truncated
    assert observation[:, 2] == pytest.approx([0.0, 1.0])
    assert observation[:, 8] == pytest.approx(9.81)
    assert observation[:, 9:11] == pytest.approx(np.array([[0.2, 0.2], [-0.1, -0.1]]) / 0.03)
    outcomes = world.outcomes()
    assert outcomes["path_length"] == pytest.approx(0.075)
    assert outcomes["slip"] == pytest.approx(0.0, abs=1e-9)
    assert outcomes["rut_depth"] > 1e-3
    check_frame(world.frame(), world.quantities)
    picture = world.render().astype(int)
    assert ((picture[..., 2] > picture[..., 0] + 60).mean()) > 0.005, "the first rover is blue"


def test_its_recording_can_be_rebuilt(tmp_path):
    facts = record_world("terrain", tmp_path / "a", 70, settings=SMALL)
    assert facts["exploded"] == 0
    recording = recordings.open(tmp_path / "a")
    start, end = rebuild(recording, 0), rebuild(recording, 70)
    assert float((start - end).sum()) == pytest.approx(2 * 70 * 1e-3, abs=1e-6)
