"""Accurate robot simulation: a sensor model from a robot's own log (Nehmzow, Kerr and Billings 2009)."""

from sandlot.studies.accurate.arena import Arena

__all__ = ["Arena"]
