"""Every documented stream, by connector."""

from __future__ import annotations

from tests.golden.documented import db2, informix, mongodb, mysql, oracle, spanner, sqlserver, vitess

STREAMS = {
    module.STREAM.connector: module.STREAM
    for module in (mysql, sqlserver, oracle, db2, informix, mongodb, vitess, spanner)
}
