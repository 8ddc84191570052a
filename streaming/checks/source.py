"""The source: its connector in Kafka Connect, and the database as far as replication goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from connectors.debezium.options import TombstonePolicy
from connectors.debezium.schema import SourceTable
from connectors.errors import BridgeError
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.kafka_connect import ConnectApi
from connectors.source_database.location import DatabaseKind
from streaming.checks.check import Check, failed, ok, warning
from streaming.checks.connector import check_connector
from streaming.checks.connector_config import Expectations
from streaming.checks.patience import patiently
from streaming.checks.source_mysql import check_mysql
from streaming.checks.source_postgresql import Captured, check_postgresql
from streaming.plan import JobOptions
from streaming.policies import OnTruncate, OnUnavailable
from streaming.settings import BridgeSettings
from streaming.settings.format import Connector
from streaming.settings.tables import SchemaOrigin
from streaming.source_options import connect_location, database_location
from streaming.sources import sources_of


def check_source(
    settings: BridgeSettings, job: JobOptions, present: Mapping[str, TopicDescription] | None, state: LedgerState
) -> Iterator[Check]:
    """What is known of the source: nothing where the settings do not say where it is.

    Args:
        present: the subscribed topics; None when they are not known.
        state: the ledger's; its tables are those that are looked for in the database.
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
        yield _without_database(settings, config)
        return
    database = SourceDatabase(location)
    try:
        patiently("source database", lambda: database.query("SELECT 1 AS one"))
        yield ok("source database", f"{location.shown} answers")
        if database.kind is DatabaseKind.POSTGRESQL:
            # Sources of several databases may have one name there: it is told once.
            yield from check_postgresql(database, tuple(dict.fromkeys(captured(job, state))), config)
        else:
            yield from check_mysql(database)
    except BridgeError as error:
        yield failed("source database", error)


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


def captured(job: JobOptions, state: LedgerState) -> tuple[Captured, ...]:
    """All sources of the ledger's tables as PostgreSQL names them, with what the settings want of them."""
    found: list[Captured] = []
    for name, table in sorted(state.tables.items()):
        for source in sources_of(table):
            options = job.options_for(SourceTable(*source))
            decoding = job.decode.rules.decoding_for(SourceTable(*source))
            told = not table.history and (decoding is None or not decoding.keys)
            found.append(
                Captured(
                    name,
                    DatabaseTable.of_events(DatabaseKind.POSTGRESQL, *source),
                    parks_unavailable=options.on_unavailable is OnUnavailable.PARK,
                    wants_truncates=options.on_truncate is not OnTruncate.IGNORE,
                    keys=table.keys if told else (),
                )
            )
    return tuple(found)
