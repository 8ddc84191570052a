"""A record that nobody can read, from the error through its remedy to a stream that goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from streaming.policies import OnBadRecord
from streaming.task.results import TaskFailedError
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.replayable import Shop


def test_bad_record(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job_options={"on_bad_record": OnBadRecord.FAIL})
    created = ORDERS.create(row(2), 11)
    bad = replace(created, value=created.value.replace(b'"op":"c"', b'"op":"a secret"'))
    with pytest.raises(TaskFailedError) as raised:
        shop.receive(ORDERS.create(row(1), 10), bad)
    assert raised.value.facts["error"] == "BadRecordError"
    assert "(unknown op)" in raised.value.message
    assert "a secret" not in str(raised.value)
    assert f"`cdc-bridge explain CONFIG --topic {ORDERS.topic} --partition 0 --offset 1`" in raised.value.remedy
    assert "set on_bad_record to dead_letter to set such records aside" in raised.value.remedy
    shop.job_options["on_bad_record"] = OnBadRecord.DEAD_LETTER
    shop.restart()
    shop.plain.run_batch({}, shop.log.ends())
    assert [one["id"] for one in shop.plain.rows("public.orders")] == [1]
    assert [letter.record.offset for letter in shop.letters] == [1]
