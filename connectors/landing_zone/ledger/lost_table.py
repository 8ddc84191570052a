"""What a table's folder says of it once the ledger is lost: the footer of its last file, beside what a copy says."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from connectors.landing_zone.errors import InvalidZoneError, PathNotFoundError
from connectors.landing_zone.footer import Footer, read_footer_and_rows
from connectors.landing_zone.layout import table_of_folder
from connectors.landing_zone.ledger.state import LedgerState, TableState, TableStatus
from connectors.landing_zone.published import PublishedFiles, published_files
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.storage.protocol import Storage

Offsets = dict[str, dict[int, int]]
"""By topic and partition."""

_LANDING = (TableStatus.LOADING, TableStatus.STREAMING)

_STATE = msgspec.json.Decoder(TableState)
"""Made before there is any thread, see :mod:`connectors.landing_zone.ledger.version_file`."""


class Proof(enum.StrEnum):
    """What a table's state is taken from."""

    COPY = "copy"
    """The copy of the ledger's state: the folder has not gone on since."""
    FOOTER = "footer"
    """The footer of the table's last file, which says how far it has come; beside the copy, where there is one."""
    WORD = "word"
    """What lies in the folder, and somebody's word for how far it has come."""
    NONE = "none"
    """Neither proves it: the table stands still, or is not known to the ledger any more."""


@dataclass(frozen=True)
class FoundTable:
    """What the zone tells of one table.

    Attributes:
        name: ``schema.table``; folder: in the zone.
        last: the highest number seen; 0 for none.
        state: as it goes on; None where there is no ground for one.
        why: why it cannot go on by itself; empty where it can.
        footer: of the last file, where the state is taken from it.
        schema: its columns, where they are read from files.
    """

    name: str
    folder: str
    last: int
    proof: Proof
    state: TableState | None = None
    why: str = ""
    footer: Footer | None = None
    schema: PinnedSchema | None = None


@dataclass(frozen=True)
class _LastFile:
    """A table's last file: digest and rows, and its footer or why it has none."""

    sha256: str
    rows: dict[str, int] = field(default_factory=dict)
    footer: Footer | None = None
    why: str = ""


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
    file = _last_file(zone, files, last, work)
    unproven = None if copied is None else replace(copied, sequence=max(last, copied.sequence))
    if file.footer is None:
        if copied is not None and (last < copied.sequence or file.sha256 == _digest_of(copied, name, base)):
            # Where the copy's own last file is not there, the next start says so.
            return FoundTable(name, folder, last, Proof.COPY, copied)
        return FoundTable(name, folder, last, Proof.NONE, unproven, file.why)
    if (file.footer.table, file.footer.sequence) != (name, last):
        why = f"file {last} says that it is file {file.footer.sequence} of {file.footer.table}"
        return FoundTable(name, folder, last, Proof.NONE, unproven, why)
    return _told(FoundTable(name, folder, last, Proof.FOOTER, footer=file.footer), file.footer, copied, file)


def _told(found: FoundTable, footer: Footer, copied: TableState | None, file: _LastFile) -> FoundTable:
    """The table whose last file tells of itself, beside what the copy says of it."""
    carried = _from_footer(footer, copied, file)
    if copied is None:
        return dataclasses.replace(found, proof=Proof.NONE, state=carried, why="the ledger's copy does not know it")
    if footer.generation != copied.generation:
        if found.last <= copied.sequence and footer.generation < copied.generation:
            return dataclasses.replace(found, proof=Proof.COPY, state=copied, footer=None)
        why = "it began anew after the ledger's copy"
        return dataclasses.replace(found, proof=Proof.NONE, state=carried, why=why)
    if found.last <= copied.sequence:
        return dataclasses.replace(found, proof=Proof.COPY, state=copied, footer=None)
    if copied.status not in _LANDING or carried.status not in _LANDING:
        why = f"it was {copied.status.value.replace('_', ' ')} at the ledger's copy, and has landed more since"
        return dataclasses.replace(found, proof=Proof.NONE, state=carried, why=why)
    if copied.column_numbers and not _begins_with(footer.schema, copied.schema):
        why = "the columns of its last file do not begin with those of the ledger's copy"
        return dataclasses.replace(found, proof=Proof.NONE, state=carried, why=why)
    return dataclasses.replace(found, state=carried)


def _begins_with(schema: PinnedSchema, fingerprint: str) -> bool:
    """Whether the schema was the one with this fingerprint before columns were added to it."""
    columns = schema.columns
    return any(str(PinnedSchema(columns[:end]).fingerprint) == fingerprint for end in range(len(columns), 0, -1))


def _digest_of(copied: TableState, name: str, base: LedgerState) -> str:
    """Digest of the last file that the copy knows of."""
    pending = base.pending.get(name)
    return copied.sha256 if pending is None else pending.sha256


def _last_file(zone: Storage, files: PublishedFiles, number: int, work: Path) -> _LastFile:
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=work) as local:
        try:
            for chunk in zone.read_chunks(files.by_number[number][0].path):
                digest.update(chunk)
                local.write(chunk)
        except PathNotFoundError:
            return _LastFile("", why=f"file {number} was moved while it was read; make the ledger again")
        local.flush()
        try:
            footer, rows = read_footer_and_rows(Path(local.name))
        except InvalidZoneError as error:
            why = f"file {number} does not say where it belongs: {error.message}"
            return _LastFile(digest.hexdigest(), why=why)
        return _LastFile(digest.hexdigest(), rows, footer)


def _from_footer(footer: Footer, copied: TableState | None, file: _LastFile) -> TableState:
    """The state of a table after the file with this footer; what no footer says stays as the copy has it.

    What the source's catalog and schema changes have told is of the copy's moment. It is never too new: the catalog is
    looked into again, and the changes behind the copy's offsets are read again.
    """
    carried = _STATE.decode(footer.state)
    told = copied or carried
    same = told if told.generation == footer.generation else carried
    return replace(
        carried,
        generation=footer.generation,
        sequence=int(footer.sequence),
        schema=str(footer.schema.fingerprint),
        sha256=file.sha256,
        landed_to=_landed_to(footer, same),
        rows=_rows_after(carried, footer, file, told),
        rebuild=told.rebuild,
        unseen=told.unseen,
        metadata=told.metadata,
        heard_ms=told.heard_ms,
        doubt_ms=told.doubt_ms,
        gone=told.gone,
        relation=same.relation,
        renamed_columns=same.renamed_columns,
        column_numbers=same.column_numbers,
        # A topic that the file's batch has read is not left out any more, or was once more: the next start says which.
        left_out=tuple(topic for topic in told.left_out if topic not in footer.topics),
        loaded_ms=_loaded_ms(carried, same),
        ignored_values=told.ignored_values,
        late=told.late,
        dead_letters=told.dead_letters,
        source_ms=told.source_ms,
    )


def _landed_to(footer: Footer, known: TableState) -> Offsets:
    """Where each partition has not landed yet: by the file or, where that was made of records read again, by the copy.

    Args:
        known: of the file's generation; that its topics are the file's is looked at before the table goes on.
    """
    ends = ends_of(footer)
    return {
        topic: _furthest(ends.get(topic, {}), known.landed_to.get(topic, {}))
        for topic in sorted({*ends, *known.landed_to})
    }


def _furthest(ends: dict[int, int], others: dict[int, int]) -> dict[int, int]:
    return {number: max(ends.get(number, 0), others.get(number, 0)) for number in sorted({*ends, *others})}


def _loaded_ms(carried: TableState, known: TableState) -> int:
    """As the footer says; as the copy has it where an earlier release's does not, if no later load has landed since."""
    return carried.loaded_ms or (known.loaded_ms if known.loaded == carried.loaded else 0)


def _rows_after(carried: TableState, footer: Footer, file: _LastFile, told: TableState) -> dict[str, int]:
    """Rows landed per marker up to the last file; as the copy has it where earlier releases' footers do not say."""
    if not carried.rows and int(footer.sequence) > 1:
        return told.rows or file.rows
    return {
        marker: carried.rows.get(marker, 0) + file.rows.get(marker, 0) for marker in sorted({*carried.rows, *file.rows})
    }


def state_from_footer(footer: Footer, sha256: str, rows: dict[str, int]) -> TableState:
    """The state of a table after the file with this footer, as far as the footer alone tells.

    Args:
        sha256: of that file; rows: in the table's files so far, per marker.
    """
    carried = _from_footer(footer, None, _LastFile(sha256, footer=footer))
    return replace(carried, rows=rows, landed_to=ends_of(footer))


def ends_of(footer: Footer) -> Offsets:
    """Where each partition that feeds the table ended when the file was written."""
    return {topic: {number: end.offset for number, end in ends.items()} for topic, ends in footer.vector.items()}
