"""Why a dead letter does not land, and what to do about it: the sentences that a person reads."""

from __future__ import annotations

from connectors.command_lines import command
from connectors.debezium.events import BadRecord, SkipReason
from connectors.errors import BridgeError
from connectors.landing_zone.ledger.state import Parked, TableState, TableStatus
from connectors.landing_zone.requests import Part
from streaming.dead_letters.coordinates import Coordinates
from streaming.landing.shaping.refusals import UNAVAILABLE_VALUE
from streaming.lifecycle.generations import AT_REST
from streaming.lifecycle.later_events import UNREADABLE, Found
from streaming.task.bad_records import MORE_TABLES, TOO_MANY_TABLES

LANDED_ALREADY = Part(accepted=True, message="it was replayed before; nothing was landed again")

NO_LETTER = Part(
    accepted=False,
    message="there is no dead letter of this record",
    remedy="`cdc-bridge dead-letters list CONFIG` shows those that there are",
)

NOT_PASSED = Part(
    accepted=False,
    message="the stream has not passed this record: an attempt that sent the letter was never committed",
    remedy="nothing: the stream decodes the record when it comes to it",
)

DIFFERS = Part(
    accepted=False,
    message="Kafka holds another record in its place, or none: the topic was created again since, or compacted",
    remedy="nothing, if the topic's records cover it; otherwise `cdc-bridge resync CONFIG TABLE`",
)

NOT_PROVEN = Part(
    accepted=False,
    message="the table has no key, and the ledger does not prove that the record was left out: it may have landed",
    remedy="look for the row in the mirrored table; if it is missing, `cdc-bridge resync CONFIG TABLE`",
)

SUPERSEDED = Part(
    accepted=False,
    message="the table was rebuilt since, and what it was rebuilt from contains the record's effect",
    remedy="nothing",
)


def landed_in(table: str, sequence: int, *, keyless: bool) -> Part:
    """It has landed."""
    order = "; it stands behind rows that are newer, and their order is lost" if keyless else ""
    return Part(accepted=True, message=f"landed in file {sequence:,} of {table}{order}")


def still_bad(bad: BadRecord) -> Part:
    """It cannot be decoded now either."""
    return Part(
        accepted=False,
        message=f"it still cannot be decoded ({bad.reason}): {bad.detail}",
        remedy="mend the settings and restart the bridge, or the schema registry, and replay it then; a record that is "
        "damaged for good is left to `cdc-bridge resync CONFIG TABLE`",
    )


def no_row(reason: SkipReason) -> Part:
    """It decodes, and says nothing about a row."""
    return Part(
        accepted=False,
        message=f"it carries no row that lands ({reason.value.replace('_', ' ')})",
        remedy="nothing, or change the settings that leave it out and restart the bridge",
    )


def standing(name: str, table: TableState) -> Part | None:
    """Why the table takes no letter now; None where it does."""
    if table.status in AT_REST:
        return None
    if table.status is TableStatus.PARKED and table.parked is not None:
        return Part(
            accepted=False,
            message=f"{name} stands still ({table.parked.reason}): {table.parked.message}",
            remedy=f"{command('resume CONFIG {}', name)} once the cause is mended, and replay the letter then",
        )
    return Part(
        accepted=False,
        message=f"{name} is {table.status.value.replace('_', ' ')}",
        remedy="replay the letter once `cdc-bridge status CONFIG` shows the table streaming",
    )


def would_park(name: str, parked: Parked) -> Part:
    """The table's policies would let it stand still at this event."""
    return Part(
        accepted=False,
        message=f"{name} would be parked by it ({parked.reason}): {parked.message}",
        remedy=parked.remedy,
    )


def left_out_again(bad: BadRecord) -> Part:
    """The table's policies, or the number of tables, leave the event out as they did before."""
    if bad.reason == TOO_MANY_TABLES:
        return Part(
            accepted=False,
            message=f"it would be left out again ({bad.reason}): {bad.detail}",
            remedy=f"{MORE_TABLES}, restart the bridge and replay the letter then",
        )
    option = "on_unavailable" if bad.reason == UNAVAILABLE_VALUE else "on_cast_failure"
    return Part(
        accepted=False,
        message=f"it would be left out again ({bad.reason}): {bad.detail}",
        remedy=f"the value is not in the record; set policies.{option} to null and restart the bridge to land NULL, or "
        "`cdc-bridge resync CONFIG TABLE`",
    )


def nothing_lands(notes: tuple[str, ...]) -> Part:
    """The event makes no row."""
    because = f": {'; '.join(notes)}" if notes else ""
    return Part(accepted=False, message=f"nothing of it lands{because}", remedy="nothing")


def newer_landed(name: str, newer: Found, *, letter: bool, at: Coordinates, excluded: bool = False) -> Part:
    """A newer event of the row has landed, or may have.

    Args:
        letter: the newer event is a dead letter itself that has not been replayed.
        excluded: the settings leave its operation out now.
    """
    resync = command("resync CONFIG {}", name)
    if newer.what == UNREADABLE:
        then = f"replay both letters then, or rebuild the table with {resync}" if letter else "replay the letter then"
        return Part(
            accepted=False,
            message=f"the later record {newer.at} cannot be decoded now, and may be a newer event of the row",
            remedy=f"restore the settings or the schema with which it landed, and {then}",
        )
    if letter:
        return Part(
            accepted=False,
            message=f"a newer event of the row is a dead letter too: {newer.at}",
            remedy=f"replay both at once: {command('dead-letters replay CONFIG {} {}', at, newer.at)}; if that one is "
            f"refused too, rebuild the table with {resync}",
        )
    if excluded:
        return Part(
            accepted=False,
            message="a newer event of the row may have landed before the settings left it out: "
            f"{newer.what} {newer.at}",
            remedy=f"nothing, if it has landed; otherwise rebuild the table with {resync}, which leaves the rows that "
            "the source has now",
        )
    match newer.what:
        case "truncate":
            remedy = "nothing: the truncate has removed the row"
        case "delete":
            remedy = "nothing: the row is deleted"
        case _:
            remedy = (
                "nothing, if that event has the whole row, as Debezium's creates, reads and updates do; otherwise "
                f"rebuild the table with {resync}"
            )
    return Part(accepted=False, message=f"a newer event of the row has landed: {newer.what} {newer.at}", remedy=remedy)


def of_error(error: BridgeError) -> Part:
    """What an error says."""
    return Part(accepted=False, message=error.message, remedy=error.remedy)
