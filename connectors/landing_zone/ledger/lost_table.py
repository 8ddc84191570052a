"""What a table's folder says of it once the ledger is lost: the footer of its last file, beside what a copy says."""

from __future__ import annotations

import enum
import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from connectors.landing_zone.errors import InvalidZoneError, PathNotFoundError
from connectors.landing_zone.footer import Footer, read_footer_and_rows
from connectors.landing_zone.layout import table_of_folder
from connectors.landing_zone.ledger.state import LedgerState, TableState
from connectors.landing_zone.published import PublishedFiles, published_files
from connectors.landing_zone.storage.protocol import Storage

Offsets = dict[str, dict[int, int]]
"""By topic and partition."""

_STATE = msgspec.json.Decoder(TableState)
"""Made before there is any thread, see :mod:`connectors.landing_zone.ledger.version_file`."""


class Proof(enum.StrEnum):
    """What a table's state is taken from."""

    COPY = "copy"
    """The copy of the ledger's state: the folder has not gone on since."""
    FOOTER = "footer"
    """The footer of the table's last file."""
    NONE = "none"
    """Neither: the table stands still, or is not known to the ledger any more."""


@dataclass(frozen=True)
class FoundTable:
    """What the zone tells of one table.

    Attributes:
        name: ``schema.table``; folder: in the zone.
        last: the highest number seen; 0 for none.
        state: as it goes on; None where there is no ground for one.
        why: why it cannot go on by itself; empty where it can.
        footer: of the last file, where that is what the state was taken from.
    """

    name: str
    folder: str
    last: int
    proof: Proof
    state: TableState | None = None
    why: str = ""
    footer: Footer | None = None


def found_table(zone: Storage, folder: str, known: str | None, base: LedgerState, work: Path) -> FoundTable | None:
    """What a folder tells; None for one that holds no numbered file and is no table's.

    Args:
        known: what the copy calls the table; None where the copy does not know it.
        base: the copy.
        work: a local folder for files while their footers are read.

    Raises:
        Transient: the storage failed.
    """
    files = published_files(zone, folder)
    last = 0 if files is None else files.highest
    copied = None if known is None else base.tables[known]
    if files is None or not last:
        return None if copied is None else FoundTable(str(known), folder, 0, Proof.COPY, copied)
    try:
        name = known or str(table_of_folder(folder))
    except InvalidZoneError as error:
        return FoundTable(folder, folder, last, Proof.NONE, why=error.message)
    read = _footer(zone, files, last, work)
    if isinstance(read, str):
        if copied is not None and last <= copied.sequence:
            return FoundTable(name, folder, last, Proof.COPY, copied)
        return FoundTable(name, folder, last, Proof.NONE, _numbered(copied, last), read)
    footer, sha256, rows = read
    if copied is not None and footer.generation <= copied.generation and last <= copied.sequence:
        # Where the copy's own last file is not there, the next start says so.
        return FoundTable(name, folder, last, Proof.COPY, copied)
    if (footer.table, footer.sequence) != (name, last):
        why = f"file {last} says that it is file {footer.sequence} of {footer.table}"
        return FoundTable(name, folder, last, Proof.NONE, _numbered(copied, last), why)
    return FoundTable(name, folder, last, Proof.FOOTER, _from_footer(footer, copied, sha256, rows), footer=footer)


def _numbered(copied: TableState | None, last: int) -> TableState | None:
    return None if copied is None else replace(copied, sequence=max(last, copied.sequence))


def _footer(zone: Storage, files: PublishedFiles, number: int, work: Path) -> tuple[Footer, str, int] | str:
    """The footer of a numbered file, the digest of its bytes and its rows; or why it has none."""
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=work) as local:
        try:
            for chunk in zone.read_chunks(files.by_number[number][0].path):
                digest.update(chunk)
                local.write(chunk)
        except PathNotFoundError:
            return f"file {number} was moved while it was read; make the ledger again"
        local.flush()
        try:
            footer, rows = read_footer_and_rows(Path(local.name))
        except InvalidZoneError as error:
            return f"file {number} does not say where it belongs: {error.message}"
        return footer, digest.hexdigest(), rows


def _from_footer(footer: Footer, copied: TableState | None, sha256: str, rows: int) -> TableState:
    """The state of a table after the file with this footer; what only people look at stays as the copy has it."""
    carried = _STATE.decode(footer.state)
    starts = {topic: {**carried.starts.get(topic, {}), **ends} for topic, ends in ends_of(footer).items()}
    told = copied or carried
    return replace(
        carried,
        generation=footer.generation,
        sequence=int(footer.sequence),
        schema=str(footer.schema.fingerprint),
        sha256=sha256,
        starts={**carried.starts, **starts},
        rows=told.rows or {"": rows},
        heard_ms=told.heard_ms,
        gone=told.gone,
        ignored_values=told.ignored_values,
        late=told.late,
        dead_letters=told.dead_letters,
        source_ms=told.source_ms,
    )


def ends_of(footer: Footer) -> Offsets:
    """Where each partition that feeds the table ended when the file was written."""
    return {topic: {number: end.offset for number, end in ends.items()} for topic, ends in footer.vector.items()}
