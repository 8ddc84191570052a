"""JSON keys of a whole batch: whether all have the same members, and the values of some."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import msgspec

from connectors.debezium.bodies import Bodies
from connectors.debezium.json_kernel.keys import KeyCheck
from connectors.debezium.json_kernel.layouts import FlatReader
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_structs import RowStruct
from connectors.debezium.physical import Physical
from connectors.debezium.schema import Field
from connectors.json_errors import DECODE_ERRORS

_KEPT_WAYS = 256
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class ExactMembers:
    """Objects with certain members and no other.

    Args:
        kernel: looks at many keys at once; ``None`` to do without.
    """

    def __init__(self, names: tuple[str, ...], kernel: Kernel | None) -> None:
        self._check = KeyCheck.of(kernel, names, closed=True)
        self._decode = _decoder(names)

    def have_all(self, keys: Bodies) -> bool:
        """Whether all keys are such objects; False where a member's name cannot be looked for."""
        return self._decode is not None and are_all(keys, self._check, self._decode)


def are_all(keys: Bodies, check: KeyCheck | None, decode: Callable[[bytes], Any]) -> bool:
    """Whether all keys decode; ``check`` says so of plain ones, and faster."""
    if check is not None and check.holds(keys):
        return True
    try:
        deque(map(decode, keys.listed()), maxlen=0)
    except DECODE_ERRORS:
        return False
    return True


def _decoder(names: tuple[str, ...]) -> Callable[[bytes], Any] | None:
    """``None`` where a struct cannot have members of these names."""
    attributes = {f"f{place}": name for place, name in enumerate(names)}
    try:
        key = msgspec.defstruct(
            "Key",
            [(attribute, msgspec.Raw) for attribute in attributes],
            rename=attributes,
            forbid_unknown_fields=True,
            gc=False,
        )
    except ValueError:
        return None
    return msgspec.json.Decoder(key).decode


class JsonKeyColumns:
    """Reads members of JSON keys as columns. How some are read is kept, since most batches ask for the same.

    Args:
        kernel: reads most keys; ``None`` to do without.
    """

    def __init__(self, kernel: Kernel | None) -> None:
        self._ways = lru_cache(maxsize=_KEPT_WAYS)(partial(_Way, kernel))

    def read(self, bodies: Bodies, fields: Sequence[Field]) -> dict[str, Physical]:
        """Some members' values in keys, by name; null where one is absent, and bad where the key cannot be read."""
        way = self._ways(tuple(fields))
        if way.reader is not None:
            found, left = way.reader.read(bodies)
            if not len(left):
                return {field.name: found.images["after"].column(field) for field in fields}
        rows: list[Any] = []
        wrong: dict[int, dict[str, str]] = {}
        blame: _Blame | None = None
        for place, body in enumerate(bodies.listed()):
            try:
                rows.append(way.decode(body))
            except DECODE_ERRORS as error:
                blame = blame or _Blame(fields)
                wrong[place], rest = blame.of(body, error)
                rows.append(way.decode(rest))
        columns = way.struct.columns(rows)
        for place, what in wrong.items():
            for name, why in what.items():
                columns[name].bad[place] = f"the key: {why}"
        return columns


class _Way:
    """How some members of keys are read: by the kernel where it can, and by msgspec."""

    def __init__(self, kernel: Kernel | None, fields: tuple[Field, ...]) -> None:
        self.struct = RowStruct(fields, required=False)
        self.reader = FlatReader.of(kernel, self.struct, {})
        self.decode = msgspec.json.Decoder(self.struct.type).decode


class _Blame:
    """Finds the fields because of which a JSON key cannot be decoded."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._decode = {
            field.name: msgspec.json.Decoder(RowStruct((field,), required=False).type).decode for field in fields
        }

    def of(self, body: bytes, error: Exception) -> tuple[dict[str, str], bytes]:
        """What is wrong, by field, and the key without those; all of them where none is wrong by itself."""
        found: dict[str, str] = {}
        members: dict[str, msgspec.Raw] = {}
        with suppress(*DECODE_ERRORS):
            members = _OBJECT.decode(body)
        for name, decode in self._decode.items():
            if name in members:
                try:
                    decode(msgspec.json.encode({name: members[name]}))
                except DECODE_ERRORS as why:
                    found[name] = str(why)
        found = found or dict.fromkeys(self._decode, str(error))
        good = self._decode.keys() - found
        return found, msgspec.json.encode({name: raw for name, raw in members.items() if name in good})
