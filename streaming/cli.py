"""``cdc-bridge``: the commands, and how each of them ends.

Exit codes: 0 done; 1 an error, or a finding of a command that looks for problems; 2 wrong usage; 130 interrupted.
No logic here: a command reads its arguments, calls one function and prints the result.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from connectors.errors import BridgeError
from streaming.commands import (
    adopt,
    check,
    config,
    dead_letters,
    demo,
    explain,
    ledger,
    pause,
    reconcile,
    replay,
    resolve,
    resume,
    resync,
    run,
    status,
    verify,
    version,
)
from streaming.console import EndedError, print_text, show_error, show_unexpected
from streaming.remedies import with_command

DEBUG_VARIABLE = "CDC_BRIDGE_DEBUG"

app = typer.Typer(
    name="cdc-bridge",
    help="Carries Debezium change events from Kafka into a Microsoft Fabric open-mirroring landing zone.",
    epilog="Example: cdc-bridge config example > bridge.yaml",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_EXPLAIN_EXAMPLE = "Example: cdc-bridge explain bridge.yaml --topic shop.public.orders --offset 4711"

app.command("run", epilog="Example: cdc-bridge run bridge.yaml --once")(run.run)
app.command("check", epilog="Example: cdc-bridge check bridge.yaml")(check.check)
app.command("explain", epilog=_EXPLAIN_EXAMPLE)(explain.explain)
app.command("status", epilog="Example: cdc-bridge status bridge.yaml --json")(status.status)
app.command("pause", epilog="Example: cdc-bridge pause bridge.yaml public.orders")(pause.pause)
app.command("resume", epilog="Example: cdc-bridge resume bridge.yaml public.orders")(resume.resume)
app.command("resync", epilog="Example: cdc-bridge resync bridge.yaml public.orders")(resync.resync)
app.command("resolve", epilog="Example: cdc-bridge resolve bridge.yaml public.orders --dry-run")(resolve.resolve)
app.command("adopt", epilog="Example: cdc-bridge adopt bridge.yaml --dry-run")(adopt.adopt)
app.command("replay", epilog="Example: cdc-bridge replay /zones/shop --to parquet out")(replay.replay)
app.command("verify", epilog="Example: cdc-bridge verify /zones/shop")(verify.verify)
_RECONCILE_EXAMPLE = "Example: cdc-bridge reconcile bridge.yaml --table public.orders"
app.command("reconcile", epilog=_RECONCILE_EXAMPLE)(reconcile.reconcile)
app.add_typer(dead_letters.app, name="dead-letters")
app.add_typer(ledger.app, name="ledger")
app.add_typer(config.app, name="config")
app.command("demo", epilog="Example: cdc-bridge demo --keep demo-output")(demo.demo)
app.command("version", epilog="Example: cdc-bridge version --json")(version.version)


def _print_version(asked: bool) -> None:
    if asked:
        print_text(f"cdc-bridge {version.own_version()}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help=f"Show an error's traceback ({DEBUG_VARIABLE}=1).")] = False,
    asked: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Options before the command; main() acts on them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; says on standard error what went wrong, if anything did."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    debug = "--debug" in given or os.environ.get(DEBUG_VARIABLE, "") not in ("", "0", "false")
    try:
        app(given, prog_name="cdc-bridge")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except EndedError as ended:
        show_error(with_command(ended.error, given), as_json=as_json, debug=debug)
        return ended.code
    except BridgeError as error:
        show_error(with_command(error, given), as_json=as_json, debug=debug)
        return 1
    except Exception as error:
        show_unexpected(error, as_json=as_json, debug=debug)
        return 1
    return 0
