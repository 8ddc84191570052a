"""Where the change events come from: the Kafka cluster, its security, and the schema registry."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, FilePath, SecretStr

from connectors.kafka.config import SaslMechanism, SecurityProtocol
from connectors.kafka.jaas import LOGIN, LOGIN_FORM, is_login
from connectors.kafka.registry_config import RegistryKind
from streaming.settings.scalars import Duration, OptionText, TopicName, matching
from streaming.settings.secrets import SECRET, secret_text, secret_twice, user_problems
from streaming.settings.section import KeyPath, Section


class Starting(enum.StrEnum):
    """Where a topic is read from that the ledger doesn't know yet."""

    EARLIEST = "earliest"
    LATEST = "latest"
    TIMESTAMP = "timestamp"
    OFFSETS = "offsets"


class Isolation(enum.StrEnum):
    """Kafka's ``isolation.level``."""

    READ_COMMITTED = "read_committed"
    READ_UNCOMMITTED = "read_uncommitted"


_SECRET_OPTION = re.compile(r"(?i)key|pwd|pass|auth|code|sig\b")


def _topic_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return text


def _http_url(text: str) -> str:
    if not re.fullmatch(r"https?://[^/\s]+(/\S*)?", text):
        raise ValueError("is not a URL: write http://host:port or https://host:port")
    address, _, options = text.partition("?")
    if "@" in address or SECRET.search(options) or _SECRET_OPTION.search(options):
        raise ValueError("holds credentials: move them to their own keys")
    return text


def _base_url(text: str) -> str:
    """An address that paths are put behind, so that options behind it mean nothing."""
    if re.search(r"[?#]", _http_url(text)):
        raise ValueError("holds options: write it without ? and #; user and password go to their own keys")
    return text


def _http_urls(text: str) -> str:
    return ",".join(_base_url(each.strip()) for each in text.split(","))


def _moment(text: str) -> str:
    try:
        zoned = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        zoned = False
    if not zoned:
        raise ValueError("is not a time: write it with its offset, such as 2026-01-31T12:00:00Z")
    return text


Moment = Annotated[str, AfterValidator(_moment)]
Partition = Annotated[int, Field(ge=0)]
Offset = Annotated[int, Field(ge=0)]
GroupName = Annotated[str, Field(min_length=1)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]
HttpUrls = Annotated[str, AfterValidator(_http_urls)]
TopicPattern = Annotated[str, AfterValidator(_topic_pattern)]
BootstrapServers = Annotated[
    str,
    matching(
        r"[^\s,:]+:\d+(\s*,\s*[^\s,:]+:\d+)*|\[[^\s,]+\]:\d+(\s*,\s*\[[^\s,]+\]:\d+)*",
        "must be host:port, several separated by commas",
    ),
]


class OAuth(Section):
    """Client credentials for OAUTHBEARER."""

    token_url: HttpUrl = Field(examples=["https://login.example.com/oauth2/token"])
    """Token endpoint of the identity provider."""
    client_id: str = Field(examples=["cdc-bridge"])
    """The client's id there."""
    client_secret: SecretStr | None = None
    """The client's secret; better in the environment or in a file."""
    client_secret_file: FilePath | None = Field(default=None, examples=["/run/secrets/kafka-client"])
    """File that holds the client's secret."""
    scope: str | None = Field(default=None, examples=["kafka"])
    """Scope to ask for."""
    extensions: dict[str, OptionText] = Field(default={}, examples=[{"logicalCluster": "lkc-1"}])
    """SASL extensions that the broker expects, such as a logical cluster."""
    ca_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/login-ca.pem"])
    """PEM file with the certificate authorities of the token endpoint; without it the system's."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        yield from secret_twice("client_secret", self.client_secret, self.client_secret_file)
        if self.client_secret is None and self.client_secret_file is None:
            yield ("client_secret_file",), "is required (or client_secret): client credentials need the secret"

    def client_secret_text(self) -> str | None:
        """The client's secret from whichever key holds it; raises as :func:`secret_text`."""
        return secret_text(self.client_secret, self.client_secret_file)


class Security(Section):
    """How the brokers know the bridge, and the bridge the brokers."""

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    """Transport and authentication."""
    mechanism: SaslMechanism | None = Field(default=None, examples=["SCRAM-SHA-512"])
    """SASL mechanism; required by the SASL protocols. Any other mechanism goes into kafka.client and kafka.spark."""
    username: str | None = Field(default=None, examples=["cdc-bridge"])
    """User of PLAIN and SCRAM."""
    password: SecretStr | None = None
    """Password of PLAIN and SCRAM; better in the environment or in a file."""
    password_file: FilePath | None = Field(default=None, examples=["/run/secrets/kafka-password"])
    """File that holds the password."""
    ca_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/kafka-ca.pem"])
    """PEM file with the certificate authorities that sign the brokers; without it the system's."""
    certificate_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/client.pem"])
    """PEM file with the client's certificate, for mutual TLS."""
    key_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/client.key"])
    """PEM file with the client's private key (PKCS#8), for mutual TLS."""
    key_password: SecretStr | None = None
    """Password of the private key; better in the environment or in a file."""
    key_password_file: FilePath | None = Field(default=None, examples=["/run/secrets/client-key-password"])
    """File that holds the password of the private key."""
    oauth: OAuth | None = None
    """Client credentials; required by OAUTHBEARER."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        yield from secret_twice("password", self.password, self.password_file)
        yield from secret_twice("key_password", self.key_password, self.key_password_file)
        yield from self._sasl_problems()
        yield from self._tls_problems()

    def _sasl_problems(self) -> Iterator[tuple[KeyPath, str]]:
        has_password = self.password is not None or self.password_file is not None
        if has_password and self.username is None:
            yield ("username",), "is required: there is a password but no user"
        if self.protocol not in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL):
            for key in ("mechanism", "username", "oauth"):
                if getattr(self, key) is not None:
                    yield (key,), f"has no effect with protocol {self.protocol}: set protocol to SASL_SSL or remove it"
            return
        match self.mechanism:
            case None:
                yield ("mechanism",), f"is required by protocol {self.protocol}: one of {', '.join(SaslMechanism)}"
            case SaslMechanism.OAUTHBEARER:
                if self.oauth is None:
                    yield (
                        ("oauth",),
                        "is required by mechanism OAUTHBEARER: token_url, client_id and client_secret_file",
                    )
                if self.username is not None:
                    yield ("username",), "has no effect with mechanism OAUTHBEARER: use oauth.client_id"
            case mechanism:
                if self.username is None and not has_password:
                    yield ("username",), f"is required by mechanism {mechanism}"
                if not has_password:
                    yield ("password_file",), f"is required (or password) by mechanism {mechanism}"
                if self.oauth is not None:
                    yield ("oauth",), f"has no effect with mechanism {mechanism}: remove it"

    def _tls_problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.protocol not in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL):
            for key in ("ca_file", "certificate_file", "key_file"):
                if getattr(self, key) is not None:
                    yield (key,), f"has no effect with protocol {self.protocol}: set protocol to SSL or SASL_SSL"
        if self.certificate_file is not None and self.key_file is None:
            yield ("key_file",), "is required: there is a certificate_file but no private key"
        if self.key_file is not None and self.certificate_file is None:
            yield ("certificate_file",), "is required: there is a key_file but no certificate"
        if self.key_file is None and (self.key_password is not None or self.key_password_file is not None):
            yield ("key_file",), "is required: there is a password for the private key but no key"

    def password_text(self) -> str | None:
        """The SASL password from whichever key holds it; raises as :func:`secret_text`."""
        return secret_text(self.password, self.password_file)

    def key_password_text(self) -> str | None:
        """The private key's password from whichever key holds it; raises as :func:`secret_text`."""
        return secret_text(self.key_password, self.key_password_file)


class Kafka(Section):
    """The Kafka cluster and the topics that Debezium writes."""

    shown = frozenset({"topics"})

    bootstrap_servers: BootstrapServers = Field(examples=["localhost:9092"])
    """Brokers to ask first: host:port, several separated by commas."""
    topics: list[TopicName] = Field(default=[], examples=[["shop.public.orders", "shop.public.customers"]])
    """Topics by name. Exactly one of topics and pattern is set."""
    pattern: TopicPattern | None = Field(default=None, examples=["shop\\.public\\..*"])
    """Regular expression that a topic's whole name matches; topics that appear later are picked up."""
    security: Security = Security()
    """Transport security and authentication."""
    client: dict[str, OptionText] = Field(default={}, repr=False, examples=[{"socket.keepalive.enable": "true"}])
    """Further options of the librdkafka client, which reads the records, writes dead letters and answers checks."""
    spark: dict[str, OptionText] = Field(default={}, repr=False, examples=[{"request.timeout.ms": "60000"}])
    """Further options of the Java client, without the prefix kafka: it asks for topics and offsets to plan a
    micro-batch, and reads no record."""
    starting: Starting = Starting.EARLIEST
    """Where a topic starts that the ledger doesn't know yet: at its first record; at the ends, if the ledger knows no
    topic at all; at starting_timestamp; or at starting_offsets."""
    starting_timestamp: Moment | None = Field(default=None, examples=["2026-01-31T12:00:00Z"])
    """Time of the first record to read, by Kafka's record timestamps; ISO 8601 with Z or an offset."""
    starting_offsets: dict[TopicName, dict[Partition, Offset]] = Field(
        default={}, examples=[{"shop.public.orders": {"0": 1200}}]
    )
    """First offset to read, per topic and partition (quote the partitions); any other partition starts at its first."""
    commit_group: GroupName | None = Field(default=None, examples=["cdc-bridge-shop"])
    """Consumer group whose offsets follow the ledger's, for lag tools; nothing may consume with it."""
    longest_outage: Duration = timedelta(days=7)
    """How long the bridge may ever stand still; `check` warns of topics that keep their records for less."""
    isolation: Isolation = Isolation.READ_COMMITTED
    """Whether records of open and aborted transactions are seen; exactly-once connectors need read_committed."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.topics and self.pattern is not None:
            yield ("pattern",), "can't be set together with topics: keep one of the two"
        yield from self._starting_problems()
        if not self.topics and self.pattern is None:
            yield ("topics",), "is required (or pattern): name the topics to read"
        for index, topic in enumerate(self.topics):
            if topic in self.topics[:index]:
                yield ("topics", index), f"names {topic} a second time"
        owned = {"bootstrap.servers", "isolation.level", "group.id", "enable.auto.commit", "auto.offset.reset"}
        for section in ("client", "spark"):
            for key in sorted(owned & set(getattr(self, section))):
                yield (section, key), "is set by the bridge itself: remove it"
        if LOGIN in self.spark and not is_login(self.spark[LOGIN]):
            yield ("spark", LOGIN), f"is no login of the Java client: {LOGIN_FORM}"

    def _starting_problems(self) -> Iterator[tuple[KeyPath, str]]:
        for kind, name, given in (
            (Starting.TIMESTAMP, "starting_timestamp", self.starting_timestamp is not None),
            (Starting.OFFSETS, "starting_offsets", bool(self.starting_offsets)),
        ):
            if self.starting is kind and not given:
                yield (name,), f"is required by starting: {kind}"
            if self.starting is not kind and given:
                yield (name,), f"has no effect with starting: {self.starting}; write starting: {kind}, or remove it"
        for topic in self.starting_offsets:
            if self.topics and topic not in self.topics:
                yield ("starting_offsets", topic), "is not one of kafka.topics"

    @property
    def starting_ms(self) -> int:
        """``starting_timestamp`` in milliseconds since 1970; 0 where there is none."""
        if self.starting_timestamp is None:
            return 0
        return int(datetime.fromisoformat(self.starting_timestamp).timestamp() * 1000)


class Registry(Section):
    """The schema registry that Avro records refer to."""

    url: HttpUrls = Field(examples=["http://localhost:8081"])
    """Base URL of the registry's API; several of one Confluent registry separated by commas."""
    kind: RegistryKind = RegistryKind.CONFLUENT
    """Protocol of the registry."""
    username: str | None = Field(default=None, examples=["cdc-bridge"])
    """User of HTTP basic authentication."""
    password: SecretStr | None = None
    """Password of HTTP basic authentication; better in the environment or in a file."""
    password_file: FilePath | None = Field(default=None, examples=["/run/secrets/registry-password"])
    """File that holds the password."""
    ca_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/registry-ca.pem"])
    """PEM file with the certificate authorities of the registry; without it the system's."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        yield from user_problems(self.username, self.password, self.password_file)

    def password_text(self) -> str | None:
        """The password from whichever key holds it; raises as :func:`secret_text`."""
        return secret_text(self.password, self.password_file)
