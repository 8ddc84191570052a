"""Whether bytes are a datum of an Avro schema, and if not, why and where.

The rules are those of Avro 1.11's specification, "Binary Encoding", and the kernel's: what it leaves is refused here.
fastavro is not so strict: it takes -1 for the last symbol of an enum, and any byte for a boolean.
"""

from __future__ import annotations

from typing import NoReturn

from connectors.debezium.avro_expanded import AvroType
from connectors.debezium.verdicts import BadReason

_MOST_BITS = 64
_SIZES = {"boolean": 1, "float": 4, "double": 8}


class BadDatumError(ValueError):
    """A datum that is not what its schema says.

    Attributes:
        reason: the reason code for the dead letter.
    """

    def __init__(self, reason: BadReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def check(schema: AvroType, datum: bytes) -> None:
    """Look at a datum from its first byte to its last.

    Args:
        schema: as :func:`connectors.debezium.avro_expanded.expanded` writes it.

    Raises:
        BadDatumError: it ends too early, something follows it, or a value cannot be.
    """
    walk = _Walk(datum)
    walk.value(schema)
    if walk.place < len(datum):
        rest = len(datum) - walk.place
        raise BadDatumError(BadReason.TRAILING_BYTES, f"{rest} bytes follow the datum of {walk.place} bytes")


class _Walk:
    """Goes along one datum.

    Attributes:
        place: of the next byte.
    """

    def __init__(self, datum: bytes) -> None:
        self.place = 0
        self._datum = datum
        self._path: list[str] = []

    def value(self, schema: AvroType) -> None:
        """Go past a value."""
        if isinstance(schema, list):
            branch = self._number()
            if not 0 <= branch < len(schema):
                self._refuse(f"the union has no branch number {branch}")
            return self.value(schema[branch])
        kind = schema if isinstance(schema, str) else schema["type"]
        match kind:
            case "boolean" | "float" | "double":
                found = self._take(_SIZES[kind])
                if kind == "boolean" and found not in (b"\0", b"\1"):
                    self._refuse(f"a boolean is {found[0]}")
            case "int":
                number = self._number()
                if not -(2**31) <= number < 2**31:
                    self._refuse(f"{number} is no int")
            case "long":
                self._number()
            case "bytes":
                self._sized()
            case "string":
                self._text()
            case "fixed":
                self._take(schema["size"])
            case "enum":
                symbol = self._number()
                if not 0 <= symbol < len(schema["symbols"]):
                    self._refuse(f"the enum has no symbol number {symbol}")
            case "array" | "map":
                self._blocks(schema)
            case "record":
                for field in schema["fields"]:
                    self._path.append(field["name"])
                    self.value(field["type"])
                    self._path.pop()
        return None

    def _blocks(self, schema: AvroType) -> None:
        keyed = schema["type"] == "map"
        item = schema["values" if keyed else "items"]
        while items := self._number():
            if items < 0:
                if items == -(2**63):
                    self._refuse(f"a block of {items} items")
                self._number()
            for _ in range(abs(items)):
                before = self.place
                if keyed:
                    self._text()
                self.value(item)
                if self.place == before:
                    self._refuse("an item has no bytes")

    def _number(self) -> int:
        zigzag = shift = 0
        while True:
            [byte] = self._take(1)
            zigzag |= (byte & 0x7F) << shift
            if zigzag >= 1 << _MOST_BITS or (shift := shift + 7) > _MOST_BITS + 6:
                self._refuse("a number is longer than 64 bits")
            if byte < 0x80:
                return (zigzag >> 1) ^ -(zigzag & 1)

    def _sized(self) -> bytes:
        size = self._number()
        if size < 0:
            self._refuse(f"{size} bytes are announced")
        return self._take(size)

    def _text(self) -> None:
        try:
            self._sized().decode()
        except UnicodeDecodeError as error:
            raise BadDatumError(BadReason.NOT_UTF8, f"{self._where()}: a string is not UTF-8: {error}") from error

    def _take(self, size: int) -> bytes:
        """The next bytes."""
        found = self._datum[self.place : self.place + size]
        if len(found) < size:
            told = f"{self._where()}: {size} bytes are needed, and the datum has {len(self._datum)} in all"
            raise BadDatumError(BadReason.TRUNCATED, told)
        self.place += size
        return found

    def _refuse(self, what: str) -> NoReturn:
        raise BadDatumError(BadReason.CORRUPT_AVRO, f"{self._where()}: {what}")

    def _where(self) -> str:
        return f"field {'.'.join(self._path)}, before byte {self.place}" if self._path else f"before byte {self.place}"
