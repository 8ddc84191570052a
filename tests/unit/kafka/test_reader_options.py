"""What a reader of records tells librdkafka: the settings' word and its own, which of them is the last."""

from __future__ import annotations

import pytest

from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.reading.native_reader import client_options


def told(name: str, value: str) -> dict[str, str]:
    """All options where the settings give this one."""
    connection = Connection(KafkaConfig("127.0.0.1:1", client=((name, value),)))
    return client_options(connection.options, "read_committed")


@pytest.mark.parametrize("name", ["fetch.message.max.bytes", "queued.min.messages", "queued.max.messages.kbytes"])
def test_what_the_settings_say_of_fetching_wins(name: str) -> None:
    assert told(name, "4242")[name] == "4242"


def test_another_name_of_an_option_is_set_after_the_readers_own() -> None:
    names = list(told("max.partition.fetch.bytes", "4194304"))
    assert names.index("max.partition.fetch.bytes") > names.index("fetch.message.max.bytes")


@pytest.mark.parametrize(
    ("name", "value"), [("enable.auto.commit", "false"), ("check.crcs", "true"), ("isolation.level", "read_committed")]
)
def test_what_the_guarantees_rest_on_is_the_readers(name: str, value: str) -> None:
    assert told(name, "other")[name] == value
