"""From the settings to the configurations of Kafka's clients, the registry and Spark's Kafka source."""

from __future__ import annotations

import re
from collections.abc import Callable

from connectors.kafka.client_options import SPARK_PREFIX, spark_options
from connectors.kafka.config import KafkaConfig, OAuth, SaslMechanism, Security, SecurityProtocol, options
from connectors.kafka.dead_letters import DeadLetterConfig
from connectors.kafka.registry_config import RegistryConfig, RegistryKind
from streaming.settings import BridgeSettings


def kafka_config(settings: BridgeSettings) -> KafkaConfig:
    """How both clients reach the cluster.

    Raises:
        SettingsError: a secret's file cannot be read.
    """
    kafka = settings.kafka
    security = kafka.security
    oauth = None
    if security.oauth is not None:
        oauth = OAuth(
            token_url=security.oauth.token_url,
            client_id=security.oauth.client_id,
            client_secret=security.oauth.client_secret_text() or "",
            scope=security.oauth.scope,
            extensions=options(security.oauth.extensions),
            ca_file=_text(security.oauth.ca_file),
        )
    return KafkaConfig(
        bootstrap_servers=kafka.bootstrap_servers,
        security=Security(
            protocol=SecurityProtocol(security.protocol.value),
            mechanism=None if security.mechanism is None else SaslMechanism(security.mechanism.value),
            username=security.username,
            password=security.password_text(),
            ca_file=_text(security.ca_file),
            certificate_file=_text(security.certificate_file),
            key_file=_text(security.key_file),
            key_password=security.key_password_text(),
            oauth=oauth,
        ),
        client=options(kafka.client),
        spark=options(kafka.spark),
    )


def registry_config(settings: BridgeSettings) -> RegistryConfig | None:
    """How the schema registry is reached; None where the settings name none."""
    registry = settings.registry
    if registry is None:
        return None
    return RegistryConfig(
        url=registry.url,
        kind=RegistryKind(registry.kind.value),
        username=registry.username,
        password=registry.password_text(),
        ca_file=_text(registry.ca_file),
    )


def dead_letter_config(settings: BridgeSettings) -> DeadLetterConfig:
    """Where records go that cannot be decoded."""
    return DeadLetterConfig(kafka=kafka_config(settings), topic=settings.dead_letter_topic, bridge=settings.name)


def subscription(settings: BridgeSettings) -> list[str] | re.Pattern[str]:
    """The topics by name, or the pattern that a topic's whole name has to match."""
    if settings.kafka.pattern is not None:
        return re.compile(settings.kafka.pattern)
    return list(settings.kafka.topics)


def is_subscribed(settings: BridgeSettings) -> Callable[[str], bool]:
    """Whether the settings have the bridge read a topic of this name."""
    wanted = subscription(settings)
    if isinstance(wanted, re.Pattern):
        return lambda topic: wanted.fullmatch(topic) is not None
    return wanted.__contains__


def source_options(settings: BridgeSettings, *, once: bool = False) -> dict[str, str]:
    """Options of Spark's Kafka source, which plans the offsets of micro-batches, but for ``startingOffsets``.

    No record is read with it. ``failOnDataLoss`` stays true: offsets that are gone are an error that the start
    explains, never a gap.

    Args:
        once: whether what is there is drained, without waiting for more.
    """
    trigger = settings.trigger
    chosen = spark_options(kafka_config(settings))
    chosen |= {
        "failOnDataLoss": "true",
        "maxOffsetsPerTrigger": str(trigger.max_offsets),
        "groupIdPrefix": f"cdc-bridge-{settings.name}",
        # That no broker answers is the bridge's to tell, and to wait for: Spark would try three times, a minute each.
        "fetchOffset.numRetries": "1",
    }
    # Options of the Java client that the user has not set: a batch ends where the workers may read.
    defaults = {"isolation.level": settings.kafka.isolation.value}
    if f"{SPARK_PREFIX}request.timeout.ms" not in chosen:
        # Kafka's own for one request, and the least that its clients take for all requests of a call.
        defaults["default.api.timeout.ms"] = "30000"
    for name, value in defaults.items():
        chosen.setdefault(f"{SPARK_PREFIX}{name}", value)
    if trigger.min_offsets is not None and not once:
        chosen["minOffsetsPerTrigger"] = str(trigger.min_offsets)
        if trigger.max_delay is not None:
            chosen["maxTriggerDelay"] = f"{int(trigger.max_delay.total_seconds() * 1000)}ms"
    if settings.kafka.pattern is not None:
        # Spark looks for the pattern anywhere in a topic's name.
        chosen["subscribePattern"] = f"^(?:{settings.kafka.pattern})$"
    else:
        chosen["subscribe"] = ",".join(settings.kafka.topics)
    return chosen


def _text(path: object) -> str | None:
    return None if path is None else str(path)
