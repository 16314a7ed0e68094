"""Chooses the physics of the terrain world."""

from collections.abc import Callable

from sandlot.worlds.terrain.fleet import MujocoFleet
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.ground import MujocoGround, ParticleGround, RigidGround, SoilGround
from sandlot.worlds.terrain.learned import LearnedFleet, LearnedGround
from sandlot.worlds.terrain.seam import Drive, Ground
from sandlot.worlds.terrain.settings import TerrainSettings

GROUNDS: dict[str, type[MujocoGround]] = {"soil": SoilGround, "rigid": RigidGround, "particles": ParticleGround}


def _in_mujoco(settings: TerrainSettings, grid: Grid) -> tuple[Drive, Ground]:
    ground = GROUNDS[settings.ground](settings, grid)
    return MujocoFleet(settings, ground), ground


def _learned(settings: TerrainSettings, grid: Grid) -> tuple[Drive, Ground]:
    ground = LearnedGround(grid)
    return LearnedFleet(settings, ground), ground


PHYSICS: dict[str, Callable[[TerrainSettings, Grid], tuple[Drive, Ground]]] = {
    "reference": _in_mujoco,
    "learned": _learned,
}
"""What makes the physics of each fidelity. To add a fidelity, add it here and to `TerrainSettings.fidelity`."""


def make_physics(settings: TerrainSettings, grid: Grid) -> tuple[Drive, Ground]:
    """Make the drive of the rovers, and the ground under them.

    Raises:
        SandlotError: If a rover cannot be read, does not fit onto the ground, or cannot touch it.
    """
    return PHYSICS[settings.fidelity](settings, grid)
