"""Walls and obstacles in a scan: lines by the Hough transform, and clusters of the points that are left."""
