"""Settings that can't be are refused with a sentence: where, what, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helm.chart import ZONE, Values, changed, one_source, refusal, rendered, run, settings

SHOP = "sources.shop"
_READABLE = "put it into a secret, and name that under secretFiles (and its file under settings) or under env as"


def test_no_source_at_all() -> None:
    assert refusal({}) == [
        "sources is empty: name at least one source database, with its settings under sources.<name>.settings"
    ]


@pytest.mark.parametrize(
    "name",
    ["Shop", "a.b", "a_b", "-a", "a-", "shop db", "shop/../x", "", "a" * 64, "schüp", "a'b", 'a"b', "{{ x }}", "a\nb"],
)
def test_a_hostile_name_of_a_source(name: str) -> None:
    (sentence,) = refusal({"sources": {name: {"settings": settings()}}})
    assert sentence.startswith("sources[")
    assert sentence.endswith(
        "can't be part of Kubernetes' names: use up to 63 lower-case letters, digits and dashes, with a letter or digit"
        " at both ends; settings.name may be anything else"
    )


REFUSED: list[tuple[str, Values, str]] = [
    (
        "a port that only the bridge hears of",
        one_source(env=[{"name": "CDC_BRIDGE_HTTP__PORT", "value": "9090"}]),
        f"{SHOP}.env has CDC_BRIDGE_HTTP__PORT, which ports and probes of the pod don't follow: write it as"
        " settings.http.port",
    ),
    (
        "no landing zone",
        changed(one_source(), "sources.shop.settings.landing_zone", {}),
        f"{SHOP}.settings.landing_zone.url is required: file:///absolute/path, or"
        " abfss://workspace@host/item/Files/LandingZone with the GUIDs of workspace and item. Write it there, under"
        " defaults.settings, or as CDC_BRIDGE_LANDING_ZONE__URL under env",
    ),
    (
        "no brokers",
        changed(one_source(), "sources.shop.settings.kafka", {"topics": ["t"]}),
        f"{SHOP}.settings.kafka.bootstrap_servers is required: Brokers to ask first: host:port, several separated by"
        " commas. Write it there, under defaults.settings, or as CDC_BRIDGE_KAFKA__BOOTSTRAP_SERVERS under env",
    ),
    (
        "a section without the key that it needs",
        one_source(settings=settings(registry={"kind": "apicurio"})),
        f"{SHOP}.settings.registry.url is required: Base URL of the registry's API; several of one Confluent registry"
        " separated by commas. Write it there, under defaults.settings, or as CDC_BRIDGE_REGISTRY__URL under env",
    ),
    (
        "no topics",
        changed(one_source(), "sources.shop.settings.kafka", {"bootstrap_servers": "kafka:9092"}),
        f"{SHOP}.settings.kafka.topics is required (or pattern): name the topics to read",
    ),
    (
        "topics and a pattern",
        changed(one_source(), "sources.shop.settings.kafka.pattern", "shop.*"),
        f"{SHOP}.settings.kafka.pattern can't be set together with topics: keep one of the two",
    ),
    (
        "a secret among the settings",
        changed(one_source(), "sources.shop.settings.kafka.security", {"password": "hunter2"}),
        f"{SHOP}.settings.kafka.security.password is a secret, which everybody could read in a ConfigMap: {_READABLE}"
        " CDC_BRIDGE_KAFKA__SECURITY__PASSWORD",
    ),
    (
        "a secret among a client's options",
        changed(one_source(), "sources.shop.settings.kafka.spark", {"sasl.jaas.config": "x"}),
        f'{SHOP}.settings.kafka.spark["sasl.jaas.config"] looks like a secret, which everybody could read in a'
        f" ConfigMap: {_READABLE} CDC_BRIDGE_KAFKA__SPARK, a JSON object",
    ),
    (
        "a secret among the environment",
        one_source(env=[{"name": "CDC_BRIDGE_REGISTRY__PASSWORD", "value": "hunter2"}]),
        f"{SHOP}.env has a value for CDC_BRIDGE_REGISTRY__PASSWORD, which everybody could read in the pod: give it"
        " valueFrom.secretKeyRef instead",
    ),
    (
        "the secret of a service principal in the environment",
        one_source(env=[{"name": "AZURE_CLIENT_SECRET", "value": "hunter2"}]),
        f"{SHOP}.env has a value for AZURE_CLIENT_SECRET, which everybody could read in the pod: give it"
        " valueFrom.secretKeyRef, or use workloadIdentity",
    ),
    (
        "a file of a secret that is not mounted",
        changed(one_source(), "sources.shop.settings.landing_zone.ca_file", "/run/secrets/cdc-bridge/ca/ca.pem"),
        f'{SHOP}.settings.landing_zone.ca_file is a file of "ca", which secretFiles doesn\'t have: add it there, with'
        " the name of the secret",
    ),
    (
        "a checkpoint outside of the volume",
        one_source(settings=settings(state={"checkpoint": "/checkpoint"})),
        f"{SHOP}.settings.state.checkpoint lies outside of the volume: name a folder below /var/lib/cdc-bridge, or"
        " remove the key",
    ),
    (
        "a landing zone in the container",
        changed(one_source(), "sources.shop.settings.landing_zone.url", "file:///zones/shop"),
        f"{SHOP}.settings.landing_zone.url is a folder that no volume is mounted at: write an abfss:// URL, or mount a"
        " volume there with extraVolumes and extraVolumeMounts",
    ),
    (
        "a landing zone that executors don't see",
        changed(
            one_source(executors={"enabled": True}),
            "sources.shop.settings.landing_zone.url",
            "file:///var/lib/cdc-bridge/zone",
        ),
        f"{SHOP}.settings.landing_zone.url is a folder that no volume is mounted at, in executors, too: write an abfss://"
        " URL, or mount a volume there with extraVolumes and extraVolumeMounts",
    ),
    (
        "a database elsewhere that nothing verifies",
        one_source(settings=settings(source={"database": {"url": "postgresql://reader@db.example.com:5432/shop"}})),
        f"{SHOP}.settings.source.database.ca_file is required: the database is on another machine, and nothing else"
        " tells it from one that stands in for it (or set unverified)",
    ),
]


@pytest.mark.parametrize(("values", "sentence"), [pytest.param(v, s, id=name) for name, v, s in REFUSED])
def test_a_common_mistake(values: Values, sentence: str) -> None:
    assert refusal(values) == [sentence]


def test_all_problems_of_all_sources_at_once() -> None:
    answer = run("template", values={"sources": {"crm": {"replicas": 2}, "Shop": {}, "erp": {}}})
    assert "The values have 8 problems:" in answer.stderr


BY_THE_SCHEMA: list[tuple[str, Any, str]] = [
    ("sources.shop.setings", {}, "at '/sources/shop': additional properties 'setings' not allowed"),
    ("sources.shop.settings.kafka.topic", "t", "at '/sources/shop/settings/kafka': additional properties 'topic' not"),
    ("sources.shop.settings.trigger.interval", 30, "at '/sources/shop/settings/trigger/interval': got number, want"),
    (
        "sources.shop.settings.trigger.max_offsets",
        "many",
        "at '/sources/shop/settings/trigger/max_offsets': got string",
    ),
    ("sources.shop.settings.markers", "unsafe", "at '/sources/shop/settings/markers': value must be one of 'safe'"),
    ("sources.shop.settings.registry.urll", "x", "at '/sources/shop/settings/registry': additional properties 'urll'"),
    (
        "sources.shop.settings.tables.overrides",
        [{}],
        "at '/sources/shop/settings/tables/overrides/0': missing property",
    ),
    ("sources.shop.executors.memory", 2048, "at '/sources/shop/executors/memory': got number, want string"),
    ("sources.shop.executors.memoryOverhead", 2048, "at '/sources/shop/executors/memoryOverhead': got number, want"),
    ("sources.shop.mode", "Deployment", "at '/sources/shop/mode': value must be one of 'StatefulSet'"),
    ("sources.shop.image.tag", 1.10, "at '/sources/shop/image/tag': got number, want string"),
    ("sources.shop.image.digest", "sha256:1", "at '/sources/shop/image/digest': 'sha256:1' does not match"),
    (
        "sources.shop.podDisruptionBudget.maxUnavailable",
        2,
        "at '/sources/shop/podDisruptionBudget/maxUnavailable': max",
    ),
    ("monitoring.podmonitor", {}, "at '/monitoring': additional properties 'podmonitor' not allowed"),
]


@pytest.mark.parametrize(("path", "value", "message"), BY_THE_SCHEMA, ids=[path for path, _, _ in BY_THE_SCHEMA])
def test_the_schema_names_the_place(path: str, value: Any, message: str) -> None:
    (first, *_) = refusal(changed(one_source(), path, value))
    assert first.startswith(message)


def test_what_the_environment_gives_is_not_asked_for() -> None:
    env = [
        {"name": "CDC_BRIDGE_KAFKA", "valueFrom": {"secretKeyRef": {"name": "shop", "key": "kafka"}}},
        {"name": "CDC_BRIDGE_LANDING_ZONE__URL", "value": ZONE.format(1)},
    ]
    assert rendered({"sources": {"shop": {"env": env}}})
    assert rendered({"sources": {"shop": {"envFrom": [{"secretRef": {"name": "shop"}}]}}})


@pytest.mark.parametrize(
    ("database", "env"),
    [
        ({"url": "postgresql://reader@127.0.0.1:5432/shop"}, []),
        ({"url": "mysql://reader@localhost/shop"}, []),
        ({"url": "postgresql://reader@db.example.com/shop", "unverified": True}, []),
        ({"url": "postgresql://reader@db.example.com/shop", "ca_file": "/etc/database/ca.pem"}, []),
        (
            {"url": "postgresql://reader@db.example.com/shop"},
            [{"name": "CDC_BRIDGE_SOURCE__DATABASE__CA_FILE", "value": "/etc/database/ca.pem"}],
        ),
    ],
)
def test_a_database_that_is_verified_or_here_or_trusted_by_a_word_is_taken(
    database: dict[str, Any], env: list[dict[str, str]]
) -> None:
    volumes = {
        "extraVolumes": [{"name": "database", "configMap": {"name": "database-ca"}}],
        "extraVolumeMounts": [{"name": "database", "mountPath": "/etc/database"}],
    }
    assert rendered(one_source(settings=settings(source={"database": database}), env=env, **volumes))


def test_a_local_landing_zone_on_a_mounted_volume_is_taken() -> None:
    on_the_volume = changed(one_source(), "sources.shop.settings.landing_zone.url", "file:///var/lib/cdc-bridge/zone")
    assert rendered(on_the_volume)
    shared = one_source(
        executors={"enabled": True},
        extraVolumes=[{"name": "zones", "persistentVolumeClaim": {"claimName": "zones"}}],
        extraVolumeMounts=[{"name": "zones", "mountPath": "/zones"}],
    )
    assert rendered(changed(shared, "sources.shop.settings.landing_zone.url", "file:///zones/shop"))
