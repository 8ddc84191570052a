"""A record that the decoder fails on in a way that nobody has foreseen is set aside alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.errors import SchemaError
from connectors.debezium.events import Decoded, RawRecords
from connectors.debezium.isolated import MOST_SET_ASIDE, isolated
from connectors.debezium.options import DecodeOptions
from connectors.errors import Transient
from tests.unit.debezium.builders import DECLARED, Message, event, records


def failing_on(*offsets: int, error: Exception) -> Callable[[RawRecords], Decoded]:
    """A decoder that breaks on the records at these offsets."""
    decoder = Decoder(DecodeOptions(rules=DECLARED))

    def decode(raw: RawRecords) -> Decoded:
        if set(offsets) & set(raw.offsets.tolist()):
            raise error
        return decoder.decode(raw)

    return decode


def sent(count: int) -> RawRecords:
    rows = [event("c", after={"id": number, "name": "a"}, headers=(("h", b"x"),)).json() for number in range(count)]
    return records(*rows)


def test_all_other_records_of_the_batch_are_decoded() -> None:
    decoded = isolated(failing_on(3, 9, error=RecursionError("too deep\nsecond line")), sent(11))

    assert sorted(int(offset) for chunk in decoded.chunks for offset in chunk.offsets) == [
        *(0, 1, 2, 4, 5, 6, 7, 8, 10),
    ]
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(3, "unforeseen"), (9, "unforeseen")]
    assert decoded.bad[0].detail == (
        "reading the record failed in a way that the bridge does not foresee: RecursionError: too deep"
    )
    assert (decoded.bad[0].key, decoded.bad[0].headers) == (b'{"id":3}', (("h", b"x"),))


def test_the_log_says_where_in_the_code_it_failed_and_nothing_of_the_row(caplog: pytest.LogCaptureFixture) -> None:
    isolated(failing_on(3, error=ValueError("4111-1111-1111-1111")), sent(5))

    (line,) = caplog.records
    assert line.getMessage().startswith("Reading a record failed in a way that is not foreseen: ValueError at ")
    assert line.getMessage().endswith(" decode")
    assert line.exc_info is None
    assert "4111" not in caplog.text


def test_a_fault_of_the_bridge_stops_it_before_everything_is_set_aside() -> None:
    every = range(MOST_SET_ASIDE + 1)
    with pytest.raises(AttributeError):
        isolated(failing_on(*every, error=AttributeError("a mistake")), sent(len(every)))


@pytest.mark.parametrize(
    "error", [Transient("the registry is away", remedy="wait"), OSError("disk"), MemoryError()], ids=type
)
def test_what_is_not_the_records_fault_goes_on(error: Exception) -> None:
    with pytest.raises(type(error)):
        isolated(failing_on(0, error=error), sent(2))


def test_a_schema_that_cannot_be_understood_is_the_fault_of_the_record_that_brings_it() -> None:
    error = SchemaError("A schema says nothing", remedy="mend it", field="amount")
    decoded = isolated(failing_on(3, error=error), sent(5))
    assert [int(offset) for chunk in decoded.chunks for offset in chunk.offsets] == [0, 1, 2, 4]
    ((offset, reason, detail),) = [(bad.offset, bad.reason, bad.detail) for bad in decoded.bad]
    assert (offset, reason) == (3, "unforeseen")
    assert detail.endswith("SchemaError: A schema says nothing [field=amount]. Remedy: mend it")


def test_counts_of_both_halves_are_added() -> None:
    raw = records(Message(b'{"id":1}', None), event("c", after={"id": 1, "name": "a"}).json(), Message(b"x", None))
    decoded = isolated(failing_on(1, error=ValueError("odd")), raw)
    assert (dict(decoded.skipped), [bad.offset for bad in decoded.bad]) == ({"tombstone": 2}, [1])
