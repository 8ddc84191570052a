"""What `check` says of a topic's newest records: what they are, and what would park their table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.landing_zone.ledger.state import LedgerState
from streaming.checks.check import Check, Verdict
from streaming.checks.records import Sample, describe_records
from streaming.demo.workload import Record
from streaming.plan import JobOptions, TableOptions
from streaming.policies import OnMissingKey
from tests.support.partition_runs import partition_runs
from tests.support.records import Table, raw_batch
from tests.unit.streaming.checked import EMPTY, said, verdicts
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, job, row, two_batches

KEYLESS = Table(TOPIC, key=())


class TestRecords:
    def described(
        self,
        folder: Path,
        *records: Record,
        partitions: int = 1,
        older: int = 0,
        state: LedgerState = EMPTY,
        **options: Any,
    ) -> list[Check]:
        chosen: JobOptions = job(folder, **options)
        decoder = Decoder(chosen.decode)
        runs = partition_runs([raw_batch((record, offset) for offset, record in enumerate(records))])
        decoded: list[Decoded] = [decoder.decode(run) for run in runs]
        looked = Sample(partitions, min(partitions, 4), older + len(records), len(records))
        return list(describe_records(TOPIC, looked, decoded, chosen, state))

    def test_the_newest_are_events_of_known_and_new_tables(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        checks = self.described(
            tmp_path, ORDERS.create(row(1), 5), Table(TOPIC, name="lines").create(row(2), 6), state=state
        )
        assert said(checks) == [
            (f"records of {TOPIC}", "ok", "the newest are events of public.lines (new), public.orders (known)")
        ]

    def test_records_that_cannot_be_decoded_are_a_warning_that_says_how_to_look(self, tmp_path: Path) -> None:
        [check] = self.described(tmp_path, Record(TOPIC, 0, None, b"{nonsense}", ()))
        assert check.verdict is Verdict.WARNING
        assert check.detail.startswith("1 record of the newest cannot be decoded; offset 0 of partition 0: not JSON, ")
        assert f"cdc-bridge explain CONFIG --topic {TOPIC} --partition 0 --offset 0" in check.remedy

    def test_a_new_table_without_key_would_be_parked(self, tmp_path: Path) -> None:
        checks = self.described(tmp_path, KEYLESS.create(row(1), 5))
        assert verdicts(checks) == [("table public.orders", "warning"), (f"records of {TOPIC}", "ok")]
        options = TableOptions(on_missing_key=OnMissingKey.APPEND)
        assert said(self.described(tmp_path, KEYLESS.create(row(1), 5), defaults=options)) == [
            (f"records of {TOPIC}", "ok", "the newest are events of public.orders (new, no key)")
        ]

    def test_it_is_said_once_however_many_records_show_it(self, tmp_path: Path) -> None:
        other = Table(TOPIC, key=(), columns=KEYLESS.columns[:1])
        checks = self.described(tmp_path, KEYLESS.create(row(1), 5), other.create(row(2), 6))
        assert verdicts(checks).count(("table public.orders", "warning")) == 1

    def test_records_without_key_in_several_partitions_may_change_places(self, tmp_path: Path) -> None:
        options = TableOptions(on_missing_key=OnMissingKey.APPEND)
        [check, _] = self.described(tmp_path, KEYLESS.create(row(1), 5), partitions=3, defaults=options)
        assert check.detail.startswith("records without a key are spread over 3 partitions")

    def test_a_key_in_several_partitions_is_a_warning(self, tmp_path: Path) -> None:
        spread = [
            ORDERS.create(row(1), 5),
            ORDERS.truncate(6),
            ORDERS.at(1).truncate(7),
            ORDERS.at(1).update(row(1), 8),
        ]
        [check, _] = self.described(tmp_path, *spread, partitions=2)
        assert (check.subject, check.verdict) == (f"records of {TOPIC}", Verdict.WARNING)
        assert check.detail.startswith("the key id=1 of public.orders is in several partitions")
        apart = [ORDERS.create(row(1), 5), ORDERS.at(1).create(row(2), 6)]
        assert verdicts(self.described(tmp_path, *apart, partitions=2)) == [(f"records of {TOPIC}", "ok")]

    def test_how_far_back_keys_were_compared_is_said_where_that_is_not_all(self, tmp_path: Path) -> None:
        apart = [ORDERS.create(row(1), 5), ORDERS.at(1).create(row(2), 6)]
        [all_of_it] = self.described(tmp_path, *apart, partitions=2)
        assert all_of_it.detail == "the newest are events of public.orders (new)"
        [part] = self.described(tmp_path, *apart, partitions=6, older=5_000)
        assert part.detail == (
            "the newest are events of public.orders (new); keys were compared among the newest 2 of 5,002 offsets, in "
            "4 of 6 partitions: one that was in two partitions before that is not seen"
        )
        [one] = self.described(tmp_path, apart[0], older=5_000)
        assert one.detail == all_of_it.detail, "nothing to compare"

    def test_a_topic_without_rows(self, tmp_path: Path) -> None:
        assert said(self.described(tmp_path, ORDERS.tombstone(row(1)))) == [
            (f"records of {TOPIC}", "ok", "the newest 1 record carry no rows")
        ]
        assert said(self.described(tmp_path)) == [(f"records of {TOPIC}", "ok", "there are none yet")]
