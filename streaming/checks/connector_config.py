"""A connector's configuration as the rules about it read it, and what they hold it against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streaming.settings.format import Connector

Config = Mapping[str, str]

_PACKAGE = "io.debezium.connector."


@dataclass(frozen=True)
class Expectations:
    """What the bridge's settings take for granted of the connector.

    Attributes:
        prefix: ``source.topic_prefix``; None where it is not set.
        topics: that the bridge reads.
        placeholder: ``format.placeholder``.
        signal_topic, signal_table, notifications_topic: of ``source``; None where they are not set.
        wants_truncates: some table does something on a truncate.
        tombstones_delete: records without a value are deletes.
        typed: the columns of JSON without schema are declared, or learned.
        new: nothing has landed yet.
    """

    topics: Sequence[str] = ()
    prefix: str | None = None
    placeholder: str = "__debezium_unavailable_value"
    signal_topic: str | None = None
    signal_table: str | None = None
    notifications_topic: str | None = None
    wants_truncates: bool = True
    tombstones_delete: bool = False
    typed: bool = False
    new: bool = False


def is_debezium(config: Config) -> bool:
    """Whether Debezium's documentation says what the properties mean."""
    return config.get("connector.class", "").startswith("io.debezium.")


def connector_of(config: Config) -> Connector | None:
    """Which of Debezium's connectors it is, by the package of its class; None for one that is not known."""
    name = config.get("connector.class", "")
    package = name.removeprefix(_PACKAGE).partition(".")[0] if name.startswith(_PACKAGE) else ""
    return next((one for one in Connector if one is not Connector.AUTO and one.value == package), None)


def is_set(config: Config, name: str, value: str, default: str) -> bool:
    """Whether a property has this value, or has it by default."""
    return config.get(name, default).strip().lower() == value


def listed(config: Config, name: str, default: str) -> set[str]:
    """The names in a property that is a list."""
    return {part.strip() for part in config.get(name, default).split(",") if part.strip()}
