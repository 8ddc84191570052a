"""Every reason for which a table stands still is told in the documents."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import streaming
from connectors.errors import BridgeError
from connectors.landing_zone.evolution import RefusalReason
from connectors.landing_zone.ledger import adopted, lost, table_state
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.redo import TABLE_ERRORS
from streaming.driver import resuming
from streaming.driver.publishing import park_tables
from streaming.lifecycle.stopping import StopReason
from tests.remedies.parks import documented
from tests.unit.streaming.landed_shop import two_batches

ROOT = Path(streaming.__file__).parent


def reasons_in(path: Path) -> Iterator[str]:
    """Texts given as the reason of ``Stop.at(events, index, reason, ...)``, of ``Parked(...)`` or ``stopped(...)``."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call):
            continue
        match ast.unparse(call.func):
            case "Stop.at":
                given = call.args[2:3]
            case "Parked" | "stopped":
                given = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
            case _:
                continue
        yield from (one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str))


def zone_reason(ledger: Ledger, error: type[BridgeError]) -> str:
    """The reason that the ledger gets for a table with this error."""
    park_tables(ledger, {"public.orders": error("it happened", remedy="do something")})
    parked = ledger.state.tables["public.orders"].parked
    assert parked is not None
    return parked.reason


def test_every_reason_in_the_code_is_documented_and_no_other(tmp_path: Path) -> None:
    events = {reason for path in ROOT.rglob("*.py") for reason in reasons_in(path)}
    ledger = two_batches(tmp_path).ledger
    zone = {zone_reason(ledger, error) for error in TABLE_ERRORS}
    assert "truncate" in events
    others = {
        table_state.NAME_COLLISION,
        lost.UNPROVEN,
        adopted.NOT_ADOPTED,
        resuming.RECREATED,
        resuming.COLUMN_REPLACED,
    }
    assert documented().keys() == events | set(RefusalReason) | set(StopReason) | others | zone
