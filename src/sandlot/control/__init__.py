"""Engineered controllers and planners: observations in, actions out."""
