"""A writer schema as the kernel walks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from connectors.debezium.avro_datum import DatumReader
from connectors.debezium.avro_expanded import AvroType
from connectors.debezium.avro_kernel.native import Kernel

_NO_CELL = -1


@dataclass(frozen=True)
class Node:
    """A type somewhere in the schema, of which the kernel notes the value, or where it is.

    Attributes:
        kind: Avro's name of the type; "null or T" is T, of which there may be no value, and any other union "union".
        schema: the type, decoded from JSON, which stands alone.
        cell: where the kernel notes it.
        members: of a record, by name.
        symbols: of an enum.
    """

    kind: str
    schema: AvroType
    cell: int
    members: Mapping[str, Node] = field(default_factory=dict)
    symbols: Sequence[str] = ()

    @cached_property
    def reader(self) -> DatumReader:
        """Reads a value from its own bytes."""
        return DatumReader(self.schema)

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing within its values."""
        return self.kind not in ("record", "array", "map", "union")


@dataclass
class _Step:
    """A node of the kernel's."""

    kind: str
    cell: int
    size: int = 0
    children: list[int] = field(default_factory=list)


class Program:
    """What the kernel needs to know of a schema.

    Args:
        schema: of the datums, as :func:`connectors.debezium.avro_expanded.expanded` writes it.

    Attributes:
        cells: how many the kernel notes of a datum.
        root: the datum.
        arrays: what ``pointer``, an ``avro_program``, points to.
    """

    def __init__(self, kernel: Kernel, schema: AvroType) -> None:
        self.kernel = kernel
        self.cells = 0
        steps: list[_Step] = []
        self.root = self._node(schema, steps, noted=True)
        children = [step.children for step in steps]
        ends = np.cumsum([0, *map(len, children)]).tolist()
        kinds = [getattr(kernel.lib, f"AVRO_{step.kind.upper()}") for step in steps]
        cells, sizes = [step.cell for step in steps], [step.size for step in steps]
        new = kernel.ffi.new
        self.arrays = (
            new("avro_node[]", list(zip(kinds, cells, ends[:-1], ends[1:], sizes, strict=True))),
            new("int32_t[]", list(chain.from_iterable(children))),
        )
        self.pointer: Any = new("avro_program *", self.arrays)

    def _node(self, schema: AvroType, steps: list[_Step], *, noted: bool) -> Node:
        """Adds a type and what is in it to the steps; where ``noted``, its values have a cell."""
        kind = "union" if isinstance(schema, list) else schema if isinstance(schema, str) else schema["type"]
        optional = kind == "union" and len(schema) == 2 and "null" in schema
        cell = self._cell() if noted and not optional and kind != "null" else _NO_CELL
        step = _Step(kind, cell)
        steps.append(step)

        def inside(part: AvroType, *, noted: bool) -> Node:
            step.children.append(len(steps))
            return self._node(part, steps, noted=noted)

        match kind:
            case "record":
                fields = {each["name"]: inside(each["type"], noted=noted) for each in schema["fields"]}
                return Node(kind, schema, cell, fields)
            case "union":
                found = [inside(branch, noted=noted and optional) for branch in schema]
                return found[1 - schema.index("null")] if optional else Node(kind, schema, cell)
            case "array" | "map":
                inside(schema["items" if kind == "array" else "values"], noted=False)
            case "fixed":
                step.size = schema["size"]
            case "enum":
                step.size = len(schema["symbols"])
                return Node(kind, schema, cell, symbols=schema["symbols"])
        return Node(kind, schema, cell)

    def _cell(self) -> int:
        self.cells += 1
        return self.cells - 1
