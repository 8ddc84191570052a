"""Reads bounded ranges of Kafka's partitions into columns.

Two ways, of which the records are the same: :mod:`native_reader` has ``messages.c`` copy librdkafka's messages, and
:mod:`message_reader`, for where that is not there, goes through an object for each record.
"""
