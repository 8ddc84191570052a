"""Hostile input for everything that reads bytes from outside: records, schemas, and files of the zone and the state.

``make fuzz SECONDS=3600`` looks for an hour; ``make test`` looks at a fixed handful of the same cases.
"""
