"""``cdc-bridge resume``: let one table go on."""

from __future__ import annotations

from streaming.commands.arguments import ConfigArgument, NoWaitOption, TableArgument
from streaming.commands.requested import conclude
from streaming.console import JsonOption, people


def resume(
    config: ConfigArgument, table: TableArgument, no_wait: NoWaitOption = False, as_json: JsonOption = False
) -> None:
    """Let a parked or paused table go on: it catches up from Kafka and joins the others.

    Mend what parked it first, and restart the bridge if that was in the settings. Refused where Kafka's retention has
    removed what the table passed over. Without a running bridge the request waits for its next start. Exit code 1 if it
    is refused, or if the table is parked again.
    """
    from streaming.lifecycle.asking_view import asking_of, resume_table, waited
    from streaming.logs import log_nothing
    from streaming.settings import load_settings

    log_nothing()
    asking = asking_of(load_settings(config))
    outcome = waited(lambda: resume_table(asking, table, people(), wait=not no_wait), people())
    conclude(outcome, as_json=as_json)
