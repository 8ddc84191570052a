"""Reads Avro datums of one writer schema into Arrow columns, in C.

``kernel.h`` says what the C does. It decides how fast a datum is read and never what is read: whatever it is not sure
of, fastavro reads (:mod:`connectors.debezium.avro_reader`), as it reads everything where the extension module is not
there.
"""
