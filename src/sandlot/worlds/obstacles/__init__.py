"""The obstacles world."""
