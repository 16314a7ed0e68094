"""Scenes for other viewers: MCAP for Foxglove, and rerun."""
