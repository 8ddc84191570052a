"""``cdc-bridge ledger rebuild``: a lost ledger made again from the landing zone, and what becomes of each table."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from connectors.landing_zone.errors import LedgerCorruptError, LedgerWholeError
from connectors.landing_zone.ledger.apply import Stamp
from connectors.landing_zone.ledger.copying import is_newer, read_copy
from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.lost import RebuiltLedger, rebuilt_ledger
from connectors.landing_zone.ledger.lost_table import FoundTable, Proof
from connectors.landing_zone.ledger.owner import read_owner
from connectors.landing_zone.ledger.remains import newest_copy, put_in_place
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.vacuum import drop_staged, vacuum
from streaming.settings import BridgeSettings
from streaming.wording import count_text
from streaming.zones.reading import THREADS, head_state, require_own, state_storage, zone_storage


@dataclass(frozen=True)
class LedgerRebuild:
    """What making a ledger again came to.

    Attributes:
        written: version of the ledger that it begins with; None where it was only looked at.
        aside: files of the damaged ledger that were set aside.
    """

    rebuilt: RebuiltLedger
    written: int | None
    aside: tuple[str, ...] = ()

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        state = self.rebuilt.state
        return {
            "written_version": self.written,
            "copied_version": self.rebuilt.copied,
            "ledger_id": state.ledger_id,
            "epoch": state.epoch,
            "topics": {topic: known.partitions for topic, known in state.topics.items()},
            "tables": [found_values(one) for one in self.rebuilt.tables],
            "set_aside": list(self.aside),
        }


def rebuild_ledger(
    settings: BridgeSettings,
    *,
    look_only: bool,
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> LedgerRebuild:
    """Make the ledger again, from the newest copy of its state and the footers of the tables' last files.

    Args:
        look_only: find out what it would be, and write nothing.

    Raises:
        LedgerWholeError: the ledger is not lost.
        ZoneOwnedError: the state storage has the ledger of another zone.
        LedgerFormatError: a newer release has written the ledger.
        InvalidZoneError: no ledger has ever owned the zone.
        Transient: a storage does not answer.
    """
    return make_ledger_again(zone_storage(settings), state_storage(settings), look_only=look_only, now_ms=now_ms)


def make_ledger_again(
    zone: Storage, state: Storage, *, look_only: bool, now_ms: Callable[[], int], threads: int = THREADS
) -> LedgerRebuild:
    """As :func:`rebuild_ledger`, of a zone and a state storage.

    Args:
        threads: tables looked at side by side.
    """
    require_lost(zone, state, threads=threads)
    owner = read_owner(zone)
    copy = None if owner is None else newest_copy(zone, state, owner.ledger_id)
    if owner is not None and not look_only:
        # A rename that a dead driver has sent may still be on its way, and must not be done behind the look.
        drop_staged(zone, copy)
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-ledger-") as work:
        rebuilt = rebuilt_ledger(zone, copy, work=Path(work), threads=threads)
    if look_only:
        return LedgerRebuild(rebuilt, None)
    stamp = Stamp(writer="cdc-bridge ledger rebuild", host=socket.gethostname(), attempt=1, written_ms=now_ms())
    aside = put_in_place(state, rebuilt.state, stamp)
    # A driver that sleeps with a committed file in hand would give it its number when it wakes up.
    vacuum(zone, state, msgspec.structs.replace(rebuilt.state, epoch=rebuilt.state.epoch + 1), threads=threads)
    return LedgerRebuild(rebuilt, rebuilt.state.version + 1, aside)


def require_lost(zone: Storage, state: Storage, *, threads: int = THREADS) -> None:
    """Return if the state storage has no ledger that could go on.

    Args:
        threads: versions read side by side.

    Raises:
        LedgerWholeError: it has; ZoneOwnedError: it has another zone's.
    """
    copy = read_copy(zone)
    try:
        head = head_state(state)
    except LedgerCorruptError:
        return
    if head.version == 0:
        return
    require_own(zone, state, head)
    if is_newer(copy, head):
        return
    try:
        for _ in versions(state, threads=threads):
            pass
    except LedgerCorruptError:
        return  # a start stops at it, as soon as it reads that far back
    raise LedgerWholeError(
        f"the ledger is not lost: it is at version {head.version}, last written by {head.writer}",
        remedy="nothing was changed; `cdc-bridge status CONFIG` shows why a table stands still",
        state=state.url,
    )


def show_rebuild(done: LedgerRebuild, console: Console) -> None:
    """Print the tables, what each rests on, and where the ledger goes on."""
    show_tables(done.rebuilt.tables, console)
    console.print(Text(summary_text(done), style="bold"))


def show_tables(tables: Sequence[FoundTable], console: Console) -> None:
    """Print what was found of each table, and what becomes of it."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Table", "Last file", "Known from", "Goes on"):
        shown.add_column(heading, overflow="fold")
    for one in tables:
        shown.add_row(one.name, str(one.last or "-"), _proof_text(one.proof), _outcome_text(one))
    console.print(shown)


def summary_text(done: LedgerRebuild) -> str:
    """One line: what it rests on, how many tables stand still, and what was written."""
    still = sum(needs_person(one) for one in done.rebuilt.tables)
    copied = done.rebuilt.copied
    ground = (
        "no copy of the ledger was found, so nothing is proven"
        if copied is None
        else f"from the copy of version {copied}"
    )
    counted = f"{count_text(len(done.rebuilt.tables), 'table')}, {still} of them need a person"
    if done.written is None:
        better = "; `cdc-bridge adopt CONFIG --dry-run` shows what the folders prove" if copied is None else ""
        return f"{counted}; {ground}; nothing was written{better}"
    kept = f"; {count_text(len(done.aside), 'file')} of the old one set aside" if done.aside else ""
    return f"{counted}; {ground}; the ledger begins again with version {done.written}{kept}"


def found_values(one: FoundTable) -> dict[str, object]:
    """Plain values of what was found of a table."""
    return {
        "table": one.name,
        "folder": one.folder,
        "last_file": one.last,
        "proof": one.proof.value,
        "known": one.state is not None,
        "status": None if one.state is None else one.state.status.value,
        "why": one.why,
    }


def needs_person(one: FoundTable) -> bool:
    """Whether the table does not go on by itself."""
    return one.state is None or one.state.parked is not None


def _proof_text(proof: Proof) -> str:
    texts = {Proof.COPY: "the ledger's copy", Proof.FOOTER: "its last file", Proof.WORD: "your word", Proof.NONE: "-"}
    return texts[proof]


def _outcome_text(one: FoundTable) -> str:
    if one.state is None:
        return f"no: {one.why or 'nothing tells which source table it is'}; its folder is left alone"
    if one.state.parked is None:
        return "yes"
    return f"stands still ({one.state.parked.reason}): {one.state.parked.message}; {one.state.parked.remedy}"
