"""The indoor world."""
