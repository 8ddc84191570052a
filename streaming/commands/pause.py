"""``cdc-bridge pause``: let one table stand still."""

from __future__ import annotations

from streaming.commands.arguments import ConfigArgument, NoWaitOption, TableArgument
from streaming.commands.requested import conclude
from streaming.console import JsonOption, people


def pause(
    config: ConfigArgument, table: TableArgument, no_wait: NoWaitOption = False, as_json: JsonOption = False
) -> None:
    """Let one table stand still while all others go on.

    What passes by meanwhile stays in Kafka, and `resume` lands it. Without a running bridge the request waits for its
    next start. Exit code 1 if it is refused.
    """
    from streaming.lifecycle.asking_view import asking_of, pause_table, waited
    from streaming.logs import log_nothing
    from streaming.settings import load_settings

    log_nothing()
    asking = asking_of(load_settings(config))
    outcome = waited(lambda: pause_table(asking, table, people(), wait=not no_wait), people())
    conclude(outcome, as_json=as_json)
