"""A learned stand-in for the physics of the terrain world: how a rover moves, and how it changes the ground."""
