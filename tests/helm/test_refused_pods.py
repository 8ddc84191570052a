"""Pods that can't do their work are refused with a sentence: where, what, and what to do; just enough is taken."""

from __future__ import annotations

from typing import Any

import pytest

from streaming.settings.runtime import Trigger
from tests.helm.chart import Values, changed, one_source, refusal, rendered, settings

SHOP = "sources.shop"

BROKERS = {
    "name": "CDC_BRIDGE_KAFKA__BOOTSTRAP_SERVERS",
    "valueFrom": {"secretKeyRef": {"name": "shop", "key": "brokers"}},
}
_PORTS = (
    f"{SHOP}.networkPolicy.egressPorts is required: the brokers come from the environment, where the chart can't read"
    " their ports, and the policy would let nothing out to them; name the ports there, such as [9092], or write"
    " settings.kafka.bootstrap_servers"
)

REFUSED: list[tuple[str, Values, str]] = [
    (
        "a second replica",
        one_source(replicas=2),
        f"{SHOP}.replicas can't be set: a landing zone has one writer; for more throughput set executors.enabled and"
        " executors.instances",
    ),
    (
        "no volume",
        one_source(persistence={"enabled": False}),
        f"{SHOP}.persistence.enabled can't be set: the checkpoint always has a volume that outlives the pod; remove it,"
        " and choose the volume by size, storageClass or existingClaim",
    ),
    (
        "a service account without a name",
        one_source(serviceAccount={"create": False}),
        f"{SHOP}.serviceAccount.name is required where serviceAccount.create is false: name the service account to use",
    ),
    (
        "a workload identity that is nobody's",
        one_source(workloadIdentity={"enabled": True}),
        f"{SHOP}.workloadIdentity.clientId is required: write the client id of the managed identity or application that"
        " the service account is federated with",
    ),
    (
        "a grace period shorter than a flush",
        one_source(terminationGracePeriodSeconds=30),
        f"{SHOP}.terminationGracePeriodSeconds is 30: a micro-batch in hand would be cut off and done again; give it at"
        " least 60 seconds, longer than the longest micro-batch",
    ),
    (
        "a grace period shorter than a batch of so many records",
        one_source(settings=settings(trigger={"max_offsets": 1_200_001})),
        f"{SHOP}.terminationGracePeriodSeconds is 300: a micro-batch of settings.trigger.max_offsets, 1200001, may take"
        " 301 seconds, at 4000 records a second, and would be cut off and done again; raise it, or lower max_offsets",
    ),
    (
        "a grace period shorter than a batch of as many records as the settings take by themselves",
        one_source(terminationGracePeriodSeconds=249),
        f"{SHOP}.terminationGracePeriodSeconds is 249: a micro-batch of settings.trigger.max_offsets, 1000000, may take"
        " 250 seconds, at 4000 records a second, and would be cut off and done again; raise it, or lower max_offsets",
    ),
    (
        "a network policy, and brokers that the environment gives",
        one_source(networkPolicy={"enabled": True}, env=[BROKERS]),
        _PORTS,
    ),
    (
        "a network policy, and brokers that some secret gives",
        changed(
            one_source(networkPolicy={"enabled": True}, envFrom=[{"secretRef": {"name": "shop"}}]),
            "sources.shop.settings.kafka",
            {"topics": ["t"]},
        ),
        _PORTS,
    ),
    (
        "less memory than the heap and what is beside it",
        one_source(resources={"limits": {"memory": "2073Mi"}, "requests": {"cpu": "2"}}),
        f"{SHOP}.resources.limits.memory is 2073Mi, less than 2074Mi: the heap (1GiB by settings.spark.driver_memory),"
        " 450Mi beside it, and 300Mi for each of 2 cores; where partitions are merged even more is needed. Raise it, or"
        " lower the heap or the cores",
    ),
    (
        "less memory than the threads of the settings need",
        one_source(settings=settings(spark={"master": "local[12]", "driver_memory": "2GiB"})),
        f"{SHOP}.resources.limits.memory is 4Gi, less than 6098Mi: the heap (2GiB by settings.spark.driver_memory),"
        " 450Mi beside it, and 300Mi for each of 12 cores; where partitions are merged even more is needed. Raise it,"
        " or lower the heap or the cores",
    ),
    (
        "less memory than a heap that is written as a number needs",
        one_source(settings=settings(spark={"driver_memory": 3 * 2**30})),
        f"{SHOP}.resources.limits.memory is 4Gi, less than 4122Mi: the heap (3221225472 by"
        " settings.spark.driver_memory), 450Mi beside it, and 300Mi for each of 2 cores; where partitions are merged"
        " even more is needed. Raise it, or lower the heap or the cores",
    ),
    (
        "less memory, written as a number, than the heap and what is beside it",
        one_source(resources={"limits": {"memory": 2074 * 2**20 - 1}, "requests": {"cpu": "2"}}),
        f"{SHOP}.resources.limits.memory is 2174746623, less than 2074Mi: the heap (1GiB by"
        " settings.spark.driver_memory), 450Mi beside it, and 300Mi for each of 2 cores; where partitions are merged"
        " even more is needed. Raise it, or lower the heap or the cores",
    ),
    (
        "a heap in the unit of Spark's property",
        one_source(settings=settings(spark={"driver_memory": 2048})),
        f"{SHOP}.settings.spark.driver_memory is 2048 bytes, less than 512MiB: write a number with MiB or GiB, such as"
        " 2GiB",
    ),
    (
        "a heap smaller than the bridge takes",
        one_source(settings=settings(spark={"driver_memory": "511 MiB"})),
        f"{SHOP}.settings.spark.driver_memory is 511 MiB, less than 512MiB: write a number with MiB or GiB, such as"
        " 2GiB",
    ),
    (
        "less memory than a driver needs whose work is done by executors",
        one_source(resources={"limits": {"memory": "1473Mi"}}, executors={"enabled": True}),
        f"{SHOP}.resources.limits.memory is 1473Mi, less than 1474Mi: the heap (1GiB by settings.spark.driver_memory),"
        " 450Mi beside it. Raise it, or lower the heap",
    ),
    (
        "executors with less memory beside the heap than their workers need",
        one_source(executors={"enabled": True, "cores": 2, "memoryOverhead": "799m"}),
        f"{SHOP}.executors.memoryOverhead is 799m, less than 800m: 200m of Java beside its heap, and 300m for each of 2"
        " cores; where partitions are merged even more is needed. Raise it, or lower executors.cores",
    ),
    (
        "another cluster than that of the executors",
        one_source(executors={"enabled": True}, settings=settings(spark={"master": "local[4]"})),
        f"{SHOP}.settings.spark.master is local[4], which has no pods as executors: remove it, or set executors.enabled"
        " to false",
    ),
    (
        "executors that nobody may ask for",
        one_source(settings=settings(spark={"master": "k8s://https://kubernetes.default.svc"})),
        f"{SHOP}.settings.spark.master is k8s://https://kubernetes.default.svc, but the pod may not ask for executors:"
        " remove it, and set executors.enabled to true",
    ),
    (
        "fewer executors at most than at least",
        one_source(executors={"enabled": True, "dynamicAllocation": {"enabled": True, "min": 5, "max": 4}}),
        f"{SHOP}.executors.dynamicAllocation.min is more than max: lower min or raise max",
    ),
]


@pytest.mark.parametrize(("values", "sentence"), [pytest.param(v, s, id=name) for name, v, s in REFUSED])
def test_a_common_mistake(values: Values, sentence: str) -> None:
    assert refusal(values) == [sentence]


@pytest.mark.parametrize(
    "policy", [{}, {"enabled": True, "egressPorts": [9092]}, {"enabled": True, "extraEgress": [{"to": []}]}]
)
def test_brokers_from_the_environment_are_let_out_to_where_their_ports_are_named(policy: dict[str, Any]) -> None:
    assert rendered(one_source(networkPolicy=policy, env=[BROKERS]))


def test_brokers_in_the_values_need_no_ports_beside_other_variables() -> None:
    assert rendered(one_source(networkPolicy={"enabled": True}, envFrom=[{"secretRef": {"name": "shop"}}]))


def test_a_grace_period_that_is_just_enough_for_its_records_is_taken() -> None:
    assert rendered(one_source(terminationGracePeriodSeconds=250))
    more = settings(trigger={"max_offsets": 1_200_000})
    assert rendered(one_source(settings=more))
    # The chart's number where the values have none.
    assert Trigger().max_offsets == 1_000_000


@pytest.mark.parametrize(
    "environment",
    [
        {"env": [{"name": "CDC_BRIDGE_TRIGGER__MAX_OFFSETS", "value": "100000"}]},
        {"env": [{"name": "CDC_BRIDGE_TRIGGER", "value": '{"max_offsets": 100000}'}]},
        {"envFrom": [{"configMapRef": {"name": "shop"}}]},
    ],
)
def test_a_grace_period_is_not_held_against_a_number_that_the_environment_may_give(environment: dict[str, Any]) -> None:
    assert rendered(one_source(terminationGracePeriodSeconds=60, **environment))


def test_a_grace_period_is_held_against_the_values_number_beside_other_variables() -> None:
    more = settings(trigger={"max_offsets": 1_200_001})
    [problem] = refusal(one_source(settings=more, envFrom=[{"configMapRef": {"name": "shop"}}]))
    assert "may take 301 seconds" in problem


@pytest.mark.parametrize("limit", ["2074Mi", 2074 * 2**20, "2174746624", "3e9"])
def test_memory_that_is_just_enough_is_taken(limit: str | int) -> None:
    assert rendered(one_source(resources={"limits": {"memory": limit}, "requests": {"cpu": "2"}}))


def test_memory_of_a_driver_and_beside_executors_that_is_just_enough_is_taken() -> None:
    executors = {"enabled": True, "cores": 2, "memoryOverhead": "800m"}
    assert rendered(one_source(resources={"limits": {"memory": "1474Mi"}}, executors=executors))
