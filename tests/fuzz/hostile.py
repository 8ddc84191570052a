"""Values that have broken readers before: too long, too deep, too large, of another type, not what they say."""

from __future__ import annotations

from random import Random
from typing import Any

from connectors.debezium import semantics

SEMANTICS = tuple(value for name, value in sorted(vars(semantics).items()) if name.isupper() and isinstance(value, str))

NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 127, 128, 255, 2**15, -(2**15), 2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, 2**63),
    *(-(2**63), -(2**63) - 1, 2**64, 10**38, -(10**38), 10**100, 0.1, -0.0, 1e308, 5e-324, 253_402_300_799_999_999),
)

TEXTS = (
    *("", " ", "null", "NaN", "Infinity", "-Infinity", "infinity", "0", "-1", "1e999999999", "-1e-999999999", "1E+5"),
    *("9" * 200, "9" * 5_000, "0." + "0" * 200 + "1", "\0", "\n\r\x1b[31m", "\u202e", "\ufeff", "İ", "\U0001f9a8"),
    *(
        "../../etc/passwd",
        "CON",
        "__debezium_unavailable_value",
        "hex:zz",
        "AAAA",
        "AA==",
        "=",
        "0x10",
        "1_000",
        "\u0661",
    ),
    *("2024-02-30", "0000-00-00", "+999999999-12-31", "-0001-01-01", "25:61:61", "23:59:60", "00:00:00+99:99"),
    *("2024-02-29T12:34:56.123456789123Z", "[null,null]", '["1"]', "[1,2,3]", "[[1],2]", "000:000:0", "{}", "[", "{"),
    *("00000025:00000448:0003", "zzzzzzzz:zzzzzzzz:zzzz", "mysql-bin.99999999999999999999", "x" * 300, "y" * 70_000),
    *SEMANTICS,
)

RAW_JSON = (
    *(b"1e999999999", b"-1e-999999999", b"1e99999999999999999999", b"9" * 5_000, b"0." + b"9" * 5_000, b"-0", b"1E400"),
    *(b"[" * 20_000, b"[" * 900 + b"]" * 900, b"[" * 20_000 + b"]" * 20_000, b'{"a":' * 900 + b"1" + b"}" * 900),
    *(b'"\\ud800"', b'"\\u0000"', b'"\xff"', b'"\xed\xa0\x80"', b"NaN", b"01", b"+1", b"tru", b"nul", b"", b'"', b"//"),
    *(b"[" + b"0," * 20_000 + b"0]", b'{"a":1,"a":2}', b"\xef\xbb\xbf1", b"1 2"),
)
"""JSON text, or nearly, that no writer of JSON would give."""


def value(random: Random, depth: int = 0) -> Any:
    """Something that JSON can say, and that a reader may not expect."""
    kind = random.randrange(8 if depth < 3 else 5)
    match kind:
        case 0:
            return random.choice((None, True, False))
        case 1 | 2:
            return random.choice(NUMBERS)
        case 3 | 4:
            return random.choice(TEXTS)
        case 5:
            return [value(random, depth + 1) for _ in range(random.choice((0, 1, 2, 5)))]
        case 6:
            return {str(random.choice(TEXTS))[:80]: value(random, depth + 1) for _ in range(random.choice((0, 1, 2)))}
        case _:
            nested: Any = value(random, depth + 1)
            for _ in range(random.choice((2, 10, 60, 70, 300))):
                nested = [nested] if random.random() < 0.5 else {"type": nested}
            return nested


def content(random: Random) -> bytes:
    """Bytes of any kind."""
    match random.randrange(5):
        case 0:
            return random.randbytes(random.choice((0, 1, 2, 4, 5, 8, 9, 16, 100, 3_000)))
        case 1:
            return bytes([random.randrange(256)]) * random.choice((1, 9, 300))
        case 2:
            # The longest variable-length integers, and one that never ends.
            return random.choice((b"\xff" * 9 + b"\x01", b"\xfe" * 9 + b"\x01", b"\xff" * 30, b"\x80\x80\x00"))
        case 3:
            return random.choice(RAW_JSON)
        case _:
            return random.choice(TEXTS).encode()
