"""Values, and records around them, that are written down by hand."""

from __future__ import annotations

from tests.kernel import json_texts


def every_value() -> list[bytes]:
    """All values that are written down by hand."""
    lists = (
        *(json_texts.INTEGERS, json_texts.NUMBERS, json_texts.NO_NUMBERS, json_texts.WORDS, json_texts.TEXTS),
        *(json_texts.BASE64, json_texts.CONTAINERS),
    )
    wrong = [b'"' + front + bad + b'"' for bad in json_texts.NO_UTF8 for front in (b"", b"1234567")]
    return [text.encode() for texts in lists for text in texts] + wrong


def envelope(after: bytes, op: bytes = b'"c"') -> bytes:
    source = b'{"connector":"postgresql","db":"shop","schema":"public","table":"orders","lsn":7}'
    return b'{"before":null,"after":' + after + b',"source":' + source + b',"op":' + op + b"}"


RECORDS = (
    *(b"", b" ", b"{}", b"[]", b"null", b"1", b"{", b"\xef\xbb\xbf{}", b'{"op":"c"}'),
    envelope(b'{"id":1,"name":"a"}'),
    envelope(b'{"id":1,"name":"a"}') + b" \n",
    envelope(b'{"id":1,"name":"a"}') + b"x",
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"after":{"id":2}}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"after":{"name":"b"}}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"source":{}}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"op":"d"}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"before":{"id":null,"name":1}}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"before":7}',
    envelope(b'{"id":1,"name":"a"}')[:-1] + b',"transaction":{"id":"1","order":[{}]}}',
    envelope(b'{"id":1,"name":"a","name":"b"}'),
    envelope(b'{"name":"a","id":1}'),
    envelope(b'{"i\\u0064":1,"name":"a"}'),
    envelope(b'{"id":1,"n\\u0061me":"a"}'),
    envelope(b'{"id":1,"na\xffme":"a"}'),
    envelope(b'{"name":"a"}'),
    envelope(b'{"id":null}'),
    *(
        envelope(after)
        for after in (b"null", b"{}", b"[]", b"1", b'"a"', b"true", b'{"id":1,}', b'{"id" 1}', b'{"id":}')
    ),
    *(envelope(b'{"id":1}', op) for op in (b'"cc"', b'""', b"null", b"1", b'"\xc3\xa9"', b'"\\u0063"', b"[0]")),
    *(
        envelope(b'{"id":1}').replace(right, wrong)
        for right, wrong in (
            (b'"orders"', b'"orderz"'),
            (b'"orders"', b'"order"'),
            (b'"orders"', b'"orders2"'),
            (b'"orders"', b'"\\u006frders"'),
            (b'"orders"', b"null"),
            (b',"table":"orders"', b""),
            (b'"lsn":7', b'"lsn":"7"'),
            (b'"lsn":7', b'"lsn":7.0'),
            (b'"lsn":7', b'"lsn":18446744073709551615'),
            (b'"lsn":7', b'"lsn":7,"snapshot":true'),
            (b'"lsn":7', b'"lsn":7,"snapshot":1'),
            (b'"lsn":7', b'"lsn":7,"sequence":"[\\"1\\",\\"2\\"]"'),
            (b'"lsn":7}', b'"lsn":7]'),
        )
    ),
    envelope(b'{"id":1}').replace(b'"source"', b'"other"'),
    *(b'{"op":"c","after":{"id":1},"source":' + source + b"}" for source in (b"null", b"[]", b"{}", b'"x"', b"7")),
)
