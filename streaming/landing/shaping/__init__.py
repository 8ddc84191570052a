"""What the settings make of a row on its way into a file: casts, disguises, computed columns, last states.

Pure functions of rows and settings: no clock, no random number, no look beyond the row, so that a batch that runs again
gives the same bytes, however it was cut.
"""
