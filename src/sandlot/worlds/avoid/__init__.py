"""The avoid world."""
