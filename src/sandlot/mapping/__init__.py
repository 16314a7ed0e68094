"""From readings to maps: elevation ahead of a robot, and grid maps of walls."""
