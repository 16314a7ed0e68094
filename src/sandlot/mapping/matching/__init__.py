"""Scan matching: where a scan fits best into a local map."""
