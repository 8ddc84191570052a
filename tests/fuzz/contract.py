"""What the decoder promises about any input whatever: it returns, and every record has exactly one fate."""

from __future__ import annotations

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.kernels import Kernels
from connectors.debezium.types import pinned_type
from tests.fuzz.mutation import Case
from tests.golden.traffic import KnownSchemas, raw_records
from tests.support.decoded import told
from tests.support.kernels import built

KERNELS = built()


class BrokenPromiseError(AssertionError):
    """A broken promise that can be broken in several ways, which are findings of their own.

    Args:
        kind: tells the ways apart.
    """

    def __init__(self, kind: str, said: str) -> None:
        super().__init__(said)
        self.kind = kind


def check_decoding(case: Case) -> None:
    """Decode the case twice with one decoder, and once without the kernel.

    Raises:
        AssertionError: a broken promise.
        Exception: whatever else comes out of the decoder is a finding too; a registry that has written its schemas
            down has no error to pass on.
    """
    decoder = Decoder(case.options, KnownSchemas(case.schemas), KERNELS)
    raw = raw_records(case.records)
    first, second = decoder.decode(raw), decoder.decode(raw)
    _check_fates(first, len(case.records))
    # What the decoder has remembered changes its speed and nothing else.
    assert _fates(first) == _fates(second)
    without = Decoder(case.options, KnownSchemas(case.schemas), Kernels()).decode(raw)
    assert told(first) == told(without), "a kernel reads something else"


def _check_fates(decoded: Decoded, count: int) -> None:
    landed = [int(offset) for chunk in decoded.chunks for offset in chunk.offsets]
    fates = landed + [bad.offset for bad in decoded.bad]
    assert len(fates) == len(set(fates)), "a record has two fates"
    assert len(fates) + sum(decoded.skipped.values()) == count, "a record has no fate"
    assert "unforeseen" not in {bad.reason for bad in decoded.bad}, [bad.detail for bad in decoded.bad]
    for chunk in decoded.chunks:
        assert chunk.rows.num_rows == len(chunk.ops) == len(chunk.positions) == len(chunk.run_ids) == len(chunk)
        assert (chunk.offsets[1:] > chunk.offsets[:-1]).all()
        chunk.rows.validate(full=True)
        assert chunk.rows.schema.types == [pinned_type(field) for field in chunk.schema.fields]
        if chunk.old_keys is not None:
            chunk.old_keys.validate(full=True)


def _fates(decoded: Decoded) -> object:
    return (
        sorted(
            (offset, str(chunk.table), op)
            for chunk in decoded.chunks
            for offset, op in zip(chunk.offsets.tolist(), chunk.ops.tolist(), strict=True)
        ),
        # Why a damaged record is bad may be told by another part of it: a schema that is known is not read again.
        [bad.offset for bad in decoded.bad],
        decoded.skipped,
    )
