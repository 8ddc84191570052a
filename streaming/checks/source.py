"""The source: its connector in Kafka Connect, and the database as far as replication goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from connectors.debezium.options import TombstonePolicy
from connectors.errors import BridgeError
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState
from connectors.source_database.altered_columns import altering_properties, text_columns
from connectors.source_database.captured import captured_tables
from connectors.source_database.database import SourceDatabase
from connectors.source_database.kafka_connect import ConnectApi
from connectors.source_database.location import DatabaseKind
from streaming.checks.altered_columns import check_altered_columns, check_altering_properties
from streaming.checks.captured import Captured, before_landing, of_ledger
from streaming.checks.check import Check, failed, ok, warning
from streaming.checks.connector import check_connector
from streaming.checks.connector_config import Expectations, is_debezium
from streaming.checks.patience import patiently
from streaming.checks.source_mysql import check_mysql
from streaming.checks.source_postgresql import check_postgresql
from streaming.plan import JobOptions
from streaming.policies import OnTruncate
from streaming.settings import BridgeSettings
from streaming.settings.format import Connector
from streaming.settings.tables import SchemaOrigin
from streaming.source_options import connect_location, database_location


def check_source(
    settings: BridgeSettings, job: JobOptions, present: Mapping[str, TopicDescription] | None, state: LedgerState
) -> Iterator[Check]:
    """What is known of the source: nothing where the settings do not say where it is.

    Args:
        present: the subscribed topics; None when they are not known.
        state: the ledger's; its tables are looked for in the database, and those besides that the connector captures.
    """
    config: Mapping[str, str] | None = None
    try:
        where = connect_location(settings)
        location = database_location(settings)
    except BridgeError as error:
        yield failed("source", error)
        return
    if where is None and location is None:
        yield ok("source", "not looked at: neither source.connect nor source.database is set")
        return
    if where is None:
        yield ok("connector", "not looked at: source.connect is not set")
    else:
        config = yield from check_connector(ConnectApi(where), expectations(settings, present, state))
    if location is None:
        if config is not None and is_debezium(config):
            yield from check_altering_properties(config)
        yield _without_database(settings, config)
        return
    database = SourceDatabase(location)
    try:
        patiently("source database", lambda: database.query("SELECT 1 AS one"))
        yield ok("source database", f"{location.shown} answers")
        tables = _tables(database, job, state, config)
        if database.kind is DatabaseKind.POSTGRESQL:
            yield from check_postgresql(database, tables, config)
        else:
            yield from check_mysql(database, tables, config)
        if config is not None and is_debezium(config) and altering_properties(config):
            names = [one.table for one in tables]
            columns = patiently("columns of text", lambda: text_columns(database, names))
            yield from check_altered_columns(config, tables, columns)
    except BridgeError as error:
        yield failed("source database", error)


def _tables(
    database: SourceDatabase, job: JobOptions, state: LedgerState, config: Mapping[str, str] | None
) -> tuple[Captured, ...]:
    """Those of the ledger, then those of which nothing has landed; these only where something tells of them."""
    # The configuration of another connector says nothing about tables.
    known = config if config is not None and is_debezium(config) else None
    found = patiently("captured tables", lambda: captured_tables(database, known)) or ()
    tables = (*of_ledger(job, state, database.kind), *before_landing(job, state, database.location, found))
    # Sources of several databases may have one name there: it is told once.
    return tuple(dict.fromkeys(tables))


def _without_database(settings: BridgeSettings, config: Mapping[str, str] | None) -> Check:
    """Nothing but the catalog tells of a table that is dropped and made again in PostgreSQL."""
    connector = "" if config is None else config.get("connector.class", "")
    if settings.connector is not Connector.POSTGRESQL and not connector.endswith(".PostgresConnector"):
        return ok("source database", "not looked at: source.database is not set")
    return warning(
        "source database",
        "not looked at: source.database is not set, so tables that are dropped, made again or renamed go unnoticed",
        "set source.database, with a user that may only read",
    )


def expectations(
    settings: BridgeSettings, present: Mapping[str, TopicDescription] | None, state: LedgerState
) -> Expectations:
    """What the settings take for granted of the connector."""
    source, tables = settings.source, [rule.settings for rule in settings.tables.resolved()]
    return Expectations(
        topics=tuple(present or ()),
        prefix=source.topic_prefix,
        placeholder=settings.format.placeholder,
        signal_topic=None if source.signals is None else source.signals.topic,
        signal_table=None if source.signals is None else source.signals.table,
        notifications_topic=source.notifications_topic,
        wants_truncates=any(table.policies.on_truncate is not OnTruncate.IGNORE for table in tables),
        tombstones_delete=settings.format.tombstones is TombstonePolicy.DELETE,
        typed=any(table.declared or table.schema_origin is SchemaOrigin.LEARN for table in tables),
        new=not state.tables,
    )
