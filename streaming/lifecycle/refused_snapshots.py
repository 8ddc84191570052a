"""Why Debezium cannot be asked for a table's snapshot, or did not make it, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.command_lines import command
from connectors.errors import Terminal
from connectors.landing_zone.ledger.state import TableState
from streaming.lifecycle.cut_short import WHERE_READ_ONLY
from streaming.lifecycle.debezium import Debezium
from streaming.lifecycle.generations import feeding_partitions, gone_meanwhile
from streaming.renamed import renamed_to


class SnapshotRefusedError(Terminal):
    """Debezium cannot be asked for a table's snapshot, or did not make it."""


def refusal(debezium: Debezium, name: str, table: TableState, *, keyless: bool) -> tuple[str, str] | None:
    """Why the table can't be filled by a snapshot, and what to do about it; None if it can.

    Raises:
        BridgeError: Kafka does not say which topics it has, or where they end.
    """
    again = f"then {command('resync CONFIG {}', name)}"
    if len(table.sources) > 1:
        return (
            f"{len(table.sources)} source tables land in it, and a snapshot fills it with one of them only",
            "load it into a zone of its own with a second bridge, from snapshots of all of its sources",
        )
    if debezium.send is None:
        return (
            "the settings do not say how Debezium takes signals, so no snapshot can be asked for",
            f"set source.signals.topic (the connector's signal.kafka.topic) or source.signals.table, restart, {again}",
        )
    if debezium.prefix_of(table) is None:
        return (
            "the connector's topic prefix, by which it knows its signals, cannot be told from the topics' names",
            f"set source.topic_prefix to the connector's topic.prefix, restart, {again}",
        )
    if debezium.notifications is None:
        return (
            "without notifications nobody can tell when its snapshot is complete, or that it never came",
            f"set source.notifications_topic (the connector's notification.sink.topic.name), restart, {again}",
        )
    missing = debezium.missing()
    if missing:
        named = ", ".join(f"{topic} ({key})" for key, topic in missing.items())
        return (
            f"Kafka has no topic {named}, so its snapshot could not be asked for, or nobody would hear of its end",
            f"create the topic, or correct {' and '.join(missing)} and restart; or let the bridge's user describe it; "
            f"{again}",
        )
    return keyless_refusal(debezium, name, table) if keyless else None


def keyless_refusal(debezium: Debezium, name: str, table: TableState) -> tuple[str, str] | None:
    """Why no snapshot can fill a table without key whose rows may lie in several partitions, and what to do.

    Raises:
        BridgeError: Kafka does not say which topics it has, or where they end.
    """
    if len(feeding_partitions(table) | _partitions(debezium.ends_of(table))) <= 1:
        return None
    return (
        "it has no key and several partitions feed it, or may, so the rows of a snapshot cannot be told from what "
        "came before it",
        f"declare key columns for the table in the settings, restart, then {command('resync CONFIG {}', name)}",
    )


def _partitions(ends: Mapping[str, Mapping[int, int]]) -> set[tuple[str, int]]:
    """Those that may get the snapshot's rows while others, of which nothing has landed, get what comes behind them."""
    return {(topic, partition) for topic, partitions in ends.items() for partition in partitions}


def failed_snapshot(failure: str, name: str, table: TableState) -> SnapshotRefusedError:
    """The error of a table whose snapshot was asked for and not made.

    Args:
        failure: :func:`streaming.lifecycle.debezium.snapshot_failure`.
    """
    message = f"the snapshot that was to fill the table failed: {failure}"
    resync = command("resync CONFIG {}", name)
    remedy = f"read Debezium's log, mend the cause, then {resync}"
    if failure.endswith(WHERE_READ_ONLY):
        remedy = f"give the connector a signal table instead of read.only, or wait until nobody writes; then {resync}"
    if renamed := renamed_to(table):
        message += f"; the source has renamed the table to {renamed} meanwhile"
        remedy = (
            "`cdc-bridge resync CONFIG NEW_TABLE` for the table of the new name, whose mirror has only what changed "
            f"since; once another one of the old name is made, {resync}"
        )
    elif gone_meanwhile(table):
        message += "; the source has dropped the table meanwhile"
        remedy = f"nothing, if the table is gone for good; once it is made again, {resync}"
    return SnapshotRefusedError(message, remedy=remedy)
