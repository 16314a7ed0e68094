"""The leveling world."""
