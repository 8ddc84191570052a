"""MySQL and MariaDB as a source: whether the binary log holds whole rows, and for how long; the tables' keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from connectors.source_database.database import SourceDatabase
from connectors.source_database.location import DatabaseKind
from connectors.source_database.mysql import BinaryLog, UnreadableColumns, binary_log, table_keys, unreadable_columns
from streaming.checks.captured import Captured
from streaming.checks.check import Check, ok, problem, warning
from streaming.checks.keys import check_keys, check_lost_keys, check_unkeyed
from streaming.checks.patience import patiently
from streaming.wording import seconds_text

SHORT_BINLOG_SECONDS = 3 * 24 * 3600
"""A binary log that is kept for less does not outlast a weekend; 3 days."""


def check_mysql(
    database: SourceDatabase, tables: Sequence[Captured], config: Mapping[str, str] | None
) -> Iterator[Check]:
    """Everything about the database.

    Args:
        tables: that the bridge mirrors, or is to mirror.
        config: the connector's configuration; None when it is not known.

    Raises:
        BridgeError: the database cannot be asked.
    """
    yield from check_binary_log(patiently("binary log", lambda: binary_log(database)))
    yield from check_columns(patiently("columns", lambda: unreadable_columns(database)))
    known = patiently("keys", lambda: table_keys(database, [one.table for one in tables]))
    unkeyed = {one.table for one in known if not one.unique}
    yield from check_unkeyed(unkeyed, tables, config)
    yield from check_lost_keys(unkeyed, tables, config)
    yield from check_keys(DatabaseKind.MYSQL, {one.table: one.primary_key for one in known}, tables)


def check_binary_log(log: BinaryLog) -> Iterator[Check]:
    """Whether each change is logged as whole rows, and the log is kept long enough."""
    if not log.on:
        yield problem("binary log", "is off: no change can be read", "start the server with log_bin and a server_id")
        return
    faults = list(_faults(log))
    yield from faults
    if not faults:
        kept = "its files are kept for ever"
        if log.expires_seconds is None:
            kept = "how long its files are kept is not told"
        elif log.expires_seconds:
            kept = f"its files are kept for {seconds_text(log.expires_seconds)}"
        yield ok("binary log", f"holds whole rows; {kept}")


def _faults(log: BinaryLog) -> Iterator[Check]:
    if log.format != "ROW":
        yield problem(
            "binary log",
            f"binlog_format is {log.format}: statements are logged, not rows",
            "SET GLOBAL binlog_format = 'ROW', and in the server's configuration; it counts for new sessions",
        )
    if log.row_image != "FULL":
        yield problem(
            "binary log",
            f"binlog_row_image is {log.row_image}: unchanged columns are missing in the events, and land as NULL",
            "SET GLOBAL binlog_row_image = 'FULL', and in the server's configuration",
        )
    if "PARTIAL_JSON" in log.value_options.upper():
        yield problem(
            "binary log",
            "binlog_row_value_options has PARTIAL_JSON: changes of JSON are logged in part, which the connector "
            "can't read",
            "SET GLOBAL binlog_row_value_options = ''",
        )
    if log.compressed:
        yield problem(
            "binary log",
            "log_bin_compress is ON: the connector passes over compressed changes without a word, so they are missing "
            "in the mirror",
            "SET GLOBAL log_bin_compress = OFF, and in the server's configuration; it counts for new sessions. Then "
            "`cdc-bridge reconcile CONFIG` tells which tables need a `cdc-bridge resync CONFIG TABLE`",
        )
    if log.server_id == 0:
        yield problem("binary log", "server_id is 0: nobody may read the log", "set server_id and restart the server")
    if log.expires_seconds is not None and 0 < log.expires_seconds < SHORT_BINLOG_SECONDS:
        yield warning(
            "binary log",
            f"its files are kept for {seconds_text(log.expires_seconds)} only: a connector that stands still for "
            "longer has to make a new snapshot",
            "raise binlog_expire_logs_seconds (expire_logs_days)",
        )


def check_columns(unreadable: UnreadableColumns) -> Iterator[Check]:
    """Whether the server has columns at which the connector fails."""
    if unreadable.addresses:
        yield problem(
            "source columns",
            f"{', '.join(unreadable.addresses)}: a column of type inet4 or inet6 anywhere on the server ends the "
            "connector, even in a database that it does not capture",
            "change these columns to varchar(39), or to binary(4) or binary(16)",
        )
    if unreadable.compressed:
        yield problem(
            "source columns",
            f"{', '.join(unreadable.compressed)}: the first change of a table with a COMPRESSED column ends the "
            "connector, even in a database that it does not capture",
            "ALTER TABLE ... MODIFY these columns without COMPRESSED; a table can be compressed as a whole "
            "(PAGE_COMPRESSED)",
        )
