"""The terrain world."""
