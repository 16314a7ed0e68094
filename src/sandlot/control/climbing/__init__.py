"""Controllers of the climbing robot."""
