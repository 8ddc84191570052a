"""What `check` says of a storage's promises and clock, and of whose the landing zone is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.landing_zone.ledger.owner import OWNER_FILE, ensure_owner
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.protocol import Entry
from streaming.checks.check import Verdict
from streaming.checks.storage import PROOF_FOLDER, check_owner, check_storage
from tests.unit.landing_zone.memory_storage import Fault as StorageFault
from tests.unit.landing_zone.memory_storage import MemoryStorage, Request
from tests.unit.streaming.checked import EMPTY, said, verdicts
from tests.unit.streaming.landed_shop import two_batches


class Skewed(MemoryStorage):
    """A storage whose clock is off by so many seconds."""

    apart = 0.0

    def stat(self, path: str) -> Entry | None:
        entry = super().stat(path)
        return None if entry is None else replace(entry, modified=1_000.0 + self.apart)


class TestStorage:
    def test_promises_are_proven_by_doing_and_leave_nothing(self, tmp_path: Path) -> None:
        storage = LocalStorage(tmp_path / "zone")
        assert verdicts(check_storage("landing zone", storage)) == [
            ("landing zone", "ok"),
            ("landing zone clock", "ok"),
        ]
        assert storage.list(PROOF_FOLDER) == []
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []

    def test_a_promise_that_could_not_be_tried_is_a_problem(self) -> None:
        def refuse(request: Request) -> StorageFault | None:
            return StorageFault.FAIL if request.method == "rename_if_absent" else None

        checks = list(check_storage("state", MemoryStorage(hook=refuse)))
        assert verdicts(checks) == [("state rename if absent", "problem"), ("state rename condition", "problem")]
        assert [re.sub(f"{PROOF_FOLDER}/[0-9a-f]+", "FOLDER", check.detail) for check in checks] == [
            "could not be tried: renamed a file; a second rename to the same name was refused: "
            "The storage did not answer [file=FOLDER/rename/target]",
            "could not be tried: the same, guarded by the storage's own condition alone: "
            "The storage did not answer [file=FOLDER/condition/target]",
        ]
        assert {check.remedy for check in checks} == {"try again"}

    def test_a_promise_that_is_broken_does_not_hold(self) -> None:
        class Overwriting(MemoryStorage):
            def put_if_absent(self, path: str, body: bytes) -> bool:
                self.put(path, body)
                return True

        assert said(check_storage("state", Overwriting())) == [
            (
                "state put if absent",
                "problem",
                "does not hold: created a file; a second creation with another body kept the first",
            )
        ]

    @pytest.mark.parametrize(("apart", "verdict"), [(-30.0, "ok"), (3_600.0, "warning"), (-3_600.0, "warning")])
    def test_clocks_that_differ_are_a_warning(self, apart: float, verdict: str) -> None:
        storage = Skewed()
        storage.apart = apart
        clock = list(check_storage("state", storage, lambda: 1_000.0))[-1]
        assert (clock.subject, clock.verdict.value) == ("state clock", verdict)
        if verdict == "warning":
            assert clock.detail.startswith("the storage's clock and this machine's differ by ")

    def test_a_zone_of_nobody_is_taken_by_the_first_run(self) -> None:
        assert said(check_owner(MemoryStorage(), MemoryStorage(), EMPTY, "shop")) == [
            ("owner", "ok", "the landing zone belongs to nobody yet; the first run takes it")
        ]

    def test_a_zone_of_this_ledger(self, tmp_path: Path) -> None:
        shop = two_batches(tmp_path)
        ensure_owner(shop.zone, shop.ledger.state.ledger_id, "shop")
        assert verdicts(check_owner(shop.zone, MemoryStorage(), shop.ledger.state, "shop")) == [("owner", "ok")]

    def test_a_lost_owner_file_is_no_problem_where_the_ledgers_files_are(self, tmp_path: Path) -> None:
        shop = two_batches(tmp_path)
        [check] = check_owner(shop.zone, MemoryStorage(), shop.ledger.state, "shop")
        assert (check.verdict, check.detail) == (
            Verdict.OK,
            "the landing zone's owner file is lost, but files of this ledger are there; a run writes it",
        )

    def test_a_zone_of_another_ledger_is_a_problem(self) -> None:
        zone = MemoryStorage()
        ensure_owner(zone, "theirs", "other")
        [check] = check_owner(zone, MemoryStorage(), EMPTY, "shop")
        assert (check.verdict, check.detail) == (
            Verdict.PROBLEM,
            "the landing zone belongs to the ledger theirs of source other; there is none at the state's place",
        )
        [check] = check_owner(zone, MemoryStorage(), LedgerState("ours", 3, 1, "run"), "shop")
        assert check.detail.endswith("; this one is ours")

    def test_a_ledger_of_another_source_or_zone_is_a_problem(self, tmp_path: Path) -> None:
        shop = two_batches(tmp_path)
        [check] = check_owner(MemoryStorage(), MemoryStorage(), shop.ledger.state, "shop")
        assert (check.verdict, check.subject) == (Verdict.PROBLEM, "owner")
        assert check.detail.startswith("The ledger knows 1 table(s), but this landing zone has no owner")
        [check] = check_owner(shop.zone, MemoryStorage(), LedgerState("ours", 3, 1, "run", source="store"), "shop")
        assert check.detail.startswith("The ledger is that of source store, not of shop; version 3 was written by run")

    def test_foreign_files_or_a_broken_owner_file_are_a_problem(self, tmp_path: Path) -> None:
        zone = two_batches(tmp_path).zone
        [check] = check_owner(zone, MemoryStorage(), EMPTY, "shop")
        assert check.detail.startswith("The ledger is empty, but the landing zone holds files up to number 2")
        zone.put(OWNER_FILE, b"?")
        assert verdicts(check_owner(zone, MemoryStorage(), EMPTY, "shop")) == [("owner", "problem")]
