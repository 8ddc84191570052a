"""Bringing a committed file to its number that a start could not: ``cdc-bridge resolve``."""
