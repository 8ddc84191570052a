"""The short form of ``make load``: what its judges say of a small ledger, a dozen tables and a small backlog."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.load import long_ledger as of_a_ledger
from tests.load.backlog import backlog
from tests.load.long_ledger import long_ledger
from tests.load.many_tables import many_tables
from tests.load.memory import KINDS


def test_a_long_ledger_is_opened_at_its_end_and_pruned(tmp_path: Path) -> None:
    outcome = long_ledger(tmp_path, versions=2_000)
    assert outcome.failures == (), outcome.text()


def test_one_that_cannot_be_opened_in_time_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_a_ledger, "LIMIT_S", 0.0)
    [failure] = long_ledger(tmp_path, versions=1_500).failures
    assert failure.endswith("not in 0 s")


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.usefixtures("spark_jars")
def test_of_many_tables_no_record_is_lost_doubled_or_out_of_order(tmp_path: Path, bootstrap_servers: str) -> None:
    outcome = many_tables(tmp_path, bootstrap_servers, count=12)
    assert outcome.failures == (), outcome.text()
    assert outcome.figures["all of each"].startswith("2,400 records, 0 lost, 0 doubled, 0 out of order")
    assert outcome.figures["files"] == "24"


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.usefixtures("spark_jars")
def test_of_a_small_backlog_no_record_is_lost_doubled_or_out_of_order(tmp_path: Path, bootstrap_servers: str) -> None:
    outcome = backlog(tmp_path, bootstrap_servers, events=40_000, trigger={"max_offsets": 7_000})
    assert outcome.figures["rows"] == "40,000 records, 0 lost, 0 doubled, 0 out of order"
    assert int(outcome.figures["batches"].partition(",")[0]) >= 6
    # Whether memory is flat a few seconds cannot tell; that it was looked at they can.
    peaks = [figure.split(" / ") for name, figure in outcome.figures.items() if name.startswith("MiB, ")]
    assert len(peaks) == len(KINDS)
    assert all(int(peak) > 0 for thirds in peaks for peak in thirds)
