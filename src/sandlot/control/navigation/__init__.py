"""Navigation over grid maps: paths, turns, driving among obstacles, exploring, and modes of autonomy."""
