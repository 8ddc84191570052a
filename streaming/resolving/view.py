"""Resolving as a person sees it: what is known of the file, what was done, and what may be decided."""

from __future__ import annotations

import socket
import time
from typing import assert_never

from rich.console import Console
from rich.text import Text

from connectors.command_lines import command
from connectors.kafka.registry import Registry
from connectors.kafka.topics import Admin, existing_topics
from connectors.landing_zone.disputed import Copy, Disputed
from connectors.landing_zone.storage.open import open_storage
from streaming.job_options import job_options, storage_location
from streaming.kafka_options import kafka_config
from streaming.lifecycle.asking import asker, require_table
from streaming.resolving.decision import Decision, choices, taken_for
from streaming.resolving.remaking import Kafka, kafka_reader
from streaming.resolving.resolve import Outcome, Place, Resolved, resolve, stands_for_its_file
from streaming.settings import BridgeSettings
from streaming.wording import size_text
from streaming.zones.reading import head_state, reading_storage, require_own

KAFKA_SECONDS = 30.0


def resolve_table(settings: BridgeSettings, name: str, decision: Decision | None, *, look_only: bool) -> Resolved:
    """Bring the pending file of a table of these settings' bridge to its number; see :func:`resolve`.

    Raises:
        UnknownTableError: the ledger does not know the table.
        ZoneOwnedError: the zone belongs to another ledger.
    """
    opened = reading_storage if look_only else open_storage
    zone = opened(storage_location(settings, settings.landing_zone.url))
    state = opened(storage_location(settings, settings.state_url))
    head = head_state(state)
    require_table(name, head)
    require_own(zone, state, head)
    config, job = kafka_config(settings), job_options(settings)
    kafka = Kafka(
        topics=lambda names: existing_topics(Admin(config, timeout=KAFKA_SECONDS), names),
        read=kafka_reader(config, KAFKA_SECONDS),
        schemas=lambda: None if job.registry is None else Registry(job.registry),
    )
    place = Place(
        zone=zone,
        state=state,
        job=job,
        kafka=kafka,
        source=settings.name,
        by=asker(),
        host=socket.gethostname(),
        now_ms=lambda: time.time_ns() // 1_000_000,
    )
    return resolve(place, name, head.tables[name], decision, look_only=look_only)


def values(done: Resolved) -> dict[str, object]:
    """Plain values for a program."""
    disputed = done.disputed
    return {
        "table": done.name,
        "outcome": done.outcome.value,
        "written": done.written,
        "file": None if disputed is None else _file_values(disputed),
        "may_decide": [] if disputed is None else [one.value for one in choices(disputed.trouble)],
        "set_aside": list(done.aside),
        "asked_to_go_on": done.asked,
        "status": done.table.status.value,
        "remedy": "" if done.table.parked is None else done.table.parked.remedy,
    }


def _file_values(disputed: Disputed) -> dict[str, object]:
    file = disputed.file
    return {
        "number": file.sequence,
        "generation": file.generation,
        "sha256": file.sha256,
        "logical": file.logical,
        "bytes": file.bytes,
        "rows": file.rows,
        "ranges": {
            topic: {str(number): list(span) for number, span in partitions.items()}
            for topic, partitions in file.ranges.items()
        },
        "trouble": disputed.trouble.value,
        "staged": file.staged,
        "staged_sha256": disputed.staged,
        "copies": [
            {"path": one.path, "bytes": one.bytes, "sha256": one.sha256, "read": one.read, "ours": one.ours}
            for one in disputed.copies
        ],
        "highest": disputed.highest,
    }


def show(done: Resolved, console: Console) -> None:
    """Print what is known of the file, and what was or would be done."""
    if done.disputed is not None:
        _show_file(done.disputed, console)
    for path in done.aside:
        console.print(Text(f"moved aside to {path}"))
    console.print(Text(_sentence(done), style="bold"))
    if done.outcome is Outcome.UNDECIDED and done.disputed is not None:
        for one in choices(done.disputed.trouble):
            console.print(Text(f"  --decide {one.value}: {taken_for(one)}"))
        console.print(Text(f"  or {command('resync CONFIG {}', done.name)}, which takes nobody's word"))
    parked = done.table.parked
    if parked is not None and done.outcome is not Outcome.NOTHING and _stands_for_another_reason(done):
        console.print(Text(f"{done.name} stands still ({parked.reason}): {parked.remedy}"))
    if done.asked:
        console.print(Text("the next start of the bridge lets the table go on: `cdc-bridge run CONFIG`"))


def _show_file(disputed: Disputed, console: Console) -> None:
    file = disputed.file
    rows = sum(file.rows.values())
    console.print(Text(f"{file.table}, file {file.sequence} of generation {file.generation}", style="bold"))
    console.print(Text(f"  committed  {rows} rows, {size_text(file.bytes)}, sha256 {file.sha256}"))
    for topic, partitions in sorted(file.ranges.items()):
        spans = ", ".join(f"{number} from {first} to {last}" for number, (first, last) in sorted(partitions.items()))
        console.print(Text(f"  offsets    {topic}: partition {spans}"))
    console.print(Text(f"  staged     {_staged_text(disputed)}: {file.staged}"))
    for copy in disputed.copies:
        console.print(Text(f"  numbered   {_copy_text(copy)}"))
    if not disputed.copies:
        console.print(Text(f"  numbered   nothing; the highest number in the folder is {disputed.highest}"))


def _staged_text(disputed: Disputed) -> str:
    if disputed.staged is None:
        return "gone"
    return "whole" if disputed.whole else f"damaged (sha256 {disputed.staged})"


def _copy_text(copy: Copy) -> str:
    whose = "the bridge's" if copy.ours else "another's"
    read = "read by the replicator" if copy.read else "perhaps not read yet"
    return f"{whose}, {size_text(copy.bytes)}, {read}, sha256 {copy.sha256}: {copy.path}"


def _sentence(done: Resolved) -> str:
    number = 0 if done.disputed is None else done.disputed.file.sequence
    would = "" if done.written or done.outcome in (Outcome.NOTHING, Outcome.UNDECIDED) else "without --dry-run: "
    match done.outcome:
        case Outcome.NOTHING:
            parked = done.table.parked
            told = f"no file of {done.name} waits for its number; it is {done.table.status.value.replace('_', ' ')}"
            return told if parked is None or done.asked else f"{told} ({parked.reason}): {parked.remedy}"
        case Outcome.PUBLISHED:
            return f"{would}file {number} has its number"
        case Outcome.REMADE:
            return f"{would}file {number} is made again from Kafka with the same rows, and has its number"
        case Outcome.ASIDE:
            return f"{would}the other file is moved aside, and the bridge's file {number} has its number"
        case Outcome.CONSUMED:
            return f"{would}file {number} counts as read; {taken_for(Decision.CONSUMED)}"
        case Outcome.KEPT:
            return f"{would}the other file {number} stays; {taken_for(Decision.KEEP)}"
        case Outcome.UNDECIDED:
            return f"number {number} holds other content than the bridge has bound to it: somebody has to decide"
        case _:
            assert_never(done.outcome)


def needs_person(done: Resolved) -> bool:
    """Whether it is not resolved: nothing was decided, or the table stands still for another reason."""
    stands = done.outcome is Outcome.NOTHING and done.table.parked is not None and not done.asked
    return done.outcome is Outcome.UNDECIDED or stands or _stands_for_another_reason(done)


def _stands_for_another_reason(done: Resolved) -> bool:
    """Whether the table stands still however its file is resolved."""
    return done.table.parked is not None and not done.asked and not stands_for_its_file(done.table)
