"""The declarations of all metrics, each module's about one thing, its ``METRICS`` in the order of the documentation.

Labels come from closed or bounded sets: tables, topics, partitions, and short codes. A row's key is never a label.
"""
