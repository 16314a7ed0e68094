"""Controllers of the swimming snake: gaits, steering, grasping, nets."""
