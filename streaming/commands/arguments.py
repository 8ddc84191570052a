"""Arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigArgument = Annotated[Path, typer.Argument(metavar="CONFIG", help="The settings file, YAML.")]

ZoneArgument = Annotated[str, typer.Argument(metavar="ZONE", help="The landing zone: a folder, or a storage URL.")]

StateOption = Annotated[
    str | None,
    typer.Option(
        "--state", help="Where the zone's ledger is: a folder or URL. Default: <ZONE>-state, beside the zone."
    ),
]

TableArgument = Annotated[str, typer.Argument(metavar="TABLE", help="The table, named as `status` does.")]

NoWaitOption = Annotated[bool, typer.Option("--no-wait", help="Only leave the request for the driver.")]
