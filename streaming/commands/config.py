"""``cdc-bridge config``: what a settings file may hold."""

from __future__ import annotations

import typer

from streaming.console import print_json, print_text

app = typer.Typer(no_args_is_help=True, help="What a settings file may hold.")


@app.command(epilog="Example: cdc-bridge config schema > bridge.schema.json")
def schema() -> None:
    """Print the JSON Schema of a settings file, for editors and other checks."""
    from streaming.settings import BridgeSettings

    print_json(BridgeSettings.model_json_schema())


@app.command(epilog="Example: cdc-bridge config example > bridge.yaml")
def example() -> None:
    """Print a commented settings file with every key that there is."""
    from streaming.settings.example import example_yaml

    print_text(example_yaml())
