"""When a table counts as blocked, what is said of it, and what is advised."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.fabric.status import DatabaseMirroring, MirroringError, MirroringStatus, TableMirroring
from streaming.mirroring.blocked import blocked
from streaming.mirroring.progress import Progress, WaitingFile
from streaming.mirroring.trouble import Cause, Trouble, mirror_trouble, table_trouble
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.mirroring.worlds import FOLDER, HALF_HOUR, MINUTE, status, told

REBUILD = (
    "`cdc-bridge verify ZONE` tells whether its files keep the format's rules; then rebuild it, and it alone, with "
    "`cdc-bridge resync CONFIG TABLE`. Stopping and starting the mirrored database would begin with every table anew"
)
ERROR = MirroringError("SchemaMergeFailure", "Type mismatch for column 'location'.")


def waiting(minutes: float = 40, **more: Any) -> Progress:
    """Files 17 and 18 wait behind 16, the first of them for so long."""
    first = WaitingFile(17, f"{FOLDER}/{17:020d}.parquet", NOON_MS - int(minutes * MINUTE))
    return Progress(
        **{
            "generation": 1,
            "published": 18,
            "number": 16,
            "since_ms": first.published_ms,
            "waiting": 2,
            "first": first,
            "missing": None,
            "looked_ms": NOON_MS,
            **more,
        }
    )


def said(progress: Progress, all_told: MirroringStatus | None, of_table: TableMirroring | None = None) -> Trouble:
    found = blocked(progress, HALF_HOUR, all_told, of_table)
    assert found is not None
    return found


def test_from_the_time_on_that_the_settings_say() -> None:
    assert blocked(waiting(29.99), HALF_HOUR, None, None) is None
    assert blocked(waiting(30), HALF_HOUR, None, None) is not None


def test_not_where_nothing_waits() -> None:
    assert blocked(waiting(published=16, waiting=0, first=None), HALF_HOUR, None, None) is None


def test_a_silent_standstill_is_told_with_the_first_file_that_waits() -> None:
    found = said(waiting(), status(told()), told(synced_ms=NOON_MS - MINUTE))
    assert found == Trouble(
        Cause.SILENT,
        "Blocked",
        f"{FOLDER}/00000000000000000017.parquet has waited for 40 min 0 s to be taken in; 2 files wait, the last one "
        "that was taken in is 16; Fabric calls it Replicating, last worked on it at 2026-01-01 11:59:00Z and tells "
        "no error",
        REBUILD,
    )


def test_without_fabric_the_folder_alone_tells() -> None:
    found = said(waiting(number=0, published=1), None)
    assert found.cause is Cause.SILENT
    assert found.message.endswith("; 1 file waits, none has been taken in; Fabric does not tell why")


@pytest.mark.parametrize(
    ("progress", "all_told", "of_table", "cause", "why"),
    [
        (
            waiting(missing=17, first=WaitingFile(18, "x/18", NOON_MS - HALF_HOUR)),
            None,
            None,
            Cause.MISSING_FILE,
            "number 17 is missing, and mirroring waits for it",
        ),
        (
            waiting(missing=17, first=None, waiting=0),
            None,
            None,
            Cause.MISSING_FILE,
            "number 17 is missing, and mirroring waits for it",
        ),
        (
            waiting(missing=19, first=WaitingFile(17, "x/17", 0, "17.parquet is empty")),
            status(told()),
            told(),
            Cause.BAD_FILE,
            "17.parquet is empty",
        ),
        (
            waiting(missing=17),
            status(told(error=ERROR)),
            told(error=ERROR),
            Cause.ERROR,
            "Replicating, with an error: Fabric says: SchemaMergeFailure: Type mismatch for column 'location'.",
        ),
        (
            waiting(),
            status(told(state="Failed")),
            told(state="Failed"),
            Cause.STATE,
            "Failed: Fabric takes none of the table's files in, and tells no error",
        ),
        (
            waiting(),
            status(told(error=ERROR), state="Paused"),
            told(error=ERROR),
            Cause.MIRROR,
            "The mirrored database is Paused: no table's files are taken in",
        ),
        (waiting(), status(), None, Cause.UNKNOWN_TABLE, "Fabric does not list the table"),
    ],
)
def test_why_as_far_as_it_can_be_told(
    progress: Progress, all_told: MirroringStatus | None, of_table: TableMirroring | None, cause: Cause, why: str
) -> None:
    found = said(progress, all_told, of_table)
    assert found.cause is cause
    assert found.message.endswith(f"; {why}")


def test_a_table_that_fabric_does_not_know_may_be_in_another_zone() -> None:
    assert said(waiting(), status()).remedy == (
        "check that landing_zone.url leads to the landing zone of the mirrored database that is asked, and that it has "
        f"no more than the 1,000 tables that Fabric allows. Where both is so: {REBUILD}"
    )


@pytest.mark.parametrize("state", ["Initialized", "Snapshotting", "Reseeding"])
@pytest.mark.parametrize("moving", [False, True])
def test_a_table_that_is_being_loaded_is_waited_for(state: str, moving: bool) -> None:
    of_table = told(state=state)
    found = blocked(waiting(), HALF_HOUR, status(of_table), of_table, moving=moving)
    assert found is not None
    assert (found.cause, found.remedy) == (
        Cause.SILENT,
        "wait: Fabric loads the table, which can take hours, and a resync in the middle would begin that anew. Where "
        "its number of rows stands still as well, look at the mirrored database's replication page in Fabric",
    )


@pytest.mark.parametrize("of_table", [None, told()])
def test_where_no_table_was_seen_to_move_the_capacity_comes_first(of_table: TableMirroring | None) -> None:
    all_told = None if of_table is None else status(of_table)
    found = blocked(waiting(), HALF_HOUR, all_told, of_table, moving=False)
    assert found is not None
    assert (found.cause, found.remedy) == (
        Cause.SILENT,
        "so far no table was seen to move: see first in Fabric whether the capacity is paused or throttled, which "
        f"holds all tables up and which no rebuild mends. Where other tables move: {REBUILD}",
    )


def test_before_mirroring_has_begun_nothing_is_to_be_rebuilt() -> None:
    found = blocked(waiting(), HALF_HOUR, None, None, begun=False)
    assert found is not None
    assert found.cause is Cause.MIRROR
    assert found.message.endswith(
        "; Mirroring has not begun: the replicator has written no status yet, and no file is taken in"
    )
    assert found.remedy.startswith("finish setting the mirrored database up in Fabric")


class TestTheMirroredDatabase:
    def test_one_that_runs_is_no_trouble(self) -> None:
        assert mirror_trouble(DatabaseMirroring("Running", heartbeat_ms=NOON_MS - 10 * MINUTE), NOON_MS) is None

    @pytest.mark.parametrize(
        ("state", "remedy"),
        [
            (
                "Paused",
                "look in Fabric why it is paused, mostly a paused capacity, and let it go on there: the files wait",
            ),
            ("Stopped", "find out in Fabric who stopped it. Once it runs again it begins with every table anew"),
            ("Stopping", "find out in Fabric who stopped it."),
            ("Starting", "wait; if it stays so, look at the mirrored database's replication page in Fabric"),
            ("Initialized", "finish setting the mirrored database up in Fabric: mirroring has not begun yet"),
            ("Hibernating", "wait; if it stays so"),
        ],
    )
    def test_any_other_state_is_told_with_what_to_do(self, state: str, remedy: str) -> None:
        found = mirror_trouble(DatabaseMirroring(state), NOON_MS)
        assert found is not None
        assert (found.cause, found.title) == (Cause.MIRROR, f"The mirrored database is {state}")
        assert found.remedy.startswith(remedy)

    def test_an_error_is_told_whatever_the_state(self) -> None:
        found = mirror_trouble(DatabaseMirroring("Running", MirroringError("Code", "")), NOON_MS)
        assert found is not None
        assert (found.title, found.message) == (
            "The mirrored database is Running, with an error",
            "Fabric says: Code",
        )

    @pytest.mark.parametrize(("heartbeat_ms", "since"), [(NOON_MS - 11 * MINUTE, "2026-01-01 11:49:00Z"), (0, "never")])
    def test_a_replicator_that_gives_no_sign_of_life(self, heartbeat_ms: int, since: str) -> None:
        found = mirror_trouble(DatabaseMirroring("Running", heartbeat_ms=heartbeat_ms), NOON_MS)
        assert found is not None
        assert found.title == "The replicator gives no sign of life"
        assert found.message == f"the last one that it wrote down was: {since}"

    def test_no_advice_is_to_stop_or_start_it(self) -> None:
        states = ["Initializing", "Initialized", "Starting", "Paused", "Stopping", "Stopped", "New"]
        found = [mirror_trouble(DatabaseMirroring(state), NOON_MS) for state in states]
        remedies = [trouble.remedy for trouble in found if trouble is not None]
        assert len(remedies) == len(states)
        assert [remedy for remedy in remedies if "start it" in remedy or "stop it" in remedy] == []


def test_a_table_that_replicates_without_an_error_is_no_trouble() -> None:
    assert table_trouble(told()) is None
    assert table_trouble(told(state="Rebalancing")) is None
