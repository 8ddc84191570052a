"""Reads Avro datums of one writer schema into Arrow columns, in C.

``kernel.h`` says what the C does. What it leaves is no datum, and :mod:`connectors.debezium.avro_check` says why. Where
the extension module is not there, that looks at each, and fastavro reads it (:mod:`connectors.debezium.avro_datum`).
"""
