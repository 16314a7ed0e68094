"""The version of Sandlot."""

__version__ = "0.1.0"
