"""What Prometheus reads of mirroring."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.fabric.errors import FabricDeniedError
from connectors.fabric.status import MirroringError, MirroringStatus
from connectors.landing_zone.ledger.state import LedgerState
from streaming.metrics.declared import fabric
from streaming.metrics.tallies import Tallies
from streaming.mirroring.look import look
from streaming.mirroring.view import MirroringView
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import ledger, observed, scraped, table
from tests.unit.mirroring.worlds import MINUTE, Fabric, Zone, source, status, told

STATE = ledger(table(), table("users"), table("plain", sequence=0))


def view(folder: Path, fabric: Fabric, state: LedgerState = STATE) -> MirroringView:
    """File 3 of ``orders`` has waited for long, that of ``users`` has been taken in."""
    zone = Zone(folder)
    zone.lay(2, 3, minutes=31)
    zone.lay(3, table="users")
    return look(source(zone.storage, fabric), state, None, NOON_MS)


def test_states_errors_and_blocked_tables(tmp_path: Path) -> None:
    failing = told("users", "Failed", error=MirroringError("Code", "text"), synced_ms=NOON_MS)
    fabric = Fabric(status(told(), failing, told("plain", "Rebalancing"), state="Running"))
    metrics = scraped(observed(STATE, mirroring=view(tmp_path, fabric)))
    assert metrics.value("bridge_mirroring_state", state="running") == 1
    assert metrics.value("bridge_table_mirroring_state", table="public.orders", state="replicating") == 1
    assert metrics.value("bridge_table_mirroring_state", table="public.users", state="failed") == 1
    assert metrics.value("bridge_table_mirroring_state", table="public.plain", state="unknown") == 1
    assert metrics.value("bridge_table_mirroring_error", table="public.orders") == 0
    assert metrics.value("bridge_table_mirroring_error", table="public.users") == 1
    assert metrics.value("bridge_table_blocked", table="public.orders") == 1
    assert metrics.value("bridge_table_blocked", table="public.users") == 0
    assert metrics.value("bridge_table_blocked", table="public.plain") is None
    assert metrics.value("bridge_fabric_seen_timestamp_seconds") == NOON_MS / 1000


def test_a_state_of_the_database_that_is_not_documented(tmp_path: Path) -> None:
    metrics = scraped(observed(STATE, mirroring=view(tmp_path, Fabric(status(state="Hibernating")))))
    assert metrics.value("bridge_mirroring_state", state="unknown") == 1


ERROR = MirroringError("UserNoPermission", "The workspace lost its capacity.")


@pytest.mark.parametrize(
    ("told_of_it", "causes"),
    [
        (status(heartbeat_ms=NOON_MS - 10 * MINUTE), set()),
        (status(error=ERROR), {"error"}),
        (status(state="Paused", error=ERROR), {"error", "stopped"}),
        (status(state="Stopping"), {"stopped"}),
        (status(state="Stopped"), {"stopped"}),
        (status(state="Initializing"), {"not_begun"}),
        (status(state="Initialized"), {"not_begun"}),
        (status(state="Starting"), {"starting"}),
        (status(state="Hibernating"), {"unknown_state"}),
        (status(heartbeat_ms=NOON_MS - 11 * MINUTE), {"no_heartbeat"}),
        (None, {"not_begun"}),
    ],
)
def test_what_is_wrong_with_the_mirrored_database_itself(
    tmp_path: Path, told_of_it: MirroringStatus | None, causes: set[str]
) -> None:
    seen = look(source(Zone(tmp_path).storage, None, Fabric(told_of_it)), ledger(), None, NOON_MS)
    metrics = scraped(observed(ledger(), mirroring=seen))
    every = {"error", "stopped", "not_begun", "starting", "unknown_state", "no_heartbeat"}
    assert {cause: metrics.value("bridge_mirroring_trouble", cause=cause) for cause in every} == {
        cause: float(cause in causes) for cause in every
    }


def test_what_is_not_known_has_no_series(tmp_path: Path) -> None:
    fabric = Fabric(FabricDeniedError("no", remedy="ask"))
    metrics = scraped(observed(STATE, mirroring=view(tmp_path, fabric, ledger())))
    names = {name for name, _ in metrics.samples}
    assert {
        "bridge_mirroring_state",
        "bridge_mirroring_trouble",
        "bridge_table_mirroring_state",
        "bridge_table_blocked",
    } & names == set()
    assert metrics.value("bridge_fabric_seen_timestamp_seconds") == 0
    assert {name for name, _ in scraped(observed(STATE)).samples if "mirror" in name or "fabric" in name} == set()


def test_one_series_stands_for_all_tables_where_there_are_many(tmp_path: Path) -> None:
    fabric = Fabric(status(told(), told("users")))
    metrics = scraped(observed(STATE, mirroring=view(tmp_path, fabric)), per_table=False)
    assert metrics.value("bridge_table_blocked", table="*") == 1
    assert metrics.value("bridge_table_mirroring_state", table="*", state="replicating") == 2


def test_failures_are_counted_by_reason() -> None:
    tallies = Tallies()
    tallies.add(fabric.FABRIC_FAILURES, 1, "denied")
    assert scraped(observed(STATE), tallies).value("bridge_fabric_failures_total", reason="denied") == 1
