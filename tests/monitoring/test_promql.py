"""An expression that reads what no process exposes is refused where it is built."""

from __future__ import annotations

import pytest

from streaming.metrics.declared import records
from streaming.monitoring.promql import UnknownSeriesError, exposed, expression, grown, names_in


def test_it_is_written_on_one_line_with_the_labels_that_tell_bridges_apart() -> None:
    assert (
        expression(
            """
            max by ($id) (
                bridge_live
                unless on ($id, table) bridge_table_blocked{table!="*"} > 0
            )
            """
        )
        == "max by (job, namespace, source) (bridge_live "
        'unless on (job, namespace, source, table) bridge_table_blocked{table!="*"} > 0)'
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max(bridge_lagg_seconds)", "no process exposes bridge_lagg_seconds"),
        ("rate(bridge_rows_landed[5m])", "no process exposes bridge_rows_landed"),
        ("bridge_batch_seconds", "no process exposes bridge_batch_seconds"),
        ("source:bridge_lag:max > 1", "no process exposes source:bridge_lag:max"),
        ('bridge_lag_seconds{tabel="a"}', "bridge_lag_seconds has no label tabel"),
        ('bridge_live{table!~"a|b"} == 1', "bridge_live has no label table"),
        ("sum by (tabel) (bridge_live)", "none of its series has tabel"),
        ("bridge_live and on (job, partition) bridge_ready", "none of its series has partition"),
    ],
)
def test_a_series_or_label_that_is_not_there_is_named(text: str, said: str) -> None:
    with pytest.raises(UnknownSeriesError) as refused:
        expression(text)
    assert str(refused.value).startswith(f"{said}: ")


@pytest.mark.parametrize(
    "text",
    [
        'up{source!="", container=~"bridge"} == 0',
        "rate(process_cpu_seconds_total[$__rate_interval])",
        "histogram_quantile(0.5, sum by (le, stage) (rate(bridge_stage_seconds_bucket[5m])))",
        'count(bridge_live{source="bridge_lagg_seconds"} offset 15m)',
    ],
)
def test_what_is_there_is_taken(text: str) -> None:
    assert expression(text) == text


def test_a_recorded_series_is_known_with_its_labels() -> None:
    recorded = {"source:bridge_live:max": frozenset({"source"})}
    assert expression("source:bridge_live:max > 0", recorded) == "source:bridge_live:max > 0"


def test_a_histogram_is_exposed_in_parts() -> None:
    found = {name: labels for name, labels in exposed().items() if name.startswith("bridge_stage_seconds")}
    assert found == {
        "bridge_stage_seconds_bucket": {"stage", "le"},
        "bridge_stage_seconds_sum": {"stage"},
        "bridge_stage_seconds_count": {"stage"},
    }


def test_growth_is_of_one_counter_by_one_label() -> None:
    text = expression(grown(records.DEAD_LETTERS, "reason"))
    assert names_in(text) == {"bridge_dead_letters_total", "bridge_start_timestamp_seconds"}
    assert text.startswith("sum by (job, namespace, source, reason) (")
