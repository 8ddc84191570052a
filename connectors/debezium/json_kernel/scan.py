"""One walk over records, and where their members' values are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from connectors.debezium.bodies import Bodies
from connectors.debezium.events import Bools, Int64s
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_kernel.texts import texts_of

_CELLS = 1_000_000
"""Values that are looked for at a time, wanted or absent: what is kept of each takes nine bytes."""


@dataclass(frozen=True)
class Wanted:
    """A member of a record, or of an object in it.

    Attributes:
        name: without quotes, backslashes and control characters.
        members: what is wanted of its value where that is an object; empty where the value is wanted whole.
    """

    name: str
    members: tuple[Wanted, ...] = ()


@dataclass(frozen=True)
class Slot:
    """Where a member's cells are.

    Attributes:
        member: its number.
        parent: that of the object around it; -1 for the record.
        required: a record with that object and without the member is handed over.
    """

    member: int
    parent: int
    required: bool


class Program:
    """What is wanted of a record, as the kernel reads it.

    Args:
        closed: True where a record with any other member is handed over.

    Attributes:
        size: the number of members, of all objects together.
    """

    def __init__(self, kernel: Kernel, members: Sequence[Wanted], *, closed: bool = False) -> None:
        self.kernel = kernel
        self._numbers: dict[tuple[str, ...], tuple[int, int]] = {}
        first, tokens = [0], [b""]
        child: list[int] = []
        objects: list[tuple[tuple[str, ...], int, Sequence[Wanted]]] = [((), -1, members)]
        for path, parent, wanted in objects:
            for member in wanted:
                number = len(child)
                self._numbers[(*path, member.name)] = number, parent
                child.append(len(objects) if member.members else -1)
                if member.members:
                    objects.append(((*path, member.name), number, member.members))
                tokens.append(b'"' + member.name.encode() + b'":')
            first.append(len(child))
        self.size = len(child)
        new = kernel.ffi.new
        self._held = (
            new("int32_t[]", first),
            new("uint8_t[]", b"".join(tokens) or b"\0"),
            new("int32_t[]", np.cumsum([len(token) for token in tokens]).tolist()),
            new("int32_t[]", child),
            closed,
        )
        self.pointer: Any = new("json_program *", self._held)

    def slot(self, *path: str, required: bool) -> Slot:
        """Where the member of these names is."""
        member, parent = self._numbers[path]
        return Slot(member, parent, required)

    def parts(self, bodies: Bodies) -> Iterator[tuple[int, Bodies]]:
        """The records, as many at a time as one scan is to have, with the place of each part's first; one or more."""
        together = max(1, _CELLS // max(1, self.size))
        for start in range(0, max(1, len(bodies)), together):
            yield start, bodies.part(start, start + together)


class Scan:
    """What a program's members are in some records.

    Attributes:
        status: per record, not 0 where it is handed over: it is decoded elsewhere, and what columns have of it is void.
    """

    def __init__(self, program: Program, bodies: Bodies) -> None:
        self.kernel = program.kernel
        self.count = len(bodies)
        self.kinds = np.zeros((program.size, self.count), dtype=np.uint8)
        self.sizes = np.zeros(program.size, dtype=np.int64)
        self.status = np.zeros(self.count, dtype=np.uint8)
        spans = np.empty((program.size, self.count, 2), dtype=np.uint32)
        ffi = self.kernel.ffi
        self.texts = texts_of(bodies, self.kernel)
        self._held = (
            ffi.from_buffer("uint8_t[]", self.kinds),
            ffi.cast("json_span *", ffi.from_buffer("uint32_t[]", spans)),
            ffi.from_buffer("int64_t[]", self.sizes),
            ffi.from_buffer("uint8_t[]", self.status),
        )
        self._spans = spans
        self._bodies = bodies
        self.cells: Any = ffi.new("json_cells *", self._held)
        self.kernel.lib.json_scan(self.texts.pointer, program.pointer, self.cells)

    def objects(self, slot: Slot) -> Bools:
        """The records in which the member is an object; those in which it is neither that nor null are handed over."""
        kinds = self.kinds[slot.member]
        found: Bools = kinds == self.kernel.lib.JSON_OBJECT
        others = ~found if slot.required else ~found & (kinds > self.kernel.lib.JSON_NULL)
        self.status[others] = 1
        return found

    def is_same(self, slot: Slot) -> bool:
        """Whether the member is the same in all records but those that are handed over."""
        return bool(self.kernel.lib.json_same(self.texts.pointer, self.cells, slot.member))

    def text(self, slot: Slot, place: int) -> bytes | None:
        """A value as it stands in its record; ``None`` where the member is absent."""
        if self.kinds[slot.member, place] == self.kernel.lib.JSON_ABSENT:
            return None
        start, end = self._spans[slot.member, place].tolist()
        return self._bodies[place][start:end]

    def handed_over(self) -> Int64s:
        """The places of the records that are decoded elsewhere."""
        return np.flatnonzero(self.status)
