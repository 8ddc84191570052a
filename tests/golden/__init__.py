"""Golden traffic: what Debezium writes, kept as files and as Python, with the rows that must come of it.

Two kinds, told apart in everything that is said about a connector (``docs/connectors.md``):

- ``captures/*.jsonl.gz``: topics as a real connector wrote them for a real server, with the server's final rows beside
  them; made by ``make golden`` (:mod:`tests.golden.capture`), read by :mod:`tests.golden.capture_file`, which also
  describes the format.
- ``documented/*.py``: events in the form that a connector's documentation gives, for connectors whose server does not
  run here; encoded by :mod:`tests.golden.documented.encoding`.

:mod:`tests.golden.evidence` says what a traffic shows, :mod:`tests.golden.claims` what connectors do not support, and
:mod:`tests.golden.matrix` writes both down.
"""
