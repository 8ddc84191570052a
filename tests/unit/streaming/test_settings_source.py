"""The section about the source itself: optional, and right or refused."""

from __future__ import annotations

from typing import Any

import pytest

from streaming.settings import SettingsError
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
        source__signals={"table": "public.signal"}, source__database={"url": "postgresql://reader@db:5432/shop"}
    ).source.signals


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("oracle://db/shop", "is not a database's URL"),
        ("postgresql://db:5432", "is not a database's URL"),
        ("postgresql://reader:secret@db/shop", "holds a password: move it to password_file, or password"),
    ],
)
def test_a_database_url_names_a_known_database_and_no_password(url: str, message: str) -> None:
    (problem,) = problems(source__database={"url": url})
    assert message in problem
    assert "secret@" not in problem


def test_a_user_of_kafka_connect_comes_with_a_password() -> None:
    base = {"url": "http://connect:8083", "connector": "shop"}
    assert problems(source__connect={**base, "username": "me"}) == [
        "source.connect.password_file is required (or password): there is a username but no password"
    ]
    assert problems(source__connect={**base, "password": "x"}) == [
        "source.connect.username is required: there is a password but no user"
    ]
