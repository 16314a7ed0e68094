"""Logs of real robots: readers of every format, and writers for other tools."""
