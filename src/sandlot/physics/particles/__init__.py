"""Ground made of particles, under any MuJoCo model."""

from sandlot.physics.particles.particles import Particles

__all__ = ["Particles"]
