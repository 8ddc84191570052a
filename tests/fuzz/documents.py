"""What readers of files and answers promise: what they return, or an error that says what is wrong with the file."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.errors import BridgeError
from connectors.fabric import answers
from connectors.kafka.avro_references import inline_references
from connectors.kafka.registry_answers import AbsentError
from connectors.landing_zone.footer import read_footer
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.metadata import parse_metadata
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.checkpoint import Checkpoint
from tests.fuzz.corpus import seeds
from tests.fuzz.mutation import changed

GOLDEN = Path(__file__).parent.parent / "golden" / "fabric"
_METADATA = {"keyColumns": ["id"], "fileDetectionStrategy": "SequentialFileName", "isUpsertDefaultRowMarker": True}
_OFFSETS = b'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{}}\n{"orders":{"0":17}}'


def check_documents(run: int, number: int) -> None:
    """Hand a broken document to its reader.

    Raises:
        Exception: anything but an error of the bridge's own.
    """
    random = Random(f"{run}:document {number}")
    body, read = random.choice(_documents())
    try:
        read(changed(random, body) or b"")
    except BridgeError:
        return


@cache
def _documents() -> tuple[tuple[bytes, Callable[[bytes], object]], ...]:
    fabric = [path.read_bytes() for path in sorted(GOLDEN.glob("*.json"))]
    schemas = [text.encode() for seed in seeds() for text in seed.schemas.values()][:20]
    return (
        *((body, _fabric) for body in fabric),
        *((body, _schema) for body in schemas),
        (json.dumps(_METADATA).encode(), parse_metadata),
        (_OFFSETS, _offsets),
        (_version(), _ledger),
        (_version(), _ledger),
        (_parquet(), read_footer),
        (_parquet(), read_footer),
    )


def _fabric(body: bytes) -> None:
    found = answers.parse_object(body, of="fuzz")
    for read in (answers.database_of_rest, answers.database_of_file, answers.continuation_of):
        _told(lambda read=read: read(found, of="fuzz"))
    for each in (answers.tables_of_rest, answers.tables_of_file):
        _told(lambda each=each: list(each(found, of="fuzz")))


def _told(read: Callable[[], object]) -> None:
    try:
        read()
    except BridgeError:
        return


def _schema(body: bytes) -> None:
    text = body.decode("utf-8", "replace")
    with contextlib.suppress(AbsentError):
        inline_references(text, [text])


def _offsets(body: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-fuzz-") as folder:
        checkpoint = Checkpoint(Path(folder))
        (Path(folder) / "offsets").mkdir()
        (Path(folder) / "metadata").write_bytes(body)
        (Path(folder) / "offsets" / "0").write_bytes(body)
        checkpoint.next_start()
        checkpoint.repeated()


def _ledger(body: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-fuzz-") as folder:
        path = Path(folder) / "ledger" / f"{1:020d}.json"
        path.parent.mkdir()
        path.write_bytes(body)
        Ledger.open(LocalStorage(Path(folder)), now_ms=lambda: 0)


@cache
def _version() -> bytes:
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-fuzz-") as folder:
        ledger = Ledger.open(LocalStorage(Path(folder)), now_ms=lambda: 0)
        ledger.claim("run", "host")
        return max(Path(folder).glob("ledger/*.json")).read_bytes()


@cache
def _parquet() -> bytes:
    stream = io.BytesIO()
    table = pa.table({"id": [1]}).replace_schema_metadata({"cdc_bridge.table": "public.orders"})
    pq.write_table(table, stream)
    return stream.getvalue()
