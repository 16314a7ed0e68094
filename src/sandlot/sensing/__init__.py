"""Sensing: what a robot perceives, simulated or from a device."""
