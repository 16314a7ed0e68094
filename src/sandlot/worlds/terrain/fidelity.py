"""Chooses the physics of the terrain world."""

from sandlot.worlds.terrain.fleet import MujocoFleet
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.ground import MujocoGround, ParticleGround, SoilGround
from sandlot.worlds.terrain.seam import Drive, Ground
from sandlot.worlds.terrain.settings import TerrainSettings

GROUNDS: dict[str, type[MujocoGround]] = {"soil": SoilGround, "rigid": SoilGround, "particles": ParticleGround}


def make_physics(settings: TerrainSettings, grid: Grid) -> tuple[Drive, Ground]:
    """Make the drive of the rovers, and the ground under them.

    The only fidelity yet is ``reference``; ``settings.ground`` chooses the ground. To add a fidelity, add it to
    `TerrainSettings` and return its `Drive` and `Ground` here.

    Raises:
        SandlotError: If a rover cannot be read, does not fit onto the ground, or cannot touch it.
    """
    ground = GROUNDS[settings.ground](settings, grid)
    return MujocoFleet(settings, ground), ground
