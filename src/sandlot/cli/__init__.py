"""The one command, ``sandlot``: it parses and calls, and decides nothing."""

from sandlot.cli.app import main

__all__ = ["main"]
