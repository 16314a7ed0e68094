"""The command ``sandlot``: it parses its arguments, calls the rooms below, and prints what they return."""

from sandlot.cli.app import main

__all__ = ["main"]
