"""The dead letters of a settings file's bridge, read beside it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.debezium.decoder import Decoder
from connectors.kafka.errors import TopicNotFoundError
from connectors.kafka.letters import DeadLetter
from connectors.kafka.registry import Registry
from streaming.dead_letters.coordinates import Coordinates
from streaming.dead_letters.listing import Choice, ListedLetter, list_letters
from streaming.dead_letters.showing import ShownLetter, show_letter
from streaming.job_options import job_options
from streaming.kafka_options import dead_letter_config, registry_config
from streaming.lifecycle.letter_topics import letters_of
from streaming.settings import BridgeSettings
from streaming.zones.reading import head_state, state_storage


def letters_of_bridge(settings: BridgeSettings) -> Iterator[DeadLetter]:
    """The letters that the bridge has sent; none where their topic does not exist.

    Raises:
        BrokerUnavailableError: no broker answered.
        KafkaAccessError: the broker refuses these credentials.
    """
    config = dead_letter_config(settings)
    try:
        yield from letters_of(config.kafka, config.topic, config.bridge)
    except TopicNotFoundError:
        return


def chosen_letters(settings: BridgeSettings, choice: Choice) -> list[ListedLetter]:
    """The chosen letters, oldest first; raises as :func:`letters_of_bridge`, and ``LedgerCorruptError``."""
    return list_letters(letters_of_bridge(settings), head_state(state_storage(settings)), choice)


def shown_letter(settings: BridgeSettings, at: Coordinates) -> ShownLetter:
    """One letter in full; raises as :func:`letters_of_bridge`, and ``NoSuchLetterError``."""
    registry = registry_config(settings)
    decoder = Decoder(job_options(settings).decode, None if registry is None else Registry(registry))
    return show_letter(at, letters_of_bridge(settings), head_state(state_storage(settings)), decoder)
