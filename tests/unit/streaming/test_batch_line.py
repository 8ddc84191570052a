"""What a micro-batch's line in the log tells a collector."""

from __future__ import annotations

from streaming.driver.batch import BatchReport
from streaming.driver.stages import BatchFigures, Stage
from streaming.running import batch_values


def test_a_batch_tells_where_its_time_went() -> None:
    figures = BatchFigures(stages={Stage.LAND: 1.23456, Stage.COMMIT: 0.01}, steps={"decode": 0.98765, "encode": 0.2})

    told = batch_values(BatchReport(7, offsets=10, seconds=1.5, figures=figures))

    assert told["seconds"] == 1.5
    assert told["stages"] == {"land": 1.235, "commit": 0.01}
    assert told["steps"] == {"decode": 0.988, "encode": 0.2}
