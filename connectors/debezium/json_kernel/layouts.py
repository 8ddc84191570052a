"""Records of one layout as columns, and the places of those that msgspec has to decode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from connectors.debezium.bodies import Bodies
from connectors.debezium.events import Int64s
from connectors.debezium.json_kernel import gather
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_kernel.rows import RowColumns, wanted_columns
from connectors.debezium.json_kernel.scan import Program, Scan, Wanted
from connectors.debezium.json_kernel.values import Value
from connectors.debezium.json_members import is_plain_name
from connectors.debezium.json_reading import Found
from connectors.debezium.json_structs import RowStruct
from connectors.debezium.unsigned import Values


class Reader(ABC):
    """Reads records of one layout."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def read(self, bodies: Bodies) -> tuple[Found, Int64s]:
        """What each record holds, and the places of the records, ascending, of which that is void."""
        parts: list[Found] = []
        left: list[Int64s] = []
        for start, part in self._program.parts(bodies):
            scan = Scan(self._program, part)
            parts.append(self._found(scan))
            left.append(start + scan.handed_over())
        return Found.joined(parts), np.concatenate(left)

    @abstractmethod
    def _found(self, scan: Scan) -> Found:
        """What the records of a scan hold."""


class EnvelopeReader(Reader):
    """Reads envelopes.

    Args:
        constants: what texts of the source block have to be; empty for absent or null.
        positions: the other members of the source block, each optional, with their types.
        images: ``before`` and ``after``; without them they are documents, that is texts.
    """

    def __init__(
        self,
        kernel: Kernel,
        constants: Mapping[str, str],
        positions: Mapping[str, Any],
        images: Mapping[str, RowStruct],
    ) -> None:
        source = tuple(map(Wanted, (*constants, *positions)))
        program = Program(
            kernel,
            (
                Wanted("before", wanted_columns(images["before"]) if images else ()),
                Wanted("after", wanted_columns(images["after"]) if images else ()),
                Wanted("source", source),
                Wanted("op"),
            ),
        )
        super().__init__(program)
        self._op = program.slot("op", required=True)
        self._source = program.slot("source", required=True)
        self._constants = [
            (program.slot("source", name, required=bool(text)), text) for name, text in constants.items()
        ]
        self._positions = {
            name: Value(program.slot("source", name, required=False), kind) for name, kind in positions.items()
        }
        self._images = {
            name: (program.slot(name, required=False), RowColumns(program, struct, name))
            for name, struct in images.items()
        }
        self._documents = {
            name: Value(program.slot(name, required=False), str) for name in ("before", "after") if name not in images
        }

    @classmethod
    def of(
        cls,
        kernel: Kernel | None,
        constants: Mapping[str, str],
        positions: Mapping[str, Any],
        images: Mapping[str, RowStruct],
    ) -> EnvelopeReader | None:
        """``None`` where there is no kernel, or a name that it does not find."""
        names = [column.field.name for struct in images.values() for column in struct.json_columns]
        if kernel is None or not set(constants).isdisjoint(positions) or not _are_plain(names):
            return None
        return cls(kernel, constants, positions, images)

    def _found(self, scan: Scan) -> Found:
        scan.objects(self._source)
        for slot, text in self._constants:
            gather.expect(scan, slot, text)
        values: dict[str, Values] = {"op": gather.letters(scan, self._op)}
        values |= {f"source.{name}": value.column(scan) for name, value in self._positions.items()}
        values |= {name: value.read(scan) for name, value in self._documents.items()}
        images = {name: columns.images(scan, scan.objects(slot)) for name, (slot, columns) in self._images.items()}
        return Found(values, images)


class FlatReader(Reader):
    """Reads flattened rows.

    Args:
        beside: the members that are no columns, each optional, with their types.
    """

    def __init__(self, kernel: Kernel, row: RowStruct, beside: Mapping[str, Any]) -> None:
        program = Program(kernel, (*wanted_columns(row), *map(Wanted, beside)))
        super().__init__(program)
        self._row = RowColumns(program, row)
        self._beside = {name: Value(program.slot(name, required=False), kind) for name, kind in beside.items()}

    @classmethod
    def of(cls, kernel: Kernel | None, row: RowStruct, beside: Mapping[str, Any]) -> FlatReader | None:
        """``None`` where there is no kernel, or a name that it does not find."""
        if kernel is None or not _are_plain([*(column.field.name for column in row.json_columns), *beside]):
            return None
        return cls(kernel, row, beside)

    def _found(self, scan: Scan) -> Found:
        values = {name: value.read(scan) for name, value in self._beside.items()}
        return Found(values, {"after": self._row.images(scan, np.ones(scan.count, dtype=np.bool_))})


def _are_plain(names: Collection[str]) -> bool:
    return all(map(is_plain_name, names))
