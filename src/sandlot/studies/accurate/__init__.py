"""Accurate robot simulation: a sensor model from a robot's own log (Nehmzow, Kerr and Billings 2009)."""
