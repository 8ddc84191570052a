"""What other bridges of change events tell of themselves: for each of their figures there is one here.

The names are those of comparable projects (consumers of Debezium's events, mirrors of databases, Kafka sinks), put into
one form. Labels of theirs that are missing here would be a step behind them.
"""

from __future__ import annotations

import pytest

from connectors.landing_zone.storage.timed import TimedStorage
from streaming.driver.stages import Stage
from streaming.landing.steps import Step
from streaming.metrics.catalogue import METRICS
from streaming.metrics.metric import Kind
from streaming.metrics.samples import FILE_TO_MIRRORED, KAFKA_TO_FILE, SOURCE_TO_KAFKA

OURS = {metric.name: metric for metric in METRICS}

PEERS: dict[str, tuple[str, Kind, set[str]]] = {
    "events_consumed_total": ("bridge_events_consumed_total", Kind.COUNTER, {"topic", "op"}),
    "decode_failures_total": ("bridge_decode_failures_total", Kind.COUNTER, {"reason"}),
    "unchanged_toast_total": ("bridge_unavailable_values_total", Kind.COUNTER, {"resolved_by"}),
    "dlq_total": ("bridge_dead_letters_total", Kind.COUNTER, {"reason"}),
    "rows_landed_total": ("bridge_rows_landed_total", Kind.COUNTER, {"table", "marker"}),
    "bytes_landed_total": ("bridge_bytes_landed_total", Kind.COUNTER, {"table"}),
    "files_landed_total": ("bridge_files_landed_total", Kind.COUNTER, {"table"}),
    "file_rows": ("bridge_file_rows", Kind.HISTOGRAM, set()),
    "file_bytes": ("bridge_file_bytes", Kind.HISTOGRAM, set()),
    "publish_seconds{step=encode}": ("bridge_task_seconds", Kind.HISTOGRAM, {"step"}),
    "publish_seconds{step=upload}": ("bridge_task_seconds", Kind.HISTOGRAM, {"step"}),
    "publish_seconds{step=verify}": ("bridge_storage_seconds", Kind.HISTOGRAM, {"storage", "method"}),
    "publish_seconds{step=rename}": ("bridge_storage_seconds", Kind.HISTOGRAM, {"storage", "method"}),
    "publish_seconds{step=ledger}": ("bridge_stage_seconds", Kind.HISTOGRAM, {"stage"}),
    "batch_seconds": ("bridge_batch_seconds", Kind.HISTOGRAM, set()),
    "consumer_lag_records": ("bridge_offsets_behind", Kind.GAUGE, {"topic", "partition"}),
    "lag_seconds": ("bridge_lag_seconds", Kind.GAUGE, {"table", "stage"}),
    "last_published_sequence": ("bridge_last_published_sequence", Kind.GAUGE, {"table"}),
    "last_mirrored_sequence": ("bridge_last_mirrored_sequence", Kind.GAUGE, {"table"}),
    "ledger_state": ("bridge_table_state", Kind.GAUGE, {"table", "state"}),
    "ledger_conflicts_total": ("bridge_ledger_conflicts_total", Kind.COUNTER, {"reason"}),
    "schema_changes_total": ("bridge_schema_changes_total", Kind.COUNTER, {"kind", "action"}),
    "table_state": ("bridge_tables", Kind.GAUGE, {"state"}),
    "retention_headroom_seconds": ("bridge_retention_headroom_seconds", Kind.GAUGE, {"topic", "partition"}),
    "config_info": ("bridge_build_info", Kind.INFO, {"version", "commit"}),
    "last_success_timestamp": ("bridge_last_success_timestamp_seconds", Kind.GAUGE, set()),
    "whether series are aggregated": ("bridge_metrics_aggregated", Kind.GAUGE, {"over"}),
}
"""The bridge's metric with its kind, and the labels that it has at least, by the peers' name."""


@pytest.mark.parametrize(("theirs", "ours"), PEERS.items(), ids=list(PEERS))
def test_what_peers_measure_is_measured(theirs: str, ours: tuple[str, Kind, set[str]]) -> None:
    name, kind, labels = ours
    assert name in OURS, theirs
    assert OURS[name].kind is kind
    assert labels <= set(OURS[name].labels)


def test_lag_is_told_apart_by_the_same_stages() -> None:
    assert (SOURCE_TO_KAFKA, KAFKA_TO_FILE, FILE_TO_MIRRORED) == (
        "source_to_kafka",
        "kafka_to_file",
        "file_to_mirrored",
    )


def test_the_steps_of_publishing_have_places_of_their_own() -> None:
    """Encode and upload are steps of the tasks, the ledger's is a stage, verify and rename are calls to the storage."""
    assert {"encode", "stage"} <= {step.value for step in Step}
    assert Stage.COMMIT == "commit"
    assert {"stat", "rename_if_absent"} <= set(vars(TimedStorage))


def test_no_figure_of_a_row_s_key_is_among_the_labels() -> None:
    assert not {"key", "primary_key", "id"} & {label for metric in METRICS for label in metric.labels}
