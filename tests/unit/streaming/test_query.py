"""The end of a query: what it raises, and where a start begins to read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.errors import BridgeError, Terminal
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import PlannedTopic, TableState, TopicOffsets
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.query import StopSignal, wait_for_end
from streaming.driver.startup import begin_at_ends, park_excluded, starting_offsets
from tests.unit.streaming.events import plan


class Query:
    """A query of Spark's that is active for some looks and then ends."""

    def __init__(self, looks: int, *, fails: bool = False) -> None:
        self._looks = looks
        self._fails = fails

    @property
    def isActive(self) -> bool:
        self._looks -= 1
        return self._looks >= 0

    def awaitTermination(self) -> None:
        if self._fails:
            raise StreamingQueryException("the query failed")


class Batches:
    """The last batch and what became of it."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure

    def between(self, seconds: float) -> bool:
        return True


def stopping() -> StopSignal:
    stop = StopSignal()
    stop.set()
    return stop


FAILURE = Terminal("the disk is gone", remedy="mend it")


class TestEnd:
    def test_the_failure_of_the_batch_in_hand_is_told_even_if_the_job_is_stopping(self) -> None:
        with pytest.raises(BridgeError, match="the disk is gone"):
            wait_for_end(Query(9), Batches(FAILURE), stopping())
        with pytest.raises(BridgeError, match="the disk is gone"):
            wait_for_end(Query(0, fails=True), Batches(FAILURE), stopping())

    def test_a_batch_that_did_not_begin_because_the_job_is_stopping_is_no_failure(self) -> None:
        wait_for_end(Query(9), Batches(), stopping())
        wait_for_end(Query(0, fails=True), Batches(), stopping())

    def test_a_query_that_ends_by_itself_tells_its_own_failure(self) -> None:
        wait_for_end(Query(0), Batches(), StopSignal())
        with pytest.raises(StreamingQueryException):
            wait_for_end(Query(0, fails=True), Batches(), StopSignal())


class TestStart:
    def test_a_start_at_the_ends_is_recorded_before_the_first_record_comes(self, tmp_path: Path) -> None:
        ledger = Ledger.open(LocalStorage(tmp_path), now_ms=lambda: 0)
        ledger.claim("run", "host")
        begin_at_ends(ledger, {"orders": TopicDescription("id-1", {0: (3, 9), 1: (0, 0)})})
        later = {"orders": TopicDescription("id-1", {0: (3, 20), 1: (0, 5), 2: (0, 1)})}
        begin_at_ends(ledger, later)
        assert ledger.state.topics == {"orders": TopicOffsets("id-1", {0: 9, 1: 0})}
        assert json.loads(starting_offsets(ledger.state, later)) == {"orders": {"0": 9, "1": 0, "2": -2}}

    def test_a_table_that_the_settings_leave_out_by_now_stands_still(self, tmp_path: Path) -> None:
        ledger = Ledger.open(LocalStorage(tmp_path), now_ms=lambda: 0)
        ledger.claim("run", "host")
        table = TableState(("shop", "public", "orders"), "public.schema/orders", partitions={"orders": {}})
        other = TableState(("shop", "public", "users"), "public.schema/users", partitions={"users": {}})
        planned = {"orders": PlannedTopic("id-1", {0: (0, 7)})}
        ledger.commit(Draft(planned=planned, tables={"public.orders": table, "public.users": other}))
        job = plan(tmp_path, decode=DecodeOptions(rules=TableRules(exclude=("public.orders",)))).job
        park_excluded(ledger, job)
        version = ledger.state.version
        park_excluded(ledger, job)
        assert ledger.state.version == version
        parked = ledger.state.tables["public.orders"].parked
        assert parked is not None
        assert (parked.reason, parked.offset, parked.resume) == ("excluded", 7, {"orders": {0: 7}})
        assert ledger.state.tables["public.users"] == other
