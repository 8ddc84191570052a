"""What Prometheus reads of a moment: which series there are, and what one series stands for all of."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from streaming.metrics.catalogue import CATALOGUE, METRICS
from streaming.metrics.declared import files
from streaming.metrics.docs import reference
from streaming.metrics.exposition import Exposition
from streaming.metrics.metric import Combine, Kind
from streaming.metrics.mirrored import Mirrored
from streaming.metrics.observed import Observed
from streaming.metrics.tallies import Tallies
from tests.support.http import Answered
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import BUILD, DAY, file, kafka, ledger, observed, parked, scraped, table

_ROOT = Path(__file__).parents[3]


def of_table(name: str, answered: dict[tuple[str, frozenset[tuple[str, str]]], float]) -> dict[str, float]:
    """Values of a table's series, named by metric and the labels beside the table."""
    return {
        " ".join([metric, *(value for label, value in sorted(labels) if label != "table")]): value
        for (metric, labels), value in answered.items()
        if ("table", name) in labels
    }


class TestCatalogue:
    def test_every_metric_has_a_name_of_the_field_s_form_and_says_what_it_is(self) -> None:
        for metric in METRICS:
            assert re.fullmatch(r"bridge_[a-z]+(_[a-z]+)*", metric.name), metric.name
            assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER), metric.name
            assert bool(metric.buckets) == (metric.kind is Kind.HISTOGRAM), metric.name
            assert metric.help.endswith("."), metric.name

    def test_names_are_unique(self) -> None:
        assert len({metric.name for metric in METRICS}) == len(METRICS)

    def test_labels_are_bounded(self) -> None:
        allowed = {"table", "marker", "topic", "partition", "stage", "state", "reason", "op", "kind", "action", "over"}
        allowed |= {"step", "storage", "method", "cause", "resolved_by", "version", "commit", "spark", "python"}
        assert {label for metric in METRICS for label in metric.labels} == allowed

    def test_what_has_a_table_or_a_partition_says_how_one_series_is_made_of_many(self) -> None:
        many = {"table", "topic", "partition"}
        for metric in METRICS:
            assert (metric.combine is not Combine.NONE) == bool(many.intersection(metric.labels)), metric.name

    def test_the_page_in_the_repository_is_current(self) -> None:
        assert (_ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == reference(), "run: make docs-metrics"

    def test_the_page_has_a_row_for_every_metric(self) -> None:
        text = reference()
        assert [metric.name for metric in METRICS if f"| `{metric.name}` |" not in text] == []
        assert sum(len(metrics) for _, metrics in CATALOGUE) == len(METRICS)


class TestOneMoment:
    def test_before_the_zone_is_claimed_only_the_process_is_known(self) -> None:
        names = {name for name, _ in scraped(observed(None)).samples}
        assert names == {
            "bridge_batch_in_hand_seconds",
            "bridge_build_info",
            "bridge_live",
            "bridge_metrics_aggregated",
            "bridge_position_resets_total",
            "bridge_ready",
            "bridge_start_timestamp_seconds",
        }

    def test_a_streaming_table(self) -> None:
        tallies = Tallies()
        tallies.add(files.ROWS_LANDED, 7, "public.orders", "4")
        now = observed(
            ledger(table(late=4), offsets={"orders": 90}, pending={"public.orders": file(sequence=3)}),
            kafka=kafka({"orders": (10, 100)}, {("orders", 90): NOON_MS - 30_000}),
            source_seconds={"public.orders": 0.25},
            mirrored={"public.orders": Mirrored(1, NOON_MS - 90_000)},
            publish_times=lambda name: {2: NOON_MS - 20_000},
        )
        assert of_table("public.orders", scraped(now, tallies).samples) == {
            "bridge_lag_seconds kafka_to_file": 30.0,
            "bridge_lag_seconds source_to_kafka": 0.25,
            "bridge_lag_seconds file_to_mirrored": 20.0,
            "bridge_table_offsets_behind": 10.0,
            "bridge_last_published_sequence": 2.0,
            "bridge_last_mirrored_sequence": 1.0,
            "bridge_unmirrored_files": 1.0,
            "bridge_table_state streaming": 1.0,
            "bridge_late_events_total": 4.0,
            "bridge_rows_landed_total 4": 7.0,
        }

    def test_a_parked_table_lags_from_where_it_stopped_and_tells_what_retention_leaves_it(self) -> None:
        now = observed(
            ledger(table("users", stop=parked()), offsets={"users": 100}),
            kafka=kafka({"users": (10, 100)}, {("users", 40): NOON_MS - DAY * 1000}),
        )
        assert of_table("public.users", scraped(now).samples) == {
            "bridge_lag_seconds kafka_to_file": DAY,
            "bridge_table_offsets_behind": 60.0,
            "bridge_table_retention_headroom_seconds": 6.0 * DAY,
            "bridge_last_published_sequence": 3.0,
            "bridge_table_state parked": 1.0,
            "bridge_table_parked truncate": 1.0,
            "bridge_late_events_total": 0.0,
        }

    def test_partitions_and_states(self) -> None:
        now = observed(
            ledger(table(), table("users", stop=parked()), offsets={"orders": 90, "users": 100}),
            kafka=kafka({"orders": (10, 100), "users": (10, 100)}, {("orders", 90): NOON_MS - 30_000}),
        )
        answered = scraped(now)
        assert answered.value("bridge_offsets_behind", topic="orders", partition="0") == 10
        assert answered.value("bridge_offsets_behind", topic="users", partition="0") == 0
        assert answered.value("bridge_retention_headroom_offsets", topic="orders", partition="0") == 80
        assert answered.value("bridge_retention_headroom_seconds", topic="orders", partition="0") == 7 * DAY - 30
        assert answered.value("bridge_tables", state="streaming") == 1
        assert answered.value("bridge_tables", state="parked") == 1
        assert answered.value("bridge_tables", state="loading") == 0
        assert answered.value("bridge_ledger_version") == 9
        assert answered.value("bridge_ledger_epoch") == 2
        assert answered.value("bridge_kafka_seen_timestamp_seconds") == NOON_MS / 1000 - 2
        labels = {"version": "1.2.3", "commit": "0123456789ab", "spark": "4.0.5", "python": "3.11.2"}
        assert answered.value("bridge_build_info", **labels) == 1

    def test_series_of_a_table_that_the_ledger_does_not_know_any_more_are_gone(self) -> None:
        tallies = Tallies()
        tallies.add(files.FILES_LANDED, 1, "public.orders")
        tallies.add(files.FILES_LANDED, 1, "public.gone")
        answered = scraped(observed(ledger(table()), source_seconds={"public.gone": 1.0}), tallies)
        assert of_table("public.gone", answered.samples) == {}
        assert answered.value("bridge_files_landed_total", table="public.orders") == 1

    def test_hostile_names_are_escaped(self) -> None:
        name = 'a"b\\c\n} 1\nbridge_live 0'
        answered = scraped(observed(ledger(table(name))))
        assert answered.value("bridge_last_published_sequence", table="public." + name.replace("\n", "\\n")) == 3


class TestAggregate:
    def moment(self) -> tuple[Observed, Tallies]:
        tallies = Tallies()
        for name, count in (("orders", 7), ("users", 5)):
            tallies.add(files.ROWS_LANDED, count, f"public.{name}", "4")
        now = observed(
            ledger(table(), table("users"), table("carts", stop=parked(topic="carts")), offsets={"orders": 90}),
            kafka=kafka(
                {"orders": (10, 100), "users": (95, 100), "carts": (0, 50)},
                {("orders", 90): NOON_MS - 30_000, ("users", 95): NOON_MS - 5_000, ("carts", 40): NOON_MS - 999_000},
            ),
        )
        return now, tallies

    def test_one_series_stands_for_all_tables_and_partitions(self) -> None:
        now, tallies = self.moment()
        answered = scraped(now, tallies, per_table=False)
        assert not [labels for _, labels in answered.samples if ("table", "public.orders") in labels]
        assert answered.value("bridge_rows_landed_total", table="*", marker="4") == 12
        assert answered.value("bridge_last_published_sequence", table="*") == 9
        assert answered.value("bridge_table_state", table="*", state="streaming") == 2
        assert answered.value("bridge_table_parked", table="*", reason="truncate") == 1
        assert answered.value("bridge_lag_seconds", table="*", stage="kafka_to_file") == 30
        assert answered.value("bridge_retention_headroom_seconds", topic="*", partition="*") == 7 * DAY - 30
        assert answered.value("bridge_metrics_aggregated", over="tables") == 1

    @pytest.mark.parametrize("reason", ["dropped", "excluded"])
    def test_a_table_that_is_left_out_on_purpose_does_not_hide_how_long_others_can_be_resumed(
        self, reason: str
    ) -> None:
        left_out = table("users", stop=parked(reason, offset=40))
        waiting = table("carts", stop=parked(topic="carts", offset=40))
        kept = kafka({"users": (90, 100), "carts": (10, 100)}, {("carts", 40): NOON_MS - DAY * 1000})
        name = "bridge_table_retention_headroom_seconds"
        both, alone = observed(ledger(left_out, waiting), kafka=kept), observed(ledger(left_out), kafka=kept)
        assert scraped(both).value(name, table="public.users") == 0
        assert scraped(both, per_table=False).value(name, table="*") == 6 * DAY
        assert scraped(alone, per_table=False).value(name, table="*") is None
        assert scraped(alone, per_table=False).value("bridge_table_parked", table="*", reason=reason) == 1

    def test_idle_partitions_do_not_shorten_the_time_that_others_have(self) -> None:
        kept = kafka({"orders": (10, 100), "idle": (7, 7)}, {("orders", 95): NOON_MS - 60_000})
        short = replace(kept.topics["idle"], retention_ms=1_800_000)
        now = observed(
            ledger(table(), offsets={"orders": 95, "idle": 7}),
            kafka=replace(kept, topics={**kept.topics, "idle": short}),
        )
        name = "bridge_retention_headroom_seconds"
        assert scraped(now).value(name, topic="idle", partition="0") == 1_800
        assert scraped(now, per_table=False).value(name, topic="*", partition="*") == 7 * DAY - 60
        assert scraped(now, per_table=False).value("bridge_offsets_behind", topic="*", partition="*") == 5

    def test_offsets_of_headroom_are_those_of_partitions_where_more_waits(self) -> None:
        name = "bridge_retention_headroom_offsets"

        def told(orders: int, users: int) -> float | None:
            now = observed(
                ledger(table(), table("users"), offsets={"orders": orders, "users": users}),
                kafka=kafka({"orders": (10, 100), "users": (0, 1_000)}),
            )
            return scraped(now, per_table=False).value(name, topic="*", partition="*")

        # 10 offsets wait behind 80; 900 behind 100; 7 are lost.
        assert told(orders=90, users=1_000) is None
        assert told(orders=90, users=100) == 100
        assert told(orders=3, users=100) == -7

    def test_beyond_the_bound_it_aggregates_by_itself_and_says_so_once(self, caplog: pytest.LogCaptureFixture) -> None:
        now, tallies = self.moment()
        registry = CollectorRegistry()
        registry.register(Exposition(lambda: now, tallies, BUILD, per_table=True, bound=2))
        with caplog.at_level(logging.WARNING):
            texts = [generate_latest(registry).decode() for _ in range(2)]
        assert texts[0] == texts[1]
        answered = Answered(200, {}, texts[0])
        assert answered.value("bridge_metrics_aggregated", over="tables") == 1
        assert answered.value("bridge_metrics_aggregated", over="partitions") == 1
        assert [record.getMessage() for record in caplog.records] == [
            "metrics: one series stands for all partitions from now on, since there are 3 and metrics.max_tables is 2",
            "metrics: one series stands for all tables from now on, since there are 3 and metrics.max_tables is 2",
        ]

    def test_thousands_of_tables_are_told_in_a_moment(self) -> None:
        many = [table(f"t{number}") for number in range(5_000)]
        offsets = {f"t{number}": 1 for number in range(5_000)}
        now = observed(ledger(*many, offsets=offsets), kafka=kafka(dict.fromkeys(offsets, (0, 2))))
        answered = scraped(now, bound=1_000)
        assert answered.value("bridge_table_offsets_behind", table="*") == 5_000
        assert len(answered.samples) < 60
