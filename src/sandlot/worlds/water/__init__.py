"""The water world."""
