"""Where the events of a table begin that was made again at the source, or has got another one's name."""

from __future__ import annotations

from connectors.landing_zone.ledger.state import Dropped, RebuildKind
from streaming.landing.rows import OrderedRows
from streaming.landing.stops.stop import Stop
from streaming.landing.stops.truncates import truncate_rebuild
from streaming.plan import TableOptions
from streaming.policies import OnDrop, OnTruncate

TAKEN_REMEDY = "`cdc-bridge resync CONFIG TABLE`; or, if the rows may stay, `cdc-bridge resume CONFIG TABLE`"


def recreated_stop(events: OrderedRows, options: TableOptions, dropped: Dropped | None) -> Stop | None:
    """The stop at the first event, which is the first of the table that was made again; None to go on regardless."""
    if dropped is not None and dropped.taken_by and options.on_truncate is not OnTruncate.IGNORE:
        rebuild = RebuildKind.SNAPSHOT if options.on_truncate is OnTruncate.REBUILD else None
        return Stop.at(events, 0, "recreated", taken_text(dropped), TAKEN_REMEDY, rebuild)
    renamed = dropped is not None and bool(dropped.renamed or dropped.taken_by)
    if options.on_drop is OnDrop.DROP and not renamed:
        return Stop.at(
            events,
            0,
            "dropped",
            "the source dropped the table and made it again, and the settings have its mirror dropped with it",
            "nothing: the folder is deleted, and the events of the new table begin it anew",
            RebuildKind.KAFKA,
        )
    if options.on_truncate is OnTruncate.IGNORE:
        return None
    return Stop.at(
        events,
        0,
        "recreated",
        f"{made_again_text(dropped)}, so the mirrored rows from before are of a table that is gone",
        "`cdc-bridge resync CONFIG TABLE`; or set policies.on_truncate to ignore, if the rows may stay, and "
        "`cdc-bridge resume CONFIG TABLE`",
        truncate_rebuild(options),
    )


def made_again_text(dropped: Dropped | None) -> str:
    """What has happened before events of another table come, for people."""
    if dropped is not None and dropped.renamed:
        return f"the source renamed the table to {dropped.renamed} and made another one of its name"
    return "the source dropped the table and made it again"


def taken_text(dropped: Dropped) -> str:
    """That another table has the name, or this one has it again, for people."""
    if dropped.returned:
        return (
            f"the source renamed the table to {dropped.renamed}, and {dropped.taken_by} to the table's name again, so "
            "rows that changed in between are not in this mirror"
        )
    before = f"this one, which is {dropped.renamed} now," if dropped.renamed else "this one"
    return (
        f"the source renamed {dropped.taken_by} to the table's name in place of {before} so mirrored rows may be of "
        "the table that had the name before"
    )
