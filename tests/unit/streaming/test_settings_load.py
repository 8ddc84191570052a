"""A settings file loads, the environment wins over it, and all of its problems are told at once."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.debezium.options import OutOfRange
from connectors.errors import Terminal
from streaming.policies import Markers, OnTruncate, OnUnavailable
from streaming.settings import SettingsError, load_settings, settings_of
from tests.unit.streaming.settings_builder import broken, problems, settings, settings_text


def test_the_smallest_file_has_a_name_a_cluster_with_topics_and_a_landing_zone() -> None:
    loaded = settings()
    assert (loaded.name, loaded.kafka.topics, loaded.landing_zone.url) == (
        "shop",
        ["shop.public.orders"],
        "file:///zones/shop",
    )
    assert (loaded.markers, loaded.trigger.interval, loaded.trigger.max_offsets) == (
        Markers.SAFE,
        timedelta(seconds=30),
        1_000_000,
    )


def test_state_checkpoint_and_dead_letters_have_their_places_without_being_named() -> None:
    loaded = settings()
    assert loaded.state_url == "file:///zones/shop-state"
    assert loaded.checkpoint == Path("/zones/shop-state/checkpoint")
    assert loaded.dead_letter_topic == "cdc-bridge.shop.dead-letters"


def test_named_places_are_taken_as_they_are() -> None:
    loaded = settings(
        landing_zone__url="abfss://ws@onelake.dfs.fabric.microsoft.com/item/Files/LandingZone/",
        state={"url": "abfss://ws@onelake.dfs.fabric.microsoft.com/item/Files/State", "checkpoint": "/var/checkpoint"},
        dead_letters__topic="rejected",
    )
    assert loaded.landing_zone.url == "abfss://ws@onelake.dfs.fabric.microsoft.com/item/Files/LandingZone"
    assert loaded.state_url == "abfss://ws@onelake.dfs.fabric.microsoft.com/item/Files/State"
    assert loaded.checkpoint == Path("/var/checkpoint")
    assert loaded.dead_letter_topic == "rejected"


def test_a_checkpoint_folder_is_decoded_from_the_url() -> None:
    assert settings(state__url="file:///my%20state").checkpoint == Path("/my state/checkpoint")


def test_an_unquoted_null_names_the_choice_null() -> None:
    loaded = settings_of(
        settings_text() + "format: {out_of_range: null}\ntables: {defaults: {policies: {on_unavailable: null}}}\n", "x"
    )
    assert loaded.format.out_of_range is OutOfRange.NULL
    assert loaded.tables.defaults.policies.on_unavailable is OnUnavailable.NULL


def test_every_problem_is_told_at_once_with_its_path_its_line_and_what_is_allowed() -> None:
    text = """\
name: Shop
kafka:
  bootstrap_server: localhost:9092
  topics: orders
  security:
    protocol: SASL_SLS
tables:
  overrides:
    - match: public.orders
    - match: public.customers
      policies: {on_truncate: ignor}
landing_zone: {url: s3://zone}
trigger: {interval: 30, max_offsets: 0}
"""
    assert problems(text) == [
        "name is not a source's name: up to 100 lower-case letters, digits, dots, dashes, underscores; no sign first"
        " (is Shop) [line 1]",
        "kafka.bootstrap_servers is required [line 2]",
        "kafka.bootstrap_server is not a known key; did you mean kafka.bootstrap_servers? [line 3]",
        "kafka.topics must be a list, such as [first, second] (is orders) [line 4]",
        "kafka.security.protocol must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL; did you mean SASL_SSL?"
        " (is SASL_SLS) [line 6]",
        "tables.overrides[1].policies.on_truncate must be one of park, ignore, rebuild; did you mean ignore? (is ignor)"
        " [line 11]",
        "landing_zone.url is not a storage URL: write file:///absolute/path or"
        " abfss://workspace@host/item/Files/LandingZone (is s3://zone) [line 12]",
        "trigger.interval is not a duration: write a number with its unit, such as 500ms, 30s, 5m, 1h30m or 2d"
        " (is 30) [line 13]",
        "trigger.max_offsets must be greater than or equal to 1 (is 0) [line 13]",
    ]


def test_the_error_lists_the_problems_and_says_what_to_do() -> None:
    with pytest.raises(SettingsError) as caught:
        settings_of(settings_text(name=None), "bridge.yaml")
    assert isinstance(caught.value, Terminal)
    assert str(caught.value) == (
        "The settings have 1 problem:\n  - name is required [file=bridge.yaml]. "
        "Remedy: mend what is listed; 'cdc-bridge config example' shows every key"
    )


def test_an_unknown_key_names_the_same_key_elsewhere_or_else_all_keys_of_its_section() -> None:
    assert broken(bootstrap_servers="x:1", log__colour="red") == [
        "bootstrap_servers is not a known key here; did you mean kafka.bootstrap_servers?",
        "log.colour is not a known key; known here: format, level",
    ]


def test_an_unknown_key_of_a_section_in_a_map_names_its_nearest() -> None:
    assert broken(format__topics={"shop.*": {"valu": "avro"}}) == [
        'format.topics["shop.*"].valu is not a known key; did you mean format.topics["shop.*"].value?'
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"spark__ui": "perhaps"}, "spark.ui must be true or false"),
        ({"publish__threads": 1.5}, "publish.threads must be a whole number"),
        ({"publish__threads": "many"}, "publish.threads must be a whole number"),
        ({"log": "text"}, "log must be a section with keys of its own"),
        ({"tables__defaults": {"declared": ["a"]}}, "tables.defaults.declared must be a mapping of keys to values"),
        ({"kafka__client": {"a": [1]}}, "kafka.client.a must be text: write it in quotes"),
        ({"tables__include": [2026]}, "tables.include[0] must be text: write it in quotes"),
        ({"tables__include": [""]}, "tables.include[0] must have at least 1 character"),
        ({"kafka__pattern": "("}, "kafka.pattern is not a regular expression: missing ), unterminated subpattern"),
        ({"kafka__topics": ["a b"]}, "kafka.topics[0] is not a topic's name: up to 249 letters, digits, dots"),
        ({"kafka__bootstrap_servers": "localhost"}, "kafka.bootstrap_servers must be host:port, several separated"),
        ({"registry__url": "localhost:8081"}, "registry.url is not a URL: write http://host:port or https://host:port"),
        ({"registry__url": "http://u:p@h"}, "registry.url holds credentials: move them to their own keys"),
        ({"spark__driver_memory": "1GB"}, "spark.driver_memory is not a size: write a number with B, KiB, MiB, GiB"),
        ({"tables__naming": {"table": "{tabel}"}}, "tables.naming.table is not a name template: the placeholders are"),
        ({"tables__naming": {"table": "x}"}}, "tables.naming.table is not a name template: the placeholders are"),
        (
            {"tables__defaults": {"delimited": {"column_separator": "#"}}},
            r'tables.defaults.delimited.column_separator must be one of ",", ";", "|", "\t"',
        ),
        ({"landing_zone__url": "file:///a/../b"}, "landing_zone.url is not a storage URL"),
        ({"landing_zone__ca_file": "/no/such/file"}, "landing_zone.ca_file is not the path of an existing file"),
        ({"landing_zone__api_version": "v2"}, "landing_zone.api_version is not a REST API version: write its date"),
    ],
)
def test_a_value_that_is_not_allowed_is_told_in_words(changes: dict[str, object], message: str) -> None:
    assert [text for text in broken(**changes) if text.startswith(message)], broken(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"kafka__security": {"pasword": "hunter2"}},
        {"kafka__security": {"password": 8675309}},
        {"registry": {"url": "http://r:1", "username": "u", "password": 8675309}},
        {"kafka__security": {"password": {"is": "hunter2"}}},
        {"kafka__security": {"password": ["hunter2"]}},
        {"kafka__security": "hunter2@everywhere://"},
        {"kafka__client": {"sasl.password": ["hunter2"]}},
        {"kafka__client": "hunter2://@"},
        {"spark__conf": {"password": "hunter2"}},
        {"spark__conf": {"spark.driver.extraJavaOptions": "-Djavax.net.ssl.trustStorePassword=hunter2"}},
        {"registry__url": "http://user:hunter2@host"},
        {"landing_zone__url": "https://user:hunter2@host"},
        {"kafka__security": {"password": "hunter2", "protocol": "SASL_SSL", "mechanism": "PLAIN"}},
    ],
)
def test_no_message_shows_a_secret(changes: dict[str, object]) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(**changes)
    said = str(caught.value) + repr(caught.value.problems)
    assert "hunter2" not in said
    assert "8675309" not in said


def test_neither_text_nor_json_of_the_settings_shows_a_secret() -> None:
    loaded = settings(
        kafka__security={"protocol": "SASL_SSL", "mechanism": "PLAIN", "username": "u", "password": "hunter2"},
        kafka__client={"ssl.key.password": "hunter2"},
        spark__conf={"spark.hadoop.fs.azure.account.key": "hunter2"},
    )
    assert "hunter2" not in repr(loaded) + str(loaded)
    assert loaded.kafka.security.password_text() == "hunter2"
    assert "hunter2" not in loaded.kafka.security.model_dump_json()


def test_a_registry_may_have_several_addresses() -> None:
    registry = settings(registry={"url": "http://a:8081, http://b:8081"}).registry
    assert registry is not None
    assert registry.url == "http://a:8081,http://b:8081"
    assert broken(registry={"url": "http://a:8081,http://u:p@b:8081"}) == [
        "registry.url holds credentials: move them to their own keys"
    ]


def test_a_long_value_is_shown_shortened() -> None:
    [problem] = problems(settings_text(markers="x" * 200))
    assert problem == f"markers must be one of safe, natural (is {'x' * 60}...) [line 8]"


class TestEnvironment:
    def test_it_wins_over_the_file_key_by_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CDC_BRIDGE_KAFKA__BOOTSTRAP_SERVERS", "broker-1:9093,broker-2:9093")
        monkeypatch.setenv("CDC_BRIDGE_TRIGGER__INTERVAL", "5s")
        monkeypatch.setenv("CDC_BRIDGE_TABLES__DEFAULTS__POLICIES__ON_TRUNCATE", "ignore")
        monkeypatch.setenv("CDC_BRIDGE_TABLES__NAMING__SCHEMA", "sales")
        monkeypatch.setenv("CDC_BRIDGE_MARKERS", "natural")
        monkeypatch.setenv("CDC_BRIDGE_REGISTRY__URL", "https://registry:8081")
        loaded = settings(trigger={"interval": "1m", "max_offsets": 7})
        assert loaded.kafka.bootstrap_servers == "broker-1:9093,broker-2:9093"
        assert loaded.kafka.topics == ["shop.public.orders"]
        assert (loaded.trigger.interval, loaded.trigger.max_offsets) == (timedelta(seconds=5), 7)
        assert loaded.tables.defaults.policies.on_truncate is OnTruncate.IGNORE
        assert loaded.tables.naming.schema_template == "sales"
        assert loaded.markers is Markers.NATURAL
        assert loaded.registry is not None
        assert loaded.registry.url == "https://registry:8081"

    def test_a_secret_that_looks_like_a_number_stays_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CDC_BRIDGE_KAFKA__SECURITY__PASSWORD", "0123")
        loaded = settings(kafka__security={"protocol": "SASL_SSL", "mechanism": "PLAIN", "username": "u"})
        assert loaded.kafka.security.password_text() == "0123"

    def test_lists_and_maps_are_json(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CDC_BRIDGE_KAFKA__TOPICS", json.dumps(["a", "b"]))
        monkeypatch.setenv("CDC_BRIDGE_KAFKA__CLIENT", json.dumps({"socket.keepalive.enable": True}))
        loaded = settings()
        assert loaded.kafka.topics == ["a", "b"]
        assert loaded.kafka.client == {"socket.keepalive.enable": "true"}

    def test_a_list_that_is_not_json_names_its_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CDC_BRIDGE_KAFKA__TOPICS", "a,b")
        monkeypatch.setenv("CDC_BRIDGE_KAFKA__CLIENT", "a=b")
        assert sorted(problems(settings_text())) == [
            'kafka.client must be JSON in the environment, such as {"key": "value"}'
            " [environment CDC_BRIDGE_KAFKA__CLIENT]",
            'kafka.topics must be JSON in the environment, such as ["first", "second"]'
            " [environment CDC_BRIDGE_KAFKA__TOPICS]",
        ]

    def test_a_wrong_value_names_its_variable_instead_of_a_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CDC_BRIDGE_LOG__LEVEL", "loud")
        assert problems(settings_text(log={"level": "info"})) == [
            "log.level must be one of debug, info, warning, error (is loud) [environment CDC_BRIDGE_LOG__LEVEL]"
        ]

    def test_a_misspelt_variable_is_a_problem(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CDC_BRIDGE_KAFAK__STARTING", "latest")
        monkeypatch.setenv("CDC_BRIDGE_MARKER", "natural")
        monkeypatch.setenv("CDC_BRIDGE_KAFKA__STRATING", "latest")
        assert sorted(problems(settings_text())) == [
            "kafak.starting is not a known key; did you mean CDC_BRIDGE_KAFKA?"
            " [environment CDC_BRIDGE_KAFAK__STARTING]",
            "kafka.strating is not a known key; did you mean kafka.starting? [environment CDC_BRIDGE_KAFKA__STRATING]",
            "marker is not a known key; did you mean CDC_BRIDGE_MARKERS? [environment CDC_BRIDGE_MARKER]",
        ]

    def test_a_section_that_is_nothing_like_a_known_one_is_a_problem(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CDC_BRIDGE_XYZZY__A", "1")
        assert problems(settings_text()) == ["xyzzy.a is not a known key [environment CDC_BRIDGE_XYZZY__A]"]

    def test_variables_of_others_with_the_same_prefix_are_left_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("PORT", "SERVICE_HOST", "PORT_9108_TCP_ADDR", "FAILPOINT", "FAILPOINT_TRACE", "JARS", "DEBUG"):
            monkeypatch.setenv(f"CDC_BRIDGE_{name}", "x")
        assert settings().name == "shop"

    def test_an_empty_variable_counts_as_not_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CDC_BRIDGE_NAME", "")
        monkeypatch.setenv("CDC_BRIDGE_KAFKA__TOPICS", "")
        assert settings().name == "shop"


class TestFile:
    def test_it_is_read_as_utf8(self, tmp_path: Path) -> None:
        file = tmp_path / "bridge.yaml"
        file.write_text(settings_text(tables={"include": ["öffentlich.*"]}), encoding="utf-8")
        assert load_settings(file).tables.include == ["öffentlich.*"]

    def test_a_file_that_is_not_there_tells_how_to_get_one(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError) as caught:
            load_settings(tmp_path / "none.yaml")
        assert str(caught.value) == (
            f"There is no such settings file [file={tmp_path}/none.yaml]. "
            "Remedy: check the path, or write one with 'cdc-bridge config example > bridge.yaml'"
        )

    def test_a_folder_is_not_a_settings_file(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError) as caught:
            load_settings(tmp_path)
        assert str(caught.value) == (
            f"The settings file can't be read: Is a directory [file={tmp_path}]. "
            "Remedy: make it a file that this process may read"
        )

    def test_another_encoding_is_told(self, tmp_path: Path) -> None:
        file = tmp_path / "bridge.yaml"
        file.write_bytes(settings_text().encode("utf-16"))
        with pytest.raises(SettingsError, match=r"The settings file is not UTF-8 text .* Remedy: save it as UTF-8"):
            load_settings(file)
