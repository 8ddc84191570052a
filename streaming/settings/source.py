"""The source itself: its database and the Debezium connector that reads it, for what the events alone can't tell.

Landing changes needs none of it. A rebuild asks Debezium for a snapshot through its signals, ``check`` looks at the
connector and the database, ``reconcile`` compares the database with the landing zone, and a running bridge sees in
PostgreSQL's catalog that tables were dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, FilePath, SecretStr

from streaming.settings.kafka import BaseUrl
from streaming.settings.scalars import Duration, TopicName
from streaming.settings.secrets import secret_text, secret_twice, user_problems
from streaming.settings.section import KeyPath, Section

DATABASE_SCHEMES = ("postgresql", "mysql", "mariadb")


_PLACE = re.compile(r"([^/@:?#\s]+@)?(\[[0-9A-Fa-f:.]+\]|[^/@:?#\s\[\]]+)(:\d{1,5})?/[^/@?#\s]+")


def _database_url(text: str) -> str:
    scheme, _, rest = text.partition("://")
    user, at, _ = rest.rpartition("@")
    if at and ":" in user:
        raise ValueError("holds a password: move it to password_file, or password")
    if "?" in rest or "#" in rest:
        raise ValueError("holds options: write it without ? and #; the password goes to password_file, or password")
    if scheme not in DATABASE_SCHEMES or not _PLACE.fullmatch(rest):
        raise ValueError("is not a database's URL: write postgresql://, mysql:// or mariadb://user@host:port/database")
    return text


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _signal_table(text: str) -> str:
    if not re.fullmatch(r"[^.\s]+\.[^.\s]+", text):
        raise ValueError("is not schema.table (PostgreSQL) or database.table (MySQL, MariaDB)")
    return text


DatabaseUrl = Annotated[str, AfterValidator(_database_url)]
SignalTable = Annotated[str, AfterValidator(_signal_table)]


class Database(Section):
    """The source database, for looking only; but for a signal table nothing is ever written to it. Of PostgreSQL, a
    running bridge looks into the catalog every half minute: for tables that were dropped, made again or renamed."""

    url: DatabaseUrl = Field(examples=["postgresql://cdc_reader@db.example.com:5432/shop"])
    """postgresql://, mysql:// or mariadb://user@host:port/database, without the password."""
    password: SecretStr | None = None
    """Password of the user; better in the environment or in a file."""
    password_file: FilePath | None = Field(default=None, examples=["/run/secrets/database-password"])
    """File that holds the password."""
    ca_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/database-ca.pem"])
    """PEM file with the certificate authorities of the database, by which its certificate and host are verified;
    required unless the database is on this machine (127.0.0.1, ::1, localhost)."""
    unverified: bool = False
    """Connect to a database on another machine without ca_file: encrypted only if the server offers it, and whoever
    stands in for it gets the password and is believed."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        yield from secret_twice("password", self.password, self.password_file)
        if self.ca_file is not None and self.unverified:
            yield ("unverified",), "can't be set together with ca_file: keep one of the two"
        if self.ca_file is None and not self.unverified and not _is_here(self.url):
            yield (
                ("ca_file",),
                "is required: the database is on another machine, and nothing else tells it from one that stands in "
                "for it (or set unverified)",
            )

    def password_text(self) -> str | None:
        """The password from whichever key holds it; raises as :func:`secret_text`."""
        return secret_text(self.password, self.password_file)


class Connect(Section):
    """Kafka Connect's REST API, where the connector runs."""

    url: BaseUrl = Field(examples=["http://localhost:8083"])
    """Base URL of the REST API."""
    connector: str = Field(min_length=1, examples=["shop-connector"])
    """Name of the Debezium connector there."""
    username: str | None = Field(default=None, examples=["cdc-bridge"])
    """User of HTTP basic authentication."""
    password: SecretStr | None = None
    """Password of HTTP basic authentication; better in the environment or in a file."""
    password_file: FilePath | None = Field(default=None, examples=["/run/secrets/connect-password"])
    """File that holds the password."""
    ca_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/connect-ca.pem"])
    """PEM file with the certificate authorities of the REST API; without it the system's."""
    interval: Duration = timedelta(minutes=1)
    """Time between two questions of a running bridge about the connector's state, for metrics, alerts and the status
    page. Nothing is asked without `http.port`."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        yield from user_problems(self.username, self.password, self.password_file)
        if self.interval < timedelta(seconds=1):
            yield ("interval",), "must be at least 1s"

    def password_text(self) -> str | None:
        """The password from whichever key holds it; raises as :func:`secret_text`."""
        return secret_text(self.password, self.password_file)


class Signals(Section):
    """How Debezium is asked for a table's snapshot: through one of its signal channels."""

    topic: TopicName | None = Field(default=None, examples=["shop-signals"])
    """The connector's signal.kafka.topic."""
    table: SignalTable | None = Field(default=None, examples=["public.debezium_signal"])
    """The connector's signal.data.collection, for a connector without signal topic; needs source.database."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.topic is None and self.table is None:
            yield ("topic",), "is required (or table): say through which channel the connector takes signals"
        if self.topic is not None and self.table is not None:
            yield ("table",), "can't be set together with topic: keep one of the two"


class Source(Section):
    """The source database and its connector; each part is optional and used only by what is said there."""

    topic_prefix: str | None = Field(default=None, min_length=1, examples=["shop"])
    """The connector's topic.prefix, by which it knows its signals and its records name it; without it, it is taken from
    the topics' names."""
    signals: Signals | None = None
    """How a rebuild asks for a table's snapshot."""
    notifications_topic: TopicName | None = Field(default=None, examples=["shop-notifications"])
    """The connector's notification.sink.topic.name: tells when a snapshot is complete; resync needs it."""
    connect: Connect | None = None
    """Kafka Connect's REST API: for check, for reconcile, and for the running bridge's alerts."""
    database: Database | None = None
    """The database, for check and reconcile, and for tables that PostgreSQL drops."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.signals is not None and self.signals.table is not None and self.database is None:
            yield ("database",), "is required: a signal table is written through it"
