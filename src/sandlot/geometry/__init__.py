"""Geometry that every room shares: poses in the plane, rotations in space, distances to walls."""
