"""From readings to maps: elevation ahead of a robot."""
