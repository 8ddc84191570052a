"""What a landing file says about itself: key-value metadata in the Parquet footer.

With it a lost ledger can be rebuilt from the files alone (architecture, "The ledger"): every file tells its place, its
schema, the table's state and how far each partition that feeds the table has come. Keys begin with ``cdc_bridge.``;
values are text, structures as JSON with sorted keys, so that equal footers are equal bytes.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from connectors.landing_zone import row_marker
from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.schema import PinnedSchema

PREFIX = "cdc_bridge."
WRITER = f"cdc-bridge format 1, pyarrow {pa.__version__}"
"""Version of what decides a file's bytes: the bridge's format and the Parquet library."""


class PartitionEnd(msgspec.Struct, frozen=True):
    """How far a partition had been landed into the table when the file was written.

    Attributes:
        offset: the next offset to land.
        position: the highest log position so far, as the ledger writes it; empty where the source has none.
    """

    offset: int
    position: str = ""


Vector = dict[str, dict[int, PartitionEnd]]
Ranges = dict[str, dict[int, tuple[int, int]]]

# Made before there is any thread: footers are read by several, and msgspec must not meet a type in two of them at once.
_SCHEMA = msgspec.json.Decoder(PinnedSchema)
_VECTOR = msgspec.json.Decoder(Vector)
_RANGES = msgspec.json.Decoder(Ranges)


@dataclass(frozen=True)
class Footer:
    """The place of a landing file in the table's history.

    Attributes:
        table: the zone's name of it, ``schema.table``.
        generation, sequence: which file of the table it is.
        commit: ordinal of the ledger's data commit that binds it.
        schema: the table's pinned schema.
        state: the table's state after this file, as JSON text.
        topics: Kafka's topic id by topic.
        vector: the end of every partition that feeds the table, whether or not the file has rows of it.
        ranges: ``[first, last]`` offsets of the events in the file, per topic and partition.
        writer: what wrote the file, see :data:`WRITER`.
    """

    table: str
    generation: int
    sequence: SequenceNumber
    commit: int
    schema: PinnedSchema
    state: str = "{}"
    topics: dict[str, str] = field(default_factory=dict)
    vector: Vector = field(default_factory=dict)
    ranges: Ranges = field(default_factory=dict)
    writer: str = WRITER

    def to_metadata(self) -> dict[str, str]:
        """Keys and values as the Parquet footer holds them."""
        return {
            f"{PREFIX}table": self.table,
            f"{PREFIX}generation": str(self.generation),
            f"{PREFIX}sequence": str(self.sequence),
            f"{PREFIX}commit": str(self.commit),
            f"{PREFIX}schema": _encode(self.schema),
            f"{PREFIX}state": self.state,
            f"{PREFIX}topics": _encode(self.topics),
            f"{PREFIX}vector": _encode(self.vector),
            f"{PREFIX}ranges": _encode(self.ranges),
            f"{PREFIX}writer": self.writer,
        }

    @staticmethod
    def from_metadata(metadata: Mapping[bytes, bytes] | Mapping[str, str], *, file: str = "") -> Footer:
        """The footer in a Parquet file's key-value metadata; keys of others are passed over.

        Raises:
            InvalidZoneError: a key is missing or cannot be read; ``file`` is named.
        """
        texts = {_text(key): _text(value) for key, value in metadata.items()}
        found = {key.removeprefix(PREFIX): value for key, value in texts.items() if key.startswith(PREFIX)}
        try:
            return Footer(
                table=found["table"],
                generation=int(found["generation"]),
                sequence=SequenceNumber(int(found["sequence"])),
                commit=int(found["commit"]),
                schema=_SCHEMA.decode(found["schema"]),
                state=found["state"],
                topics=msgspec.json.decode(found["topics"], type=dict[str, str]),
                vector=_VECTOR.decode(found["vector"]),
                ranges=_RANGES.decode(found["ranges"]),
                writer=found["writer"],
            )
        except KeyError as error:
            raise _unreadable(f"its footer has no {PREFIX}{error.args[0]}", file) from error
        except (ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise _unreadable(f"its footer cannot be read: {error}", file) from error


def read_footer(source: Path | bytes) -> Footer:
    """The footer of a landing file on the local disk, or of its content.

    Raises:
        InvalidZoneError: not a Parquet file, or none that the bridge has written.
    """
    file = source.name if isinstance(source, Path) else ""
    try:
        metadata = pq.read_metadata(str(source) if isinstance(source, Path) else io.BytesIO(source)).metadata
    except (pa.ArrowException, ValueError, OSError) as error:
        raise _unreadable(f"it is not a whole Parquet file: {error}", file) from error
    return Footer.from_metadata(metadata or {}, file=file)


def read_footer_and_rows(path: Path) -> tuple[Footer, dict[str, int]]:
    """As :func:`read_footer`, with the number of rows in the file per marker; ``""`` for a file without markers.

    Raises:
        InvalidZoneError: as there; or the file is damaged before its footer.
    """
    footer = read_footer(path)
    try:
        if row_marker.COLUMN not in pq.read_schema(str(path)).names:
            return footer, {"": pq.read_metadata(str(path)).num_rows}
        markers = pq.read_table(str(path), columns=[row_marker.COLUMN])[row_marker.COLUMN]
    except (pa.ArrowException, ValueError, OSError) as error:
        raise _unreadable(f"its rows cannot be read: {error}", path.name) from error
    counted = markers.value_counts().to_pylist()
    return footer, {str(one["values"]): one["counts"] for one in sorted(counted, key=lambda one: str(one["values"]))}


def _encode(value: object) -> str:
    return msgspec.json.encode(msgspec.to_builtins(value, str_keys=True), order="sorted").decode()


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _unreadable(what: str, file: str) -> InvalidZoneError:
    return InvalidZoneError(
        f"a landing file says nothing about its place: {what}",
        remedy="move the file out of the table's folder if another program wrote it; else restore it from a copy or, "
        "without one, `cdc-bridge resync CONFIG TABLE`",
        file=file or None,
    )
