"""What parks a table: the events that its policies, its pinned schema or its files do not take.

Pure functions over events in apply order, one module for each kind of reason; the lander asks them for each slice of
rows. What the settings make of a row's values has its own in :mod:`streaming.landing.shaping.refusals`.
"""
