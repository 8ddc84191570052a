"""Reads strict JSON of a known layout into Arrow columns, in C.

``kernel.h`` says what the C does and what it leaves to others. It decides how fast a record is read and never what is
read: whatever it is not sure of, msgspec decodes (:mod:`connectors.debezium.json_layout`). Where the extension module
is not there, msgspec decodes everything.
"""
