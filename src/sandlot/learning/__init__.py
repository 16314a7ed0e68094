"""Loops that make controllers: evolution of gaits and of nets."""
