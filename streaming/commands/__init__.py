"""The commands of ``cdc-bridge``, one module per group.

A module imports nothing heavy at its top: ``cdc-bridge --help`` must answer at once, without Spark or Azure.
"""
