"""The studies of ground under robots that others made."""

from sandlot.studies.ground import robots

__all__ = ["robots"]
