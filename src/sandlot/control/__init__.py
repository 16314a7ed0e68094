"""Engineered controllers: observation in, action out."""
