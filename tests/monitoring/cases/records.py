"""Records that could not land as they came."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet

LETTERS = 'bridge_dead_letters_total{reason="not_json"}'
START = "bridge_start_timestamp_seconds"
FAILURES = 'bridge_decode_failures_total{reason="not_json"}'


def late(values: str, table: str = "public.orders") -> dict[str, str]:
    return {f'bridge_late_events_total{{table="{table}"}}': values}


RECORDS: tuple[Case, ...] = (
    fires(
        "BridgeDeadLetters",
        30,
        {LETTERS: "_x30 3x60"},
        "3 records of shop went to the dead letters (not_json)",
        reason="not_json",
    ),
    fires(
        "BridgeDeadLetters",
        50,
        {LETTERS: "7x30 7+1x60"},
        "19 records of shop went to the dead letters (not_json)",
        reason="not_json",
    ),
    # The process begins anew, and counts from 0.
    fires(
        "BridgeDeadLetters",
        40,
        {LETTERS: "9x25 _x5 2x60"},
        "2 records of shop went to the dead letters (not_json)",
        reason="not_json",
    ),
    quiet("BridgeDeadLetters", 30, {LETTERS: "3x60"}),
    quiet("BridgeDeadLetters", 60, {LETTERS: "_x30 3x60"}),
    # Not scraped for some minutes: the same letters do not count again.
    quiet("BridgeDeadLetters", 55, {LETTERS: "3x38 _x4 3x60"}),
    *(
        quiet("BridgeDeadLetters", at, {LETTERS: f"3x38 _x{gap} 3x60", START: f"0x38 _x{gap} 0x60"})
        for gap, at in ((7, 46), (7, 59), (7, 60), (60, 100), (60, 115), (60, 118))
    ),
    # A reason that is new since then does.
    fires(
        "BridgeDeadLetters",
        62,
        {LETTERS: "_x58 3x60", START: "0x38 _x7 0x60"},
        "3 records of shop went to the dead letters (not_json)",
        reason="not_json",
    ),
    # A process that was there for a while, and another one an hour later.
    fires(
        "BridgeDeadLetters",
        105,
        {LETTERS: "9x25 stale _x73 2x60", START: "0x25 stale _x73 5940x60"},
        "2 records of shop went to the dead letters (not_json)",
        reason="not_json",
    ),
    fires(
        "BridgeDecodeFailures",
        30,
        {FAILURES: "_x30 101x60"},
        "101 records of shop cannot be decoded (not_json)",
        reason="not_json",
    ),
    quiet("BridgeDecodeFailures", 30, {FAILURES: "_x30 100x60"}),
    fires(
        "BridgeLateEvents",
        40,
        late("5x39 6x60"),
        "Table public.orders of shop got rows behind what another partition had landed",
        table="public.orders",
    ),
    fires(
        "BridgeLateEvents",
        40,
        late("5x30 6x60", "*"),
        "At least one table of shop got rows behind what another partition had landed",
        table="*",
    ),
    quiet("BridgeLateEvents", 40, late("5x60")),
    quiet("BridgeLateEvents", 40, late("5x60", "*")),
    quiet("BridgeLateEvents", 95, late("5x30 6x90")),
    fires(
        "BridgePositionReset",
        40,
        {"bridge_position_resets_total": "0x39 1x60"},
        "The bridge of shop saw the source's log positions begin anew",
    ),
    quiet("BridgePositionReset", 40, {"bridge_position_resets_total": "1x60"}),
)
