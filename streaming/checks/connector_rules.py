"""What a connector's configuration means for the mirror (Debezium documentation, "Connector properties").

Pure rules over names and values; properties that are absent have Debezium's defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from streaming.checks.check import Check, ok, problem, warning
from streaming.checks.connector_config import Config, Expectations, connector_of, is_debezium, is_set, listed
from streaming.settings.format import Connector

_BINLOG = frozenset({Connector.MYSQL, Connector.MARIADB})
_TRUNCATING = frozenset({Connector.POSTGRESQL, *_BINLOG, Connector.ORACLE})
"""Connectors that send truncates (docs/connectors.md); the others never do, whatever ``skipped.operations`` says."""

_NO_HEARTBEAT = {
    Connector.POSTGRESQL: "the replication slot keeps the log of everything that other tables and databases write",
    Connector.MYSQL: "the stored position grows old, and the binary log behind it may be removed",
    Connector.MARIADB: "the stored position grows old, and the binary log behind it may be removed",
    Connector.ORACLE: "the stored position grows old, and the archived redo log behind it may be removed",
    Connector.MONGODB: "the stored position grows old, and the oplog behind it may be overwritten",
}
"""What comes of a source at rest without heartbeats."""


def check_configuration(config: Config, expected: Expectations) -> Iterator[Check]:
    """Everything that is remarkable about the configuration, or one line that all is well."""
    if not is_debezium(config):
        yield warning(
            "connector connector.class",
            f"{config.get('connector.class', 'not set')} is no Debezium connector: its configuration is not looked at",
            "name the Debezium connector in source.connect.connector",
        )
        return
    found = [one for rule in _RULES for one in rule(config, expected)]
    yield from found
    if not found:
        yield ok("connector configuration", "is what the bridge needs")


def _subject(name: str) -> str:
    return f"connector {name}"


def _numbers(config: Config, _: Expectations) -> Iterator[Check]:
    if is_set(config, "decimal.handling.mode", "double", "precise"):
        yield warning(
            _subject("decimal.handling.mode"),
            "is double: decimals with more than 15 digits lose the rest before they reach Kafka",
            "set it to precise",
        )
    if is_set(config, "decimal.handling.mode", "string", "precise"):
        yield warning(
            _subject("decimal.handling.mode"),
            "is string: decimals land as text, which neither adds up nor sorts as numbers",
            "set it to precise, or cast the columns in the mirrored database",
        )


def _unsigned_numbers(config: Config, _: Expectations) -> Iterator[Check]:
    if connector_of(config) in _BINLOG and is_set(config, "bigint.unsigned.handling.mode", "long", "long"):
        yield warning(
            _subject("bigint.unsigned.handling.mode"),
            "is long: values of BIGINT UNSIGNED above 9223372036854775807 arrive as negative numbers",
            "set it to precise where such columns exist, or propagate their type with column.propagate.source.type",
        )


def _times(config: Config, _: Expectations) -> Iterator[Check]:
    if is_set(config, "time.precision.mode", "connect", "adaptive"):
        yield warning(
            _subject("time.precision.mode"),
            "is connect: times and timestamps are cut to milliseconds before they reach Kafka",
            "set it to adaptive (PostgreSQL) or adaptive_time_microseconds (MySQL, MariaDB)",
        )


def _bytes(config: Config, _: Expectations) -> Iterator[Check]:
    mode = config.get("binary.handling.mode", "bytes").strip().lower()
    if mode != "bytes":
        yield warning(
            _subject("binary.handling.mode"),
            f"is {mode}: bytes arrive as text that nothing marks as bytes, and land as that text",
            "set it to bytes, or declare such columns (tables.overrides[].declared)",
        )


def _heartbeat(config: Config, _: Expectations) -> Iterator[Check]:
    connector = connector_of(config)
    if connector is None or connector not in _NO_HEARTBEAT:
        return
    if config.get("heartbeat.interval.ms", "0").strip() in ("", "0"):
        yield warning(
            _subject("heartbeat.interval.ms"),
            "is 0: while the captured tables are idle the connector acknowledges nothing, so "
            f"{_NO_HEARTBEAT[connector]}",
            "set it, for example to 10000",
        )
    elif connector is Connector.POSTGRESQL and not config.get("heartbeat.action.query", "").strip():
        yield warning(
            _subject("heartbeat.action.query"),
            "is not set: while nothing writes to this database the connector acknowledges nothing, so the replication "
            "slot keeps what the server's other databases write, and `reconcile` can prove no difference",
            "set it to a statement that writes a row of a captured table, such as one kept for it that tables.exclude "
            "names",
        )


def _tombstones(config: Config, expected: Expectations) -> Iterator[Check]:
    if expected.tombstones_delete and is_set(config, "tombstones.on.delete", "false", "true"):
        yield problem(
            _subject("tombstones.on.delete"),
            "is false, but the settings take tombstones for the deletes: none would arrive",
            "set it to true, or format.tombstones to skip where the records are envelopes",
        )


def _operations(config: Config, expected: Expectations) -> Iterator[Check]:
    skipped = listed(config, "skipped.operations", "t") - {"none"}
    missing = [name for code, name in (("c", "inserts"), ("u", "updates"), ("d", "deletes")) if code in skipped]
    if missing:
        yield problem(
            _subject("skipped.operations"),
            f"leaves out {' and '.join(missing)}: the mirror can't become what the database is",
            "set it to none",
        )
    if "t" in skipped and expected.wants_truncates and connector_of(config) in _TRUNCATING:
        yield warning(
            _subject("skipped.operations"),
            "leaves out truncates, which is Debezium's default: a truncated table keeps its rows in the mirror, and "
            "policies.on_truncate has nothing to act on",
            "set it to none; or set policies.on_truncate to ignore, if tables are never truncated",
        )


def _snapshots(config: Config, expected: Expectations) -> Iterator[Check]:
    mode = config.get("snapshot.mode", "initial").strip().lower()
    subject = _subject("snapshot.mode")
    if mode in ("no_data", "never", "schema_only", "recovery", "schema_only_recovery") and expected.new:
        yield warning(
            subject,
            f"is {mode}: rows that are in the tables already will not be in the mirror",
            "set it to initial, or ask for an incremental snapshot",
        )
    if mode == "initial_only":
        yield warning(subject, "is initial_only: changes after the snapshot are never sent", "set it to initial")
    if mode == "always":
        yield warning(
            subject,
            "is always: each start of the connector makes a second snapshot of every table, on which "
            "policies.on_resnapshot acts",
            "set it to initial or when_needed",
        )


def _signals(config: Config, expected: Expectations) -> Iterator[Check]:
    channels = listed(config, "signal.enabled.channels", "source")
    if expected.signal_topic is not None:
        topic = config.get("signal.kafka.topic", "not set")
        if "kafka" not in channels or topic != expected.signal_topic:
            yield problem(
                _subject("signal.kafka.topic"),
                f"is {topic}, with the channels {', '.join(sorted(channels))}; source.signals.topic is "
                f"{expected.signal_topic}: signals would not be heard",
                "let signal.enabled.channels contain kafka, and let both name one topic",
            )
    if expected.signal_table is not None:
        table = config.get("signal.data.collection", "not set")
        if "source" not in channels or not _ends_with(table, expected.signal_table):
            yield problem(
                _subject("signal.data.collection"),
                f"is {table}, with the channels {', '.join(sorted(channels))}; source.signals.table is "
                f"{expected.signal_table}: signals would not be heard",
                "let signal.enabled.channels contain source, and let both name one table",
            )
    asked = expected.signal_topic is not None or expected.signal_table is not None
    if asked and expected.notifications_topic is None:
        yield warning(
            _subject("notification.sink.topic.name"),
            "source.notifications_topic is not set: nobody could see the end of a snapshot, so none fills a table",
            "set both to one topic, and let notification.enabled.channels contain sink",
        )
    if expected.notifications_topic is not None:
        topic = config.get("notification.sink.topic.name", "not set")
        if "sink" not in listed(config, "notification.enabled.channels", "") or topic != expected.notifications_topic:
            yield problem(
                _subject("notification.sink.topic.name"),
                f"is {topic}; source.notifications_topic is {expected.notifications_topic}: the end of a snapshot "
                "would not be noticed",
                "let notification.enabled.channels contain sink, and let both name one topic",
            )


def _ends_with(name: str, ending: str) -> bool:
    """Whether the last dotted parts of a name are these; before them, it may name the database."""
    return name == ending or name.endswith(f".{ending}")


def _prefix(config: Config, expected: Expectations) -> Iterator[Check]:
    prefix = config.get("topic.prefix", "")
    if expected.prefix is not None and prefix != expected.prefix:
        yield problem(
            _subject("topic.prefix"),
            f"is {prefix}, but source.topic_prefix is {expected.prefix}",
            "correct source.topic_prefix, or name the other connector in source.connect.connector",
        )
    routed = any(name.startswith("transforms.") and name.endswith(".type") for name in config)
    if expected.topics and not routed and not any(topic.startswith(f"{prefix}.") for topic in expected.topics):
        yield warning(
            _subject("topic.prefix"),
            f"is {prefix}, and no topic that the bridge reads begins so: this connector does not feed it",
            "name the connector that does in source.connect.connector, or correct the topics under kafka",
        )


def _placeholder(config: Config, expected: Expectations) -> Iterator[Check]:
    written = config.get("unavailable.value.placeholder", "__debezium_unavailable_value")
    if written != expected.placeholder:
        yield problem(
            _subject("unavailable.value.placeholder"),
            f"is {written}, but format.placeholder is {expected.placeholder}: the placeholder would land as a value",
            "let both be the same",
        )


def _converters(config: Config, expected: Expectations) -> Iterator[Check]:
    converter = config.get("value.converter")
    if converter is None:
        yield warning(
            _subject("value.converter"),
            "is the worker's, which Kafka Connect does not tell: whether NULL is replaced by a column's default "
            "(replace.null.with.default) can't be seen",
            "set value.converter and its options in the connector itself",
        )
        return
    if converter.endswith("JsonConverter"):
        if is_set(config, "value.converter.replace.null.with.default", "true", "true"):
            yield warning(
                _subject("value.converter.replace.null.with.default"),
                "is true: NULL in a column that has a default arrives, and lands, as that default",
                "set it to false",
            )
        if is_set(config, "value.converter.schemas.enable", "false", "true") and not expected.typed:
            yield warning(
                _subject("value.converter.schemas.enable"),
                "is false: records carry no types, and the settings declare no columns",
                "set it to true, use Avro, or declare the columns (tables.overrides[].declared)",
            )
    elif converter.startswith("io.confluent.") and is_set(
        config, "value.converter.ignore.default.for.nullables", "false", "false"
    ):
        yield warning(
            _subject("value.converter.ignore.default.for.nullables"),
            "is false: NULL in a column that has a default arrives, and lands, as that default",
            "set it to true",
        )


def _keys(config: Config, _: Expectations) -> Iterator[Check]:
    if config.get("message.key.columns"):
        yield warning(
            _subject("message.key.columns"),
            "gives tables other keys than their primary keys: a change of such a column is only seen as a change of "
            "key where the source sends the row before it",
            "set REPLICA IDENTITY FULL on these tables (PostgreSQL), and make sure that the keys are unique",
        )


def _failures(config: Config, _: Expectations) -> Iterator[Check]:
    mode = config.get("event.processing.failure.handling.mode", "fail").strip().lower()
    if mode != "fail":
        yield problem(
            _subject("event.processing.failure.handling.mode"),
            f"is {mode}: changes that the connector can't read are left out, and nobody downstream can know",
            "set it to fail",
        )


_RULES: tuple[Callable[[Config, Expectations], Iterator[Check]], ...] = (
    _numbers,
    _unsigned_numbers,
    _times,
    _bytes,
    _heartbeat,
    _tombstones,
    _operations,
    _snapshots,
    _signals,
    _prefix,
    _placeholder,
    _converters,
    _keys,
    _failures,
)
