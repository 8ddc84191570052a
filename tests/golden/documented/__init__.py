"""Events in the form that each connector's documentation gives, for connectors whose server does not run here.

Facts come from the page of each connector in Debezium's documentation ("Data change events", "Data type mappings") and
from its ``SourceInfo``. A module a connector, each with ``STREAM``: what one table went through.
"""
