"""What `check` says of topics, how long they keep records, and of the schema registry."""

from __future__ import annotations

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry, Fault
from connectors.kafka.registry_config import RegistryConfig
from connectors.kafka.topics import TopicDescription
from streaming.checks.check import Verdict
from streaming.checks.kafka import check_registry, check_replicas, check_topic
from tests.unit.streaming.checked import kafka, said, verdicts
from tests.unit.streaming.settings_builder import settings


class TestKafka:
    @pytest.mark.parametrize(
        ("topic", "verdict", "detail"),
        [
            (
                kafka((0, 5), (2, 4), retention_ms=-1, cleanup_policy="delete"),
                "ok",
                "2 partitions, 7 offsets; keeps records for ever",
            ),
            (
                kafka((0, 1), retention_ms=604_800_000, cleanup_policy="delete"),
                "ok",
                "1 partition, 1 offset; keeps records for 7 d 0 h",
            ),
            (
                kafka((0, 1), retention_ms=3_600_000, cleanup_policy="delete"),
                "warning",
                "1 partition, 1 offset; it keeps records for 1 h 0 min only, and an outage may last 7 d 0 h",
            ),
            (
                kafka((0, 1), retention_ms=-1, cleanup_policy="compact,delete"),
                "warning",
                "1 partition, 1 offset; cleanup.policy is compact,delete: compaction removes events that are not "
                "landed yet",
            ),
            (kafka((0, 1)), "warning", "1 partition, 1 offset; this user may not see how long it keeps records"),
            (
                kafka((0, 1), retention_ms=6 * 86_400_000, cleanup_policy="delete"),
                "warning",
                "1 partition, 1 offset; it keeps records for 6 d 0 h only, and an outage may last 7 d 0 h",
            ),
            (
                kafka((0, 1), retention_ms=-1, retention_bytes=5_000_000, cleanup_policy="delete"),
                "warning",
                "1 partition, 1 offset; it keeps 5.0 MB per partition at most, however young they are",
            ),
        ],
    )
    def test_how_long_a_topic_keeps_its_records(self, topic: TopicDescription, verdict: str, detail: str) -> None:
        check = check_topic("t", topic, settings().kafka.longest_outage)
        assert (check.subject, check.verdict.value, check.detail) == ("topic t", verdict, detail)
        assert bool(check.remedy) == (verdict != "ok")

    @pytest.mark.parametrize(
        ("topic", "details"),
        [
            (kafka(unclean_leader_election=False, min_insync_replicas=2, replicas=3), []),
            (kafka(unclean_leader_election=False, min_insync_replicas=1, replicas=1), []),
            (kafka(replicas=3), []),
            (
                kafka(unclean_leader_election=True, min_insync_replicas=2, replicas=3),
                ["unclean.leader.election.enable is true: a replica may lead that lacks records which have landed"],
            ),
            (
                kafka(unclean_leader_election=True, min_insync_replicas=1, replicas=3),
                [
                    "unclean.leader.election.enable is true: a replica may lead that lacks records which have landed",
                    "min.insync.replicas is 1 of 3: a record counts as written that one broker alone holds, and is "
                    "lost with it",
                ],
            ),
        ],
        ids=["safe", "one replica", "settings that may not be seen", "unclean elections", "nobody else need hold it"],
    )
    def test_settings_by_which_a_topic_loses_what_it_has_acknowledged(
        self, topic: TopicDescription, details: list[str]
    ) -> None:
        checks = list(check_replicas("t", topic))
        assert said(checks) == [("replicas of t", "warning", detail) for detail in details]
        assert all("set " in check.remedy for check in checks)

    @pytest.mark.parametrize(("outage", "verdict"), [("2h", "warning"), ("1h", "ok")])
    def test_how_long_is_long_enough_is_a_setting(self, outage: str, verdict: str) -> None:
        topic = kafka((0, 1), retention_ms=3_600_000, cleanup_policy="delete")
        check = check_topic("t", topic, settings(kafka__longest_outage=outage).kafka.longest_outage)
        assert check.verdict.value == verdict

    def test_a_registry_that_answers(self) -> None:
        with EmbeddedRegistry() as registry:
            config = RegistryConfig(registry.url, attempts=1)
            assert said(check_registry(config)) == [("registry", "ok", f"{registry.url} answers")]
            registry.fault = Fault.UNAUTHORIZED
            [check] = check_registry(config)
        assert check.verdict is Verdict.PROBLEM
        assert check.detail.startswith("the schema registry refuses access (HTTP 401)")

    def test_no_registry(self) -> None:
        assert verdicts(check_registry(None)) == [("registry", "ok")]
