"""Calibrated soil: the parameters of our soil model that explain measurements, with their uncertainties."""
