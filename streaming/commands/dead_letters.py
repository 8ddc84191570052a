"""``cdc-bridge dead-letters``: the records that were set aside."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from streaming.commands.arguments import ConfigArgument, NoWaitOption
from streaming.console import JsonOption, people, print_json, results

app = typer.Typer(
    no_args_is_help=True,
    help="Records that were set aside: list them, look at one, have them land after all.",
    epilog="Example: cdc-bridge dead-letters list bridge.yaml",
)

_COORDINATES = "Where the record stood, as topic:partition:offset; `list` shows it."
TopicOption = Annotated[str | None, typer.Option("--topic", help="Only records of this topic.")]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Only letters with this reason.")]
LetterTableOption = Annotated[
    str | None, typer.Option("--table", help="Only records of this table's topics, as far as the ledger tells.")
]


@app.command("list", epilog="Example: cdc-bridge dead-letters list bridge.yaml --reason 'unknown schema id'")
def list_all(
    config: ConfigArgument,
    topic: TopicOption = None,
    reason: ReasonOption = None,
    table: LetterTableOption = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            "--since", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"], help="Only since then, UTC."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many, the newest.")] = 50,
    as_json: JsonOption = False,
) -> None:
    """Show the dead letters, oldest first; a record whose letter was sent again is shown once.

    Nothing is written, and a running bridge is not disturbed.
    """
    from streaming.dead_letters.listing import Choice
    from streaming.dead_letters.reading import chosen_letters
    from streaming.dead_letters.view import show_list
    from streaming.logs import log_nothing
    from streaming.settings import load_settings

    log_nothing()
    since_ms = None if since is None else int(since.replace(tzinfo=UTC).timestamp() * 1000)
    found = chosen_letters(load_settings(config), Choice(topic, reason, table, since_ms))
    if as_json:
        print_json([letter.values() for letter in found[-limit:]])
    else:
        show_list(found[-limit:], len(found), results())


@app.command(epilog="Example: cdc-bridge dead-letters show bridge.yaml shop.public.orders:0:4711 --raw out")
def show(
    config: ConfigArgument,
    coordinate: Annotated[str, typer.Argument(metavar="COORDINATE", help=_COORDINATES)],
    raw: Annotated[
        Path | None, typer.Option("--raw", metavar="DIR", help="Write the bytes of key and value to files in DIR.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show one dead letter in full: reason, headers, bytes, what to do, and what it decodes to by now."""
    from streaming.dead_letters.coordinates import Coordinates
    from streaming.dead_letters.reading import shown_letter
    from streaming.dead_letters.showing import write_raw
    from streaming.dead_letters.view import show_one
    from streaming.logs import log_nothing
    from streaming.settings import load_settings

    log_nothing()
    shown = shown_letter(load_settings(config), Coordinates.parse(coordinate))
    for path in () if raw is None else write_raw(shown.letter, raw):
        people().print(f"wrote {path}", markup=False)
    if as_json:
        print_json(shown.values())
    else:
        show_one(shown, results())


@app.command(epilog="Example: cdc-bridge dead-letters replay bridge.yaml --all --reason 'unknown schema id'")
def replay(
    config: ConfigArgument,
    coordinates: Annotated[
        list[str] | None, typer.Argument(metavar="COORDINATE", help=_COORDINATES, show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All that were not replayed yet.")] = False,
    reason: ReasonOption = None,
    table: LetterTableOption = None,
    no_wait: NoWaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Have dead letters land after all, once their cause is mended.

    Each is decoded again and lands as its table's next file, unless a newer event of its row has landed: then it is
    refused, with that event. None lands twice. Without a running bridge the request waits for its next start. Exit code
    1 if a letter is refused.
    """
    if every == bool(coordinates):
        raise typer.BadParameter("name records, or give --all", param_hint="COORDINATE")
    if not every and (reason is not None or table is not None):
        raise typer.BadParameter("--reason and --table choose among --all", param_hint="--all")
    from streaming.dead_letters.coordinates import Coordinates
    from streaming.dead_letters.listing import Choice
    from streaming.dead_letters.reading import chosen_letters
    from streaming.dead_letters.replay_view import replay_with_progress
    from streaming.dead_letters.view import show_replayed
    from streaming.lifecycle.asking_view import asking_of
    from streaming.logs import log_nothing
    from streaming.settings import load_settings

    log_nothing()
    settings = load_settings(config)
    if every:
        found = chosen_letters(settings, Choice(reason=reason, table=table))
        wanted = [letter.at for letter in found if not letter.replayed]
    else:
        wanted = [Coordinates.parse(text) for text in coordinates or ()]
    outcome = replay_with_progress(asking_of(settings), wanted, people(), wait=not no_wait)
    if outcome is None:
        raise typer.Exit(130)
    if as_json:
        print_json(outcome.values())
    elif not wanted:
        results().print("There are no such dead letters that were not replayed.")
    else:
        show_replayed(outcome, results())
    if outcome.failed:
        raise typer.Exit(1)
