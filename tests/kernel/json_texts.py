"""JSON texts as they come and as they do not: what the kernel and msgspec have to read alike."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

import hypothesis.strategies as st
import msgspec

from connectors.debezium import semantics
from connectors.debezium.schema import ConnectType, Field
from connectors.json_errors import DECODE_ERRORS

INTEGERS = (
    *("0", "7", "-1", "-0", "00", "01", "-01", "127", "128", "-128", "-129", "32767", "32768", "-32768", "-32769"),
    *("2147483647", "2147483648", "-2147483648", "-2147483649", "999999999999999999", "-999999999999999999"),
    *("1000000000000000000", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1" * 40),
)
NUMBERS = (
    *("1.0", "1e2", "1E+2", "-1.5e-3", "0.1", "3.14", "-0.0", "0.0", "0e0", "5e-324", "1e-400", "1e400", "-1e400"),
    *("0.30000000000000004", "1e22", "1e23", "9007199254740992", "9007199254740993", "90071992547409.93"),
    *(
        "0.0000000000000000000001",
        "0.00000000000000000000001",
        "0.123456789012345678",
        "123456789012345678.5",
        "8.5e37",
        "3.5e38",
        "16777217",
    ),
    *(
        "1.7976931348623157e308",
        "4.35",
        "0.000001",
        "12345678.9",
        "2.2250738585072011e-308",
        "100000000000000000000000",
    ),
)
NO_NUMBERS = ("-", "+1", ".5", "1.", "1e", "1e+", "--1", "1.5.5", "0x10", "1_000", "NaN", "Infinity", "-Infinity", "1a")
WORDS = ("null", "true", "false", "nul", "nulL", "tru", "truE", "fals", "False", "nullx")
TEXTS = (
    *('""', '"a"', '"NaN"', '"Infinity"', '"-Infinity"', '"nan"', '"12"', '"12.50"', '"a\\"b"', '"\\\\"', '"\\/"'),
    *('"\\b\\f\\n\\r\\t"', '"\\u0041"', '"\\u00e9"', '"\\u20AC"', '"\\u0000"', '"\\ud83d\\ude00"', '"\\uD83D\\uDE00"'),
    *('"\\ud83d"', '"\\ude00"', '"\\ud83dx"', '"\\ud83d\\u0041"', '"\\ud83d\\n"', '"\\u12g4"', '"\\u12"', '"\\x"'),
    *('"é"', '"日本語"', '"😀"', '"\x7f"', '"\x00"', '"\x1f"', '"\n"', '"a', "'a'", '"1234567\\n"', '"12345678\\n"'),
    *('"123456é"', '"1234567é8"', '"12345678"', '"123456789abcdef"', '"1234567\x01"', '"2026-01-01T00:00:00Z"'),
)
NO_UTF8 = (
    b"\xff",
    b"\xc0\x80",
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",
    b"\xf0\x80\x80\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
)
BASE64 = (
    *('"AA=="', '"AAA="', '"AAAA"', '"/+8="', '"AB=="', '"AAB="', '"A==="', '"===="', '"AA="', '"=AAA"', '"AA=A"'),
    *('"-_8="', '"AA =="', '"AA\\u003d="', '"AAAAAA=="', '"AA==AAAA"', '"A"', '"~AAA"'),
)
CONTAINERS = (
    *(
        "{}",
        "[]",
        "[ ]",
        "{ }",
        '{"a":1}',
        '[1,"b",null,{"c":[true]}]',
        ' { "a" : [ 1 , 2 ] } ',
        "[1,]",
        '{"a":1,}',
        "[1 2]",
    ),
    *(
        "{]",
        "[}",
        '{"a"}',
        '{"a":}',
        "{a:1}",
        "[",
        "{",
        '{"a":1',
        "{1:2}",
        '{"scale":2,"value":"AQ=="}',
        '{"scale":"2"}',
    ),
    *('{"wkb":"AQEA","srid":null}', '{"wkb":1}', '["__debezium_unavailable_value"]'),
    # As deep as the kernel goes, and one deeper, with the wrong bracket at the end.
    *('{"a":' + "[" * depth + "]" * (depth + 1) for depth in (63, 64)),
    *("[" * depth + "]" * depth for depth in (63, 64, 65, 200)),
    *('{"a":' * depth + "1" + "}" * depth for depth in (63, 64, 65)),
)
SPACES = ("", "", "", "", " ", "\n", "\t\r ", "\x0b", "\xa0")
NAMES = ("id", "i", "idx", "name", "na", "größe", "日", "a b", "", "null", "op", "after", "__op", "x" * 20, "x" * 21)
ODD_NAMES = ('we"ird', "back\\slash", "new\nline")

FIELDS: tuple[tuple[ConnectType, str | None, dict[str, str]], ...] = (
    (ConnectType.INT8, None, {}),
    (ConnectType.INT16, None, {}),
    (ConnectType.INT32, None, {}),
    (ConnectType.INT64, None, {}),
    (ConnectType.BOOLEAN, None, {}),
    (ConnectType.FLOAT32, None, {}),
    (ConnectType.FLOAT64, None, {}),
    (ConnectType.STRING, None, {}),
    (ConnectType.BYTES, None, {}),
    (ConnectType.BYTES, semantics.DECIMAL, {"scale": "2", "connect.decimal.precision": "10"}),
    (ConnectType.STRUCT, semantics.VARIABLE_SCALE_DECIMAL, {}),
    (ConnectType.STRUCT, semantics.GEOMETRY, {}),
    (ConnectType.ARRAY, None, {}),
)


@st.composite
def fields(draw: st.DrawFn, names: Sequence[str] = NAMES) -> tuple[Field, ...]:
    """Columns of a row."""
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=6))
    found: list[Field] = []
    for name in chosen:
        kind, semantic, parameters = draw(st.sampled_from(FIELDS))
        children = (Field("element", ConnectType.STRING),) if kind is ConnectType.ARRAY else ()
        found.append(
            Field(
                name,
                kind,
                optional=draw(st.booleans()),
                semantic=semantic,
                parameters=tuple(parameters.items()),
                children=children,
            )
        )
    return tuple(found)


def values(kind: ConnectType | None = None) -> st.SearchStrategy[bytes]:
    """One JSON value, most often one of the type; now and then null, of another type, or none at all."""
    return st.integers(0, 15).flatmap(
        lambda chance: _ANY if chance == 0 else st.just(b"null") if chance == 1 else _usual(kind)
    )


def _usual(kind: ConnectType | None) -> st.SearchStrategy[bytes]:
    match kind:
        case ConnectType.INT8:
            return st.integers(-(2**7), 2**7 - 1).map(_number)
        case ConnectType.INT16:
            return st.integers(-(2**15), 2**15 - 1).map(_number)
        case ConnectType.INT32 | ConnectType.INT64:
            return _read_as(int, INTEGERS) | st.integers(-(2**31), 2**31 - 1).map(_number)
        case ConnectType.FLOAT32 | ConnectType.FLOAT64:
            return _read_as(float, (*NUMBERS, *INTEGERS)) | _FLOATS
        case ConnectType.BOOLEAN:
            return st.sampled_from([b"true", b"false"])
        case ConnectType.BYTES:
            return _read_as(bytes, BASE64) | st.binary(max_size=20).map(
                lambda body: b'"' + base64.b64encode(body) + b'"'
            )
        case ConnectType.STRUCT | ConnectType.ARRAY:
            return _read_as(msgspec.Raw, CONTAINERS)
        case _:
            return _read_as(str, TEXTS) | _WRITTEN


def _read_as(kind: type, texts: Sequence[str]) -> st.SearchStrategy[bytes]:
    """The texts that msgspec takes for the type."""
    decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(kind)
    return _encoded([text for text in texts if _decodes(decoder, text.encode())])


def _decodes(decoder: msgspec.json.Decoder[object], text: bytes) -> bool:
    try:
        decoder.decode(text)
    except DECODE_ERRORS:
        return False
    return True


def _number(number: int) -> bytes:
    return str(number).encode()


def _encoded(texts: Sequence[str]) -> st.SearchStrategy[bytes]:
    return st.sampled_from([text.encode() for text in texts])


_FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: repr(number).encode())
_WRITTEN = st.builds(
    lambda text, ascii_only: json.dumps(text, ensure_ascii=ascii_only).encode(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.booleans(),
)
_ANY = st.one_of(
    _encoded((*INTEGERS, *NUMBERS, *NO_NUMBERS, *WORDS, *TEXTS, *BASE64, *CONTAINERS)),
    st.sampled_from([b'"12345' + wrong + b'6789abc"' for wrong in NO_UTF8]),
    st.just(b""),
)
_SPACE = _encoded(SPACES)


@st.composite
def objects(draw: st.DrawFn, members: Sequence[tuple[str, st.SearchStrategy[bytes]]]) -> bytes:
    """An object with these members, now and then with one less, one more, one twice or another order."""
    written = [(_quoted(name), draw(value)) for name, value in members]
    match draw(st.integers(0, 14)):
        case 0 if written:
            written.pop(draw(st.integers(0, len(written) - 1)))
        case 1 if written:
            place = draw(st.integers(0, len(written) - 1))
            written.append((written[place][0], draw(members[place][1])))
        case 2:
            written = draw(st.permutations(written))
        case 3 if written:
            place = draw(st.integers(0, len(written) - 1))
            name = json.loads(written[place][0])
            escaped = '"' + "".join(f"\\u{ord(character):04x}" for character in name if ord(character) < 65536) + '"'
            written[place] = (escaped.encode(), written[place][1])
        case 4 | 5:
            place = draw(st.integers(0, len(written)))
            name = draw(st.sampled_from((*NAMES, "unknown", "idd")))
            written.insert(place, (_quoted(name), draw(_ANY)))
        case _:
            pass
    space = _SPACE if draw(st.integers(0, 4)) == 0 else st.just(b"")
    text = b",".join(
        draw(space) + name + draw(space) + b":" + draw(space) + value + draw(space) for name, value in written
    )
    return b"{" + (text or draw(space)) + b"}"


def _quoted(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """A text, now and then cut, with other bytes within or with something around it."""
    text = draw(whole)
    place = draw(st.integers(0, len(text)))
    other = draw(st.sampled_from([b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"0", b" ", b"\x00", b"\x80", b"e"]))
    match draw(st.integers(0, 19)):
        case 0:
            return text[:place]
        case 1:
            return text[:place] + other + text[place:]
        case 2:
            return text[:place] + other + text[place + 1 :]
        case 3:
            return text[:place] + text[place + 1 :]
        case 4:
            return draw(_SPACE) + text + draw(_SPACE)
        case 5:
            return text + other
        case _:
            return text
