"""The section about the source itself: optional, and right or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streaming.settings import SettingsError
from streaming.source_options import database_location
from tests.unit.streaming.settings_builder import settings


def problems(**changes: Any) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        settings(**changes)
    return [str(problem).partition(" [line")[0] for problem in caught.value.problems]


def test_nothing_about_the_source_is_required() -> None:
    source = settings().source
    assert (source.signals, source.connect, source.database) == (None, None, None)


def test_signals_need_one_channel() -> None:
    assert problems(source__signals={}) == [
        "source.signals.topic is required (or table): say through which channel the connector takes signals"
    ]
    assert problems(source__signals={"topic": "a", "table": "public.b"}) == [
        "source.signals.table can't be set together with topic: keep one of the two"
    ]


def test_a_signal_table_needs_the_database() -> None:
    assert problems(source__signals={"table": "public.signal"}) == [
        "source.database is required: a signal table is written through it"
    ]
    assert settings(
        source__signals={"table": "public.signal"}, source__database={"url": "postgresql://reader@localhost/shop"}
    ).source.signals


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("oracle://db/shop", "is not a database's URL"),
        ("postgresql://db:5432", "is not a database's URL"),
        ("postgresql://reader:secret@db/shop", "holds a password: move it to password_file, or password"),
        ("postgresql://reader:sec/secret@db/shop", "holds a password: move it to password_file, or password"),
        ("postgresql://reader:sec#secret@db/shop", "holds a password: move it to password_file, or password"),
        ("postgresql+psycopg://reader:secret@db:1/shop", "holds a password: move it to password_file, or password"),
        ("postgres://reader:secret@db/shop", "holds a password: move it to password_file, or password"),
        ("postgresql://reader@db/shop?password=secret", "holds options: write it without ? and #; the password goes"),
        ("postgresql://reader@db/shop?sslmode=require", "holds options: write it without ? and #; the password goes"),
        ("postgresql://reader@db/shop#secret", "holds options: write it without ? and #; the password goes"),
        ("postgresql://db/secret@shop", "is not a database's URL"),
        ("reader:secret@db/shop", "is not a database's URL"),
    ],
)
def test_a_database_url_names_a_known_database_and_no_password(url: str, message: str) -> None:
    (problem,) = problems(source__database={"url": url, "unverified": True})
    assert message in problem
    assert "secret" not in problem


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db/shop",
        "mysql://cdc%40x@db.example.com:3306/shop",
        "mariadb://cdc_reader@[2001:db8::1]:3306/shop",
        "postgresql://cdc_reader@[::1]/shop",
    ],
)
def test_a_database_url_that_is_taken_can_be_opened(url: str) -> None:
    location = database_location(settings(source__database={"url": url, "unverified": True}))
    assert location is not None
    assert (location.database, location.password) == ("shop", None)


@pytest.mark.parametrize(
    "host", ["db", "db.example.com:5432", "10.0.0.7", "[2001:db8::1]:5432", "128.0.0.1", "localhost.a"]
)
def test_a_database_on_another_machine_is_verified_or_said_not_to_be(tmp_path: Path, host: str) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("authorities", encoding="utf-8")
    url = f"postgresql://reader@{host}/shop"
    assert problems(source__database={"url": url}) == [
        "source.database.ca_file is required: the database is on another machine, and nothing else tells it from one "
        "that stands in for it (or set unverified)"
    ]
    assert problems(source__database={"url": url, "ca_file": str(ca), "unverified": True}) == [
        "source.database.unverified can't be set together with ca_file: keep one of the two"
    ]
    for allowed in ({"ca_file": str(ca)}, {"unverified": True}):
        assert settings(source__database={"url": url, **allowed}).source.database


@pytest.mark.parametrize("host", ["127.0.0.1:5432", "127.9.9.9", "[::1]", "localhost", "LOCALHOST:3306"])
def test_a_database_on_this_machine_needs_no_authorities(host: str) -> None:
    assert settings(source__database={"url": f"mysql://reader@{host}/shop"}).source.database


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://reader:secret@connect:8083", "holds credentials: move them to their own keys"),
        ("http://reader:sec/secret@connect:8083", "holds credentials: move them to their own keys"),
        ("http://connect:8083/?token=secret", "holds credentials: move them to their own keys"),
        ("http://connect:8083/?a=1", "holds options: write it without ? and #; user and password go to their own"),
        ("http://connect:8083/#secret", "holds options: write it without ? and #; user and password go to their own"),
        ("ftp://connect:8083/secret", "is not a URL: write http://host:port or https://host:port"),
    ],
)
def test_the_url_of_kafka_connect_holds_no_secret(url: str, message: str) -> None:
    (problem,) = problems(source__connect={"url": url, "connector": "shop"})
    assert problem.startswith(f"source.connect.url {message}")
    assert "secret" not in problem


def test_the_url_of_a_token_endpoint_may_have_options_that_are_no_secret() -> None:
    def security(query: str) -> dict[str, Any]:
        oauth = {"token_url": f"https://login/token?{query}", "client_id": "a", "client_secret": "b"}
        return {"kafka__security": {"protocol": "SASL_SSL", "mechanism": "OAUTHBEARER", "oauth": oauth}}

    assert settings(**security("p=policy")).kafka.security.oauth
    for query in ("client_secret=hunter2", "p=policy&api_key=hunter2", "sig=hunter2"):
        assert problems(**security(query)) == [
            "kafka.security.oauth.token_url holds credentials: move them to their own keys"
        ]


def test_a_user_of_kafka_connect_comes_with_a_password() -> None:
    base = {"url": "http://connect:8083", "connector": "shop"}
    assert problems(source__connect={**base, "username": "me"}) == [
        "source.connect.password_file is required (or password): there is a username but no password"
    ]
    assert problems(source__connect={**base, "password": "x"}) == [
        "source.connect.username is required: there is a password but no user"
    ]
