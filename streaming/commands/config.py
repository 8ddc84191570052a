"""``cdc-bridge config``: what a settings file may hold."""

from __future__ import annotations

import typer

from streaming.console import JsonOption, print_json, print_text

app = typer.Typer(
    no_args_is_help=True,
    help="What a settings file may hold.",
    epilog="Example: cdc-bridge config example > bridge.yaml",
)


@app.command(epilog="Example: cdc-bridge config schema > bridge.schema.json")
def schema(_as_json: JsonOption = False) -> None:
    """Print the JSON Schema of a settings file, for editors and other checks; it is JSON with and without --json."""
    from streaming.settings import BridgeSettings

    print_json(BridgeSettings.model_json_schema())


@app.command(epilog="Example: cdc-bridge config example > bridge.yaml")
def example(as_json: JsonOption = False) -> None:
    """Print a commented settings file with every key that there is; with --json the values that it sets."""
    from streaming.settings.example import example_yaml
    from streaming.settings.yaml_document import parse_yaml

    if as_json:
        print_json(parse_yaml(example_yaml()).values)
    else:
        print_text(example_yaml())
