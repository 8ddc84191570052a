"""``cdc-bridge status``: where every table stands."""

from __future__ import annotations

from streaming.commands.arguments import ConfigArgument
from streaming.console import JsonOption, print_json, results


def status(config: ConfigArgument, as_json: JsonOption = False) -> None:
    """Show each table's state, last file, rows and how far it is behind Kafka, and what Fabric makes of its files.

    Read from the ledger, Kafka and Fabric; nothing is written, and a running bridge is not disturbed.
    """
    from streaming.logs import log_nothing
    from streaming.reporting.status_view import read_status, show_status
    from streaming.settings import load_settings

    log_nothing()
    found = read_status(load_settings(config))
    if as_json:
        print_json(found.values())
    else:
        show_status(found, results())
