"""Lineage events: windows, names, what is sent and what is lost."""
