"""Errors of the Kafka side: broker, client options, registry, dead letters, jars. Each names its remedy."""

from __future__ import annotations

from connectors.errors import BridgeError, Terminal, Transient


class BrokerUnavailableError(Transient):
    """No broker, or host that gives tokens for it, answered in time, or the answer was that it cannot now."""


class KafkaAccessError(Terminal):
    """The broker refuses these credentials, or they may not do this."""


class KafkaRequestError(Terminal):
    """The broker refuses a request for a reason that repeating it does not change."""


class TopicNotFoundError(Terminal):
    """A topic that the settings name does not exist."""


class SignalRefusedError(Terminal):
    """Kafka does not take a signal for Debezium."""


class RecordsGoneError(Terminal):
    """Kafka no longer holds, or never held, records that were asked for by offset."""


class UnreadableBatchError(Terminal):
    """A batch of records in Kafka is damaged, or holds more than the client takes: nothing behind it can be read."""


class ClientOptionsError(Terminal):
    """The Kafka settings do not fit together, or one of the two clients cannot take them."""


class JarsError(Terminal):
    """The jars of Spark's Kafka source or of the embedded broker cannot be had."""


class JarDigestError(JarsError):
    """A jar's bytes are not those that this release was tested with."""


class BrokerStartError(Terminal):
    """The embedded broker did not start."""


class RegistryUnavailableError(Transient):
    """The schema registry did not answer, or answered that it cannot now."""


class RegistryAccessError(Terminal):
    """The schema registry refuses these credentials or this address."""


class DeadLetterError(BridgeError):
    """At least one dead letter is not in its topic, so nothing after it may be committed."""


class DeadLetterUnsentError(DeadLetterError, Transient):
    """The dead letters could not be delivered now."""


class DeadLetterRefusedError(DeadLetterError, Terminal):
    """The broker refuses a dead letter for good: its size, its topic, or these credentials."""
