"""What comes out of the decoder is counted against what went in."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest

from connectors.debezium import decoder as decoder_module
from connectors.debezium.chunks import in_offset_order
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import ChangeChunk, Decoded, SkipReason
from connectors.debezium.fates import FateError, require_one_fate_each
from connectors.debezium.options import DecodeOptions
from tests.unit.debezium.builders import DECLARED, Message, event, only, records

THREE = [event("c", after={"id": number, "name": "a"}).json() for number in range(3)]


def decode(*messages: Message) -> Decoded:
    return Decoder(DecodeOptions(rules=DECLARED)).decode(records(*messages))


def test_rows_bad_records_and_skipped_ones_are_counted() -> None:
    decoded = decode(*THREE, Message(None, b"{"), Message(b'{"id":1}', None))

    assert (len(decoded.chunks[0]), len(decoded.bad), decoded.skipped.total()) == (3, 1, 1)
    require_one_fate_each(decoded, 5)


@pytest.mark.parametrize("count", [2, 4])
def test_a_record_too_many_or_too_few_is_told(count: int) -> None:
    with pytest.raises(FateError, match=f"of {count} records 3 came out of the decoder"):
        require_one_fate_each(decode(*THREE), count)


@pytest.mark.parametrize("twice", ["in two chunks", "in one chunk", "as a row and as a bad record"])
def test_a_record_that_comes_out_twice_is_told_though_the_number_is_right(twice: str) -> None:
    decoded = decode(*THREE, Message(None, b"{"))
    if twice == "in two chunks":
        wrong = dataclasses.replace(decoded, chunks=decoded.chunks * 2, bad=[])
    elif twice == "in one chunk":
        chunk = dataclasses.replace(decoded.chunks[0], offsets=np.array([0, 1, 1]))
        wrong = dataclasses.replace(decoded, chunks=[chunk], bad=[])
    else:
        wrong = dataclasses.replace(decoded, bad=[dataclasses.replace(decoded.bad[0], offset=1)])

    with pytest.raises(FateError, match="twice"):
        require_one_fate_each(wrong, {"in two chunks": 6, "in one chunk": 3}.get(twice, 4))


def test_skipped_records_have_a_fate() -> None:
    require_one_fate_each(Decoded(skipped=Counter({SkipReason.TOMBSTONE: 2})), 2)


def test_a_record_that_a_step_of_the_decoder_forgets_is_set_aside_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(pieces: Any) -> list[ChangeChunk]:
        return [chunk for chunk in in_offset_order(pieces) if chunk.table.name != "forgotten"]

    monkeypatch.setattr(decoder_module, "in_offset_order", forgetful)
    other = event("c", after={"id": 9, "name": "a"}, table="forgotten").json()

    decoded = decode(THREE[0], other, THREE[2])

    assert [bad.offset for bad in decoded.bad] == [1]
    assert decoded.bad[0].detail.endswith("FateError: of 1 records 0 came out of the decoder")
    assert sorted(int(offset) for chunk in decoded.chunks for offset in chunk.offsets) == [0, 2]
    assert only(decode(THREE[0])).offsets.tolist() == [0]
