"""Whether the settings ask for the rebuild of a table that an event has parked.

The event asked for it under the settings of its time; the driver that comes to begin it may run with others.
"""

from __future__ import annotations

from streaming.lifecycle.generations import SECOND_SNAPSHOT, TRUNCATE
from streaming.plan import TableOptions
from streaming.policies import OnDrop, OnKeyChange, OnResnapshot, OnTruncate, OnTypeChange


def settings_ask(reason: str, options: TableOptions) -> bool:
    """Whether a table that was parked for this reason is to be rebuilt; True where no policy decides.

    Args:
        options: of the table, by the settings of now.
    """
    match reason:
        case reason if reason in (TRUNCATE, "recreated"):
            return options.on_truncate is OnTruncate.REBUILD
        case reason if reason == SECOND_SNAPSHOT:
            return options.on_resnapshot is OnResnapshot.REBUILD
        case "type_changed":
            return options.on_type_change is OnTypeChange.REBUILD
        case "key_changed":
            return options.on_key_change is OnKeyChange.REBUILD
        case "dropped":
            return options.on_drop is OnDrop.DROP
        case _:
            return True
