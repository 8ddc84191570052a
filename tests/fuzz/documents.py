"""What readers of files and answers promise: what they return, or an error that says what is wrong with the file."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import tempfile
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from itertools import count
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import RawRecords
from connectors.debezium.options import DecodeOptions
from connectors.debezium.wire import SchemaIdKind
from connectors.errors import BridgeError
from connectors.fabric import answers
from connectors.kafka.avro_references import inline_references
from connectors.kafka.embedded_registry import EmbeddedRegistry, SchemaReference
from connectors.kafka.headers import HEADERS_TYPE
from connectors.kafka.letters import letters_in
from connectors.kafka.registry import Registry, RegistryConfig, RegistryKind
from connectors.kafka.registry_answers import AbsentError
from connectors.kafka.signals import INCREMENTAL_SNAPSHOT, INITIAL_SNAPSHOT, SnapshotKind, read_notification
from connectors.landing_zone.footer import Footer, read_footer
from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY, read_copy
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.owner import OWNER_FILE, Owner, read_owner
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.replay import table_metadata
from connectors.landing_zone.replay.content import open_content
from connectors.landing_zone.requests import Action, Request, answer_to, waiting
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.protocol import Storage
from connectors.source_database.kafka_connect import ConnectApi, ConnectLocation
from streaming.dead_letters.decoding import decode_letter
from streaming.driver.checkpoint import Checkpoint
from streaming.lifecycle.debezium import is_scan_of, rows_scanned, snapshot_failure
from tests.fuzz.corpus import seeds
from tests.fuzz.mutation import changed

GOLDEN = Path(__file__).parent.parent / "golden" / "fabric"
_METADATA = {"keyColumns": ["id"], "fileDetectionStrategy": "SequentialFileName", "isUpsertDefaultRowMarker": True}
_TOLD = tuple(
    {
        "id": "id-1",
        "aggregate_type": aggregate,
        "type": progress,
        "additional_data": {
            "connector_name": "shop",
            "data_collections": "public.users, public.orders",
            "scanned_collection": "public.orders",
            "total_rows_scanned": "17",
            "status": "SUCCEEDED",
        },
        "timestamp": 1_700_000_000_000,
    }
    for aggregate in (INITIAL_SNAPSHOT, INCREMENTAL_SNAPSHOT)
    for progress in ("STARTED", "TABLE_SCAN_COMPLETED", "ABORTED")
)
_REQUEST = Request("0" * 32, 5, "me@here", Action.PAUSE, "public.orders", {"a": "b"})
_CSV = b'id,v,__rowMarker__\r\n1,"a \\"b\\"",4\r\n2,,1\r\n'
_CONNECT: tuple[dict[str, object], ...] = (
    {"topic.prefix": "shop", "database.password": "x"},
    {"connector": {"state": "RUNNING"}, "tasks": [{"id": 0, "state": "FAILED", "trace": "a\nb"}]},
    {"offsets": [{"offset": {"file": "binlog.000003", "pos": 700}}, {"offset": None}]},
)
_ADDRESS = '{"type":"record","name":"Address","namespace":"shop","fields":[{"name":"zip","type":"string"}]}'
_ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"home","type":"Address"}]}'
_OF_CONFLUENT = {
    "schema": _ORDER,
    "schemaType": "AVRO",
    "references": [{"name": "shop.Address", "subject": "address", "version": 1}],
}
_OF_APICURIO = [{"groupId": None, "artifactId": "address", "version": "1", "name": "shop.Address"}]
_REFUSAL = {"error_code": 40301, "message": "two\nlines, \ud800" + "and more" * 200}
_LONGEST_ERROR = 1_000
_MOST_QUESTIONS = 1_000
_OFFSETS = b'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{}}\n{"orders":{"0":17}}'


def check_documents(run: int, number: int) -> None:
    """Hand a broken document to its reader.

    Raises:
        Exception: anything but an error of the bridge's own.
    """
    random = Random(f"{run}:document {number}")
    body, read = random.choice(documents())
    try:
        read(changed(random, body) or b"")
    except BridgeError:
        return


@cache
def documents() -> tuple[tuple[bytes, Callable[[bytes], object]], ...]:
    """Whole documents, each with its reader."""
    fabric = [path.read_bytes() for path in sorted(GOLDEN.glob("*.json"))]
    schemas = [text.encode() for seed in seeds() for text in seed.schemas.values()][:20]
    return (
        *((body, _fabric) for body in fabric),
        *((body, _schema) for body in schemas),
        (json.dumps(_METADATA).encode(), _table_metadata),
        (_OFFSETS, _offsets),
        (_version(), _ledger),
        (_version(), _ledger),
        (_parquet(), read_footer),
        (_parquet(), read_footer),
        *((json.dumps(told).encode(), _notification) for told in _TOLD),
        (
            json.dumps({**_TOLD[0], "additional_data": {"data_collections": "public.a, public.orders"}}).encode(),
            _letter,
        ),
        (msgspec.json.encode(_REQUEST), _request),
        (msgspec.json.encode(Owner("ledger", "shop")), _in_the_zone(OWNER_FILE, read_owner)),
        (msgspec.json.encode(LedgerState("ledger", 1, 1, "run")), _in_the_zone(SNAPSHOT_COPY, read_copy)),
        (json.dumps(_METADATA | {"FileFormat": "CSV"}).encode(), _table_metadata),
        *((body, _text) for body in (_CSV, gzip.compress(_CSV, mtime=0), pa.compress(_CSV, "zstd", asbytes=True))),
        *((json.dumps(answer).encode(), _connect) for answer in _CONNECT),
        (json.dumps(_OF_CONFLUENT).encode(), _registry(r"/schemas/ids/", SchemaIdKind.CONFLUENT)),
        (json.dumps(_OF_CONFLUENT).encode(), _registry(r"/subjects/[^/]+/versions/", SchemaIdKind.CONFLUENT)),
        (json.dumps(_REFUSAL).encode(), _registry(r"/schemas/ids/", SchemaIdKind.CONFLUENT)),
        (b'["address", "orders"]', _registry(r"/subjects$", SchemaIdKind.CONFLUENT, refused=r"/schemas/ids/")),
        (json.dumps(_OF_APICURIO).encode(), _registry(r"/references$", SchemaIdKind.CONTENT)),
        (_ORDER.encode(), _registry(r"/contentIds/\d+$", SchemaIdKind.CONTENT)),
        (_ADDRESS.encode(), _registry(r"/versions/\d+(/content)?$", SchemaIdKind.CONTENT)),
    )


def _notification(body: bytes) -> None:
    told = read_notification(body)
    if told is not None:
        is_scan_of(told, "public.orders")
        rows_scanned(told)
        snapshot_failure([told], "id-1", SnapshotKind.INCREMENTAL, "public.orders")


def _letter(body: bytes) -> None:
    """The parts of a letter are its headers: the body is cut into their values."""
    names = ("reason", "detail", "topic", "partition", "offset", "source-key", "bridge", "header.a", "left-out")
    parts = [body[number :: len(names)] for number in range(len(names))]
    headers = [{"key": f"cdc-bridge.{name}", "value": part} for name, part in zip(names, parts, strict=True)]
    numbers = [{"key": "cdc-bridge.partition", "value": b"3"}, {"key": "cdc-bridge.offset", "value": body[:3] or b"7"}]
    count = 2
    records = RawRecords(
        topic="letters",
        partition=0,
        keys=pa.array([body] * count, pa.binary()),
        values=pa.array([body, None], pa.binary()),
        offsets=np.arange(count, dtype=np.int64),
        timestamps=np.zeros(count, np.int64),
        headers=pa.array([headers, headers + numbers], HEADERS_TYPE),
    )
    for letter in letters_in(records):
        decode_letter(letter, Decoder(DecodeOptions()))


def _request(body: bytes) -> None:
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-fuzz-") as folder:
        state = LocalStorage(Path(folder))
        state.put(f"requests/{_REQUEST.asked_ms:015d}-{_REQUEST.id}.json", body)
        state.put(f"answers/{_REQUEST.id}.json", body)
        found = waiting(state)
        assert len(found.requests) + len(found.unreadable) == 1
        answer_to(state, _REQUEST.id)


def _in_the_zone(path: str, read: Callable[[Storage], object]) -> Callable[[bytes], None]:
    def written(body: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="cdc-bridge-fuzz-") as folder:
            zone = LocalStorage(Path(folder))
            zone.put(path, body)
            read(zone)

    return written


def _table_metadata(body: bytes) -> None:
    table_metadata.parse_metadata(body, "_metadata.json")


def _text(body: bytes) -> None:
    described = table_metadata.parse_metadata(json.dumps(_METADATA | {"FileFormat": "CSV"}).encode(), "_metadata.json")
    content = open_content(body, described, "1.csv")
    content.read(0, content.schema.names)


def _connect(body: bytes) -> None:
    api = ConnectApi(ConnectLocation("http://connect", "shop"))
    api._session.mount("http://", _Answering(body))
    for ask in (api.config, api.states, api.binlog_position):
        _told(ask)


class _Answering(BaseAdapter):
    """A server that gives one answer."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self._body = body

    def send(self, request: PreparedRequest, *arguments: object, **options: object) -> Response:
        """The answer, in the form that Kafka Connect's have."""
        answer = Response()
        answer.status_code, answer.url, answer.request = 200, request.url or "", request
        answer.headers["Content-Type"] = "application/json"
        answer.raw = io.BytesIO(self._body)
        return answer

    def close(self) -> None:
        """There is no connection."""


class _Told(EmbeddedRegistry):
    """A registry that gives what it is told under some addresses, and refuses others.

    Attributes:
        under, refused: patterns of addresses.
    """

    def __init__(self, under: str, refused: str, body: bytes) -> None:
        super().__init__()
        self.under, self.refused, self.body = under, refused, body
        self.status = HTTPStatus.OK

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        if re.search(self.under, path):
            return self.status, self.body
        return (HTTPStatus.FORBIDDEN, b"{}") if re.search(self.refused, path) else super().answer(method, path, body)


def _registry(under: str, kind: SchemaIdKind, refused: str = "$nothing") -> Callable[[bytes], None]:
    def read(body: bytes) -> None:
        with _Told(under, refused, body) as server:
            server.register("address", _ADDRESS)
            number = server.register("orders", _ORDER, [SchemaReference("shop.Address", "address", 1)])
            config = RegistryConfig(server.url, RegistryKind.APICURIO, attempts=1, timeout=5.0)
            registry = Registry(config, clock=count(step=10.0).__next__, sleep=lambda _: None)
            for server.status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST, HTTPStatus.OK):
                before = len(server.requests)
                try:
                    registry.avro_schema(number, kind)
                except BridgeError as error:
                    told = str(error)
                    assert told.encode(), "a dead letter holds it"
                    assert "\n" not in told, "a line of the log holds it"
                    assert len(told) < _LONGEST_ERROR
                assert len(server.requests) - before < _MOST_QUESTIONS

    return read


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
        for name in ("offsets", "commits"):
            (Path(folder) / name).mkdir()
        (Path(folder) / "metadata").write_text('{"id":"5f7e"}')
        (Path(folder) / "offsets" / "0").write_bytes(body)
        checkpoint.next_start()
        checkpoint.repeated()
        (Path(folder) / "offsets" / "0").write_text('v1\n{}\n{"orders":{"0":1}}')
        for name in ("commits/0", "metadata"):
            (Path(folder) / name).write_bytes(body)
            checkpoint.next_start()


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
    schema = PinnedSchema((PinnedColumn("id", "id", "int64", key=True),))
    topics, ranges = {"orders": "id"}, {"orders": {0: (5, 6)}}
    footer = Footer("public.orders", 1, SequenceNumber(1), 1, schema, topics=topics, ranges=ranges)
    table = pa.table({"id": [1]}).replace_schema_metadata(footer.to_metadata())
    pq.write_table(table, stream)
    return stream.getvalue()
