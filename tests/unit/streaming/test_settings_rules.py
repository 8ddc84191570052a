"""Rules across keys: each names the key to change, and all that are broken are told together."""

from __future__ import annotations

from pathlib import Path

import pytest

from streaming.job_options import storage_location
from streaming.policies import OnResnapshot, OnTruncate
from streaming.settings import SettingsError
from streaming.settings.naming import Naming
from streaming.settings.tables import ResolvedTable
from tests.unit.streaming.settings_builder import broken, settings

_ONELAKE = "abfss://workspace@onelake.dfs.fabric.microsoft.com/shop.MountedRelationalDatabase/Files/LandingZone"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "mounted"
    path.write_text("from the file\n", encoding="utf-8")
    return str(path)


class TestTopics:
    def test_topics_and_pattern_exclude_each_other(self) -> None:
        assert broken(kafka__pattern="shop\\..*") == [
            "kafka.pattern can't be set together with topics: keep one of the two"
        ]

    def test_one_of_topics_and_pattern_is_needed(self) -> None:
        assert broken(kafka__topics=None) == ["kafka.topics is required (or pattern): name the topics to read"]

    def test_a_topic_is_named_once(self) -> None:
        assert broken(kafka__topics=["a", "b", "a"]) == ["kafka.topics[2] names a a second time"]

    def test_what_the_bridge_sets_itself_is_no_client_option(self) -> None:
        assert broken(kafka__client={"group.id": "x"}, kafka__spark={"auto.offset.reset": "latest"}) == [
            'kafka.client["group.id"] is set by the bridge itself: remove it',
            'kafka.spark["auto.offset.reset"] is set by the bridge itself: remove it',
        ]

    def test_dead_letters_are_not_read_as_events(self) -> None:
        assert broken(kafka__topics=["cdc-bridge.shop.dead-letters"]) == [
            "dead_letters.topic is one of kafka.topics: dead letters would be read as events"
        ]


class TestSecurity:
    def test_a_password_needs_a_user(self) -> None:
        assert broken(kafka__security={"protocol": "SASL_SSL", "mechanism": "PLAIN", "password": "x"}) == [
            "kafka.security.username is required: there is a password but no user"
        ]

    def test_a_secret_is_given_once(self, file: str) -> None:
        security = {"protocol": "SASL_SSL", "mechanism": "PLAIN", "username": "u", "password": "x"}
        assert broken(kafka__security=security | {"password_file": file}) == [
            "kafka.security.password_file can't be set together with password: keep one of the two"
        ]

    def test_sasl_needs_a_mechanism_and_the_mechanism_its_credentials(self) -> None:
        assert broken(kafka__security={"protocol": "SASL_SSL"}) == [
            "kafka.security.mechanism is required by protocol SASL_SSL: one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, "
            "OAUTHBEARER"
        ]
        assert broken(kafka__security={"protocol": "SASL_PLAINTEXT", "mechanism": "SCRAM-SHA-512"}) == [
            "kafka.security.username is required by mechanism SCRAM-SHA-512",
            "kafka.security.password_file is required (or password) by mechanism SCRAM-SHA-512",
        ]
        assert broken(kafka__security={"protocol": "SASL_SSL", "mechanism": "OAUTHBEARER", "username": "u"}) == [
            "kafka.security.oauth is required by mechanism OAUTHBEARER: token_url, client_id and client_secret_file",
            "kafka.security.username has no effect with mechanism OAUTHBEARER: use oauth.client_id",
        ]

    def test_client_credentials_need_their_secret(self) -> None:
        oauth = {"token_url": "https://idp/token", "client_id": "bridge"}
        assert broken(kafka__security={"protocol": "SASL_SSL", "mechanism": "OAUTHBEARER", "oauth": oauth}) == [
            "kafka.security.oauth.client_secret_file is required (or client_secret): client credentials need the secret"
        ]

    def test_client_credentials_do_nothing_for_other_mechanisms(self) -> None:
        oauth = {"token_url": "https://idp/token", "client_id": "bridge", "client_secret": "x"}
        security = {"protocol": "SASL_SSL", "mechanism": "PLAIN", "username": "u", "password": "x", "oauth": oauth}
        assert broken(kafka__security=security) == [
            "kafka.security.oauth has no effect with mechanism PLAIN: remove it"
        ]

    def test_keys_without_effect_are_told(self, file: str) -> None:
        assert broken(kafka__security={"mechanism": "PLAIN", "username": "u", "ca_file": file}) == [
            "kafka.security.mechanism has no effect with protocol PLAINTEXT: set protocol to SASL_SSL or remove it",
            "kafka.security.username has no effect with protocol PLAINTEXT: set protocol to SASL_SSL or remove it",
            "kafka.security.ca_file has no effect with protocol PLAINTEXT: set protocol to SSL or SASL_SSL",
        ]

    def test_certificate_and_private_key_belong_together(self, file: str) -> None:
        assert broken(kafka__security={"protocol": "SSL", "certificate_file": file, "key_password": "x"}) == [
            "kafka.security.key_file is required: there is a certificate_file but no private key",
            "kafka.security.key_file is required: there is a password for the private key but no key",
        ]
        assert broken(kafka__security={"protocol": "SSL", "key_file": file}) == [
            "kafka.security.certificate_file is required: there is a key_file but no certificate"
        ]

    def test_the_usual_combinations_are_allowed(self, file: str) -> None:
        oauth = {"token_url": "https://idp/token", "client_id": "bridge", "client_secret_file": file}
        for security in (
            {},
            {"protocol": "SSL", "ca_file": file},
            {"protocol": "SSL", "certificate_file": file, "key_file": file, "key_password_file": file},
            {"protocol": "SASL_SSL", "mechanism": "SCRAM-SHA-256", "username": "u", "password_file": file},
            {"protocol": "SASL_SSL", "mechanism": "OAUTHBEARER", "oauth": oauth},
        ):
            assert settings(kafka__security=security).kafka.security.protocol

    def test_the_registry_needs_both_user_and_password(self) -> None:
        assert broken(registry={"url": "http://r:1", "username": "u"}) == [
            "registry.password_file is required (or password): there is a username but no password"
        ]
        assert broken(registry={"url": "http://r:1", "password": "p"}) == [
            "registry.username is required: there is a password but no user"
        ]


class TestSecretFiles:
    def test_a_secret_comes_from_its_file_without_the_line_end(self, file: str) -> None:
        oauth = {"token_url": "https://idp/token", "client_id": "bridge", "client_secret_file": file}
        security = settings(
            kafka__security={
                "protocol": "SASL_SSL",
                "mechanism": "OAUTHBEARER",
                "oauth": oauth,
                "certificate_file": file,
                "key_file": file,
                "key_password_file": file,
            },
            registry={"url": "http://r:1", "username": "u", "password_file": file},
        )
        assert security.kafka.security.oauth is not None
        assert security.registry is not None
        assert security.kafka.security.oauth.client_secret_text() == "from the file"
        assert security.kafka.security.key_password_text() == "from the file"
        assert security.registry.password_text() == "from the file"
        assert security.kafka.security.password_text() is None

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"\n", "The file of a secret is empty"),
            (b"\xff\xfe", "The secret in a file can't be read: it is not UTF-8 text"),
        ],
    )
    def test_a_file_without_a_usable_secret_is_told(self, file: str, content: bytes, message: str) -> None:
        registry = settings(registry={"url": "http://r:1", "username": "u", "password_file": file}).registry
        assert registry is not None
        Path(file).write_bytes(content)
        with pytest.raises(SettingsError) as caught:
            registry.password_text()
        assert (caught.value.message, caught.value.facts) == (message, {"file": Path(file)})

    def test_a_file_that_went_away_is_told(self, file: str) -> None:
        registry = settings(registry={"url": "http://r:1", "username": "u", "password_file": file}).registry
        assert registry is not None
        Path(file).unlink()
        with pytest.raises(SettingsError) as caught:
            registry.password_text()
        assert str(caught.value) == (
            f"The secret in a file can't be read: No such file or directory [file={file}]. "
            "Remedy: make the file readable for this process, or name another one in the settings"
        )


class TestTables:
    def test_a_declared_type_that_is_not_known_is_told_with_the_nearest(self) -> None:
        [problem] = broken(tables__defaults={"declared": {"id": "int64", "price": "decimal(10)"}})
        assert problem.startswith(
            "tables.defaults.declared.price is not a known type: did you mean 'decimal(p,s)'? Known are boolean, int8"
        )

    def test_a_key_column_is_neither_masked_nor_excluded(self) -> None:
        columns = {"mask": ["email", "i*"], "exclude": ["id"]}
        assert broken(tables__defaults={"keys": ["id"], "columns": columns}) == [
            "tables.defaults.columns.mask[1] masks the key column id: a row is found by its key",
            "tables.defaults.columns.exclude[0] excludes the key column id: a row is found by its key",
        ]

    def test_a_key_column_of_an_override_is_not_masked_by_the_defaults(self) -> None:
        overrides = [{"match": "public.users", "keys": ["email"]}]
        assert broken(tables={"defaults": {"columns": {"mask": ["email"]}}, "overrides": overrides}) == [
            "tables.overrides[0] doesn't go with tables.defaults: columns.mask[0] masks the key column email: "
            "a row is found by its key"
        ]

    def test_key_columns_are_named_once_and_declared(self) -> None:
        assert broken(tables__defaults={"keys": ["id", "id", "no"], "declared": {"id": "int64"}}) == [
            "tables.defaults.keys[1] names id a second time",
            "tables.defaults.keys[2] names no, which is not among the declared columns",
        ]

    def test_two_overrides_don_t_match_by_the_same_pattern(self) -> None:
        assert broken(tables__overrides=[{"match": "a"}, {"match": "a"}]) == [
            "tables.overrides[1].match is the pattern of an earlier override, which wins: merge the two"
        ]

    def test_only_an_override_gives_its_tables_one_name(self) -> None:
        overrides = [{"match": "public.sales_*", "naming": {"table": "{schema}_sales"}}]
        sales, others = settings(tables={"naming": {"table": "t_{table}"}, "overrides": overrides}).tables.resolved()
        assert (sales.naming.table_template, others.naming.table_template) == ("{schema}_sales", "t_{table}")
        assert broken(tables__naming={"table": "sales"}) == [
            "tables.naming.table has to contain {table}: otherwise all tables would have one name"
        ]
        assert broken(tables__overrides=[{"match": "public.sales_*", "naming": {"table": "{schema}"}}]) == [
            "tables.overrides[0].naming.table has to contain {table}, or text of its own"
        ]

    def test_an_override_changes_only_what_it_says(self) -> None:
        tables = settings(
            tables={
                "naming": {"schema": "sales"},
                "defaults": {
                    "metadata_columns": ["op"],
                    "columns": {"exclude": ["internal"]},
                    "policies": {"on_truncate": "ignore", "on_resnapshot": "upsert"},
                },
                "overrides": [
                    {
                        "match": "public.orders",
                        "keys": ["id"],
                        "columns": {"mask": ["email"]},
                        "policies": {"on_truncate": "park"},
                        "naming": {"table": "all_orders"},
                    }
                ],
            }
        ).tables
        orders, others = tables.resolved()
        assert orders.match == "public.orders"
        assert orders.naming == Naming.model_validate({"schema": "sales", "table": "all_orders"})
        assert (orders.settings.keys, orders.settings.metadata_columns) == (["id"], ["op"])
        assert (orders.settings.columns.exclude, orders.settings.columns.mask) == (["internal"], ["email"])
        assert orders.settings.policies.on_truncate is OnTruncate.PARK
        assert orders.settings.policies.on_resnapshot is OnResnapshot.UPSERT
        assert others == ResolvedTable(match="*", settings=tables.defaults, naming=tables.naming)

    def test_the_first_override_that_matches_counts(self) -> None:
        overrides = [{"match": "public.o*"}, {"match": "shop.public.*"}, {"match": "public.*"}]
        tables = settings(tables__overrides=overrides).tables
        assert [
            tables.settings_for(table, database).match
            for table, database in [
                ("public.orders", "shop"),
                ("public.items", "shop"),
                ("public.items", "other"),
                ("sales.items", "shop"),
                ("Public.orders", ""),
            ]
        ] == ["public.o*", "shop.public.*", "public.*", "*", "*"]


class TestPlaces:
    def test_state_on_remote_storage_needs_a_local_checkpoint(self) -> None:
        assert broken(landing_zone__url=_ONELAKE) == [
            "state.checkpoint is required: the state is not a local folder that could hold it"
        ]

    def test_a_url_that_storage_can_t_open_is_told_before_it_is_tried(self) -> None:
        elsewhere = "abfss://zone@storage.example/Files/LandingZone"
        reason = (
            "can't be opened. This storage URL cannot be used: its host is not a '.dfs.' host, so the Blob host is "
            "unknown; write abfss://<workspace id>@onelake.dfs.fabric.microsoft.com/<item id>/Files/LandingZone"
        )
        assert broken(landing_zone__url=elsewhere, state__checkpoint="/checkpoint") == [f"landing_zone.url {reason}"]
        assert broken(state={"url": elsewhere, "checkpoint": "/checkpoint"}) == [f"state.url {reason}"]
        endpoints = {"dfs_endpoint": "https://localhost:1", "blob_endpoint": "https://localhost:2"}
        zone = {"url": elsewhere, **endpoints}
        assert settings(landing_zone=zone, state__checkpoint="/checkpoint").state_url == f"{elsewhere}-state"

    def test_a_checkpoint_is_an_absolute_path(self) -> None:
        assert broken(state__checkpoint="checkpoint") == ["state.checkpoint must be an absolute path"]

    @pytest.mark.parametrize("url", ["file:///zones/shop/", "file:///zones/shop/state"])
    def test_the_state_does_not_lie_in_the_landing_zone(self, url: str) -> None:
        assert broken(state__url=url) == [
            "state.url lies in the landing zone, where it would be taken for a table: give it its own folder"
        ]

    def test_options_of_remote_storage_have_no_effect_on_a_local_one(self) -> None:
        assert broken(landing_zone__api_version="2023-11-03", landing_zone__dfs_endpoint="https://h:1") == [
            "landing_zone.api_version has no effect on a local landing zone: remove it",
            "landing_zone.dfs_endpoint has no effect on a local landing zone: remove it",
        ]

    def test_a_request_to_the_storage_may_take_some_time(self) -> None:
        assert broken(landing_zone__request_timeout="0s") == ["landing_zone.request_timeout must be longer than 0s"]
        given = settings(landing_zone__request_timeout="1500ms")
        assert storage_location(given, given.landing_zone.url).read_timeout == 1.5
        assert storage_location(settings(), given.landing_zone.url).read_timeout == 60.0


class TestFiles:
    def test_the_compression_level_fits_the_codec(self) -> None:
        assert broken(parquet={"compression": "gzip", "level": 10}) == [
            "parquet.level is out of range: gzip knows 1 to 9"
        ]
        assert broken(parquet={"compression": "snappy", "level": 1}) == [
            "parquet.level has no effect with compression snappy: remove it"
        ]

    @pytest.mark.parametrize(
        ("parquet", "level"),
        [({}, 1), ({"level": 22}, 22), ({"compression": "gzip"}, 6), ({"compression": "none"}, None)],
    )
    def test_every_codec_has_its_own_level(self, parquet: dict[str, object], level: int | None) -> None:
        assert settings(parquet=parquet).parquet.compression_level == level


class TestRunning:
    def test_a_delay_needs_something_to_wait_for(self) -> None:
        assert broken(trigger={"max_delay": "5m"}) == [
            "trigger.max_delay has no effect without min_offsets: set it, or remove max_delay"
        ]
        assert broken(trigger={"max_delay": "0s", "min_offsets": 1}) == ["trigger.max_delay must be longer than 0s"]

    def test_the_least_of_a_batch_is_not_above_its_most(self) -> None:
        assert broken(trigger={"min_offsets": 10, "max_offsets": 9}) == [
            "trigger.min_offsets is more than max_offsets (9)"
        ]

    def test_the_longest_pause_is_not_shorter_than_the_first(self) -> None:
        assert broken(retry={"backoff": "1m", "max_backoff": "1s"}) == [
            "retry.max_backoff is shorter than backoff (1m)"
        ]

    def test_spark_properties_are_those_that_have_no_key_of_their_own(self) -> None:
        conf = {"executor.memory": "1g", "spark.master": "yarn", "spark.jars": "x"}
        assert broken(spark__conf=conf, spark__master="here") == [
            'spark.conf["executor.memory"] is not a Spark property: its name starts with spark.',
            'spark.conf["spark.master"] has a key of its own: set spark.master',
            'spark.conf["spark.jars"] is set by the bridge itself: use spark.driver.extraClassPath',
            "spark.master is not a Spark master: write local[*], local[4], spark://host:7077, k8s://https://host:443 "
            "or yarn",
        ]

    def test_a_secret_is_no_java_option(self) -> None:
        option = "-Djavax.net.ssl.trustStorePassword=x"
        assert broken(spark__conf={"spark.driver.extraJavaOptions": option}) == [
            'spark.conf["spark.driver.extraJavaOptions"] would show a secret in a command line: '
            "set the variable JDK_JAVA_OPTIONS instead"
        ]
