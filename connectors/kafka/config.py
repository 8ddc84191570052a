"""How to reach a Kafka cluster, as plain values that travel to executors; secrets do not show in their repr."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

# Pairs and not a mapping: these values are keys of per-worker caches, so they have to be hashable.
Options = tuple[tuple[str, str], ...]


class SecurityProtocol(enum.StrEnum):
    """Kafka's ``security.protocol``."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"


class SaslMechanism(enum.StrEnum):
    """The values of ``sasl.mechanism`` that are set up for both clients."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"


@dataclass(frozen=True)
class OAuth:
    """Client credentials (RFC 6749, section 4.4) for OAUTHBEARER.

    Attributes:
        extensions: SASL extensions that the broker expects, such as a logical cluster.
        ca_file: PEM file with the authorities that sign the token endpoint; the system's when absent.
    """

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None
    extensions: Options = ()
    ca_file: str | None = None


@dataclass(frozen=True)
class Security:
    """Transport security and authentication.

    Attributes:
        ca_file: PEM file with the authorities that sign the brokers; the system's when absent.
        certificate_file, key_file: PEM files for mutual TLS; may be one and the same file.
    """

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    mechanism: SaslMechanism | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    key_password: str | None = field(default=None, repr=False)
    oauth: OAuth | None = None


@dataclass(frozen=True)
class KafkaConfig:
    """A cluster and how its two clients reach it.

    Attributes:
        bootstrap_servers: ``host:port``, several separated by commas.
        client: further librdkafka options; those about security hold for the Java client too.
        spark: further options of the Java client, with which Spark plans offsets; they win over the translated ones.
    """

    bootstrap_servers: str
    security: Security = Security()
    client: Options = field(default=(), repr=False)
    spark: Options = field(default=(), repr=False)


def options(values: Mapping[str, str]) -> Options:
    """A mapping of options as hashable pairs, sorted by name."""
    return tuple(sorted(values.items()))
