"""A small schema registry inside this process, for the demo and the tests.

It speaks the part of Confluent's protocol that a serializer and the bridge use (register, look up, by id, by version)
and Apicurio's addresses for content ids and global ids. Schemas are kept in memory. A global id differs from the
content id of the same schema, as in Apicurio, so that mixing them up shows.
"""

from __future__ import annotations

import enum
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import unquote

import msgspec

from connectors.kafka.loopback import ADDRESS

GLOBAL_ID_OFFSET = 100_000
_POLL_SECONDS = 0.02
_CONFLUENT = r"(?:/apis/ccompat/v\d+)?"
_APICURIO = r"/apis/registry/v[23]"


class Fault(enum.StrEnum):
    """How the registry fails until told otherwise."""

    NONE = "none"
    DOWN = "down"
    """Connections are closed without an answer."""
    ERROR = "error"
    """Every request is answered with HTTP 500."""
    UNAUTHORIZED = "unauthorized"
    """Every request is answered with HTTP 401."""
    PAGE = "page"
    """Every request is answered with HTTP 200 and a proxy's page."""


@dataclass(frozen=True)
class SchemaReference:
    """A named type that a schema uses and another subject defines."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True)
class StoredSchema:
    """A schema's text and what it refers to."""

    text: str
    references: tuple[SchemaReference, ...] = ()
    schema_type: str = "AVRO"


class EmbeddedRegistry:
    """A registry on a free loopback port; a context manager.

    Attributes:
        fault: how it fails now; may be set at any time.
        requests: ``METHOD path`` of every request so far.
        authorizations: their ``Authorization`` headers.
    """

    def __init__(self) -> None:
        self.fault = Fault.NONE
        self.requests: list[str] = []
        self.authorizations: list[str | None] = []
        self._lock = threading.Lock()
        self._schemas: list[StoredSchema] = []
        self._subjects: dict[str, list[int]] = {}
        self._server = ThreadingHTTPServer((ADDRESS, 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._serve, name="embedded-registry", daemon=True)

    @property
    def url(self) -> str:
        """Base URL of the Confluent protocol."""
        return f"http://{ADDRESS}:{self._server.server_address[1]}"

    def __enter__(self) -> EmbeddedRegistry:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and free the port."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def register(
        self, subject: str, schema: str, references: Sequence[SchemaReference] = (), schema_type: str = "AVRO"
    ) -> int:
        """The id of a schema, under which it is stored unless it already is, as a new version of the subject."""
        stored = StoredSchema(schema, tuple(references), schema_type)
        with self._lock:
            if stored not in self._schemas:
                self._schemas.append(stored)
            schema_id = self._schemas.index(stored) + 1
            versions = self._subjects.setdefault(subject, [])
            if schema_id not in versions:
                versions.append(schema_id)
        return schema_id

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=_POLL_SECONDS)

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        """Status and JSON content of the answer to a request; bytes are content as it is."""
        for wanted, pattern, reply in self._routes():
            match = re.fullmatch(pattern, path)
            if wanted == method and match is not None:
                try:
                    return reply(match, body)
                except (LookupError, ValueError) as problem:
                    return _missing(str(problem))
        return _missing(f"no such address: {method} {path}")

    def _routes(self) -> list[tuple[str, str, Callable[[re.Match[str], bytes], tuple[int, object]]]]:
        version = rf"{_CONFLUENT}/subjects/(?P<subject>[^/]+)/versions"
        artifact = rf"{_APICURIO}/groups/[^/]+/artifacts/(?P<subject>[^/]+)/versions/(?P<version>\d+)"
        by_id = rf"{_APICURIO}/ids/(?P<kind>contentIds|globalIds)/(?P<id>\d+)"
        return [
            ("GET", rf"{_CONFLUENT}/schemas/ids/(?P<id>\d+)", lambda m, _: (200, self._by_id(int(m["id"])))),
            ("GET", rf"{_CONFLUENT}/subjects", lambda m, _: (200, sorted(self._subjects))),
            ("GET", version, lambda m, _: (200, list(range(1, len(self._subjects[m["subject"]]) + 1)))),
            ("GET", rf"{version}/(?P<version>\d+|latest)", lambda m, _: (200, self._version(m))),
            ("POST", version, self._register),
            ("POST", rf"{_CONFLUENT}/subjects/(?P<subject>[^/]+)", self._look_up),
            ("GET", by_id, lambda m, _: (200, self._apicurio(m).text.encode())),
            ("GET", rf"{by_id}/references", lambda m, _: (200, _apicurio_references(self._apicurio(m)))),
            ("GET", rf"{artifact}(/content)?", lambda m, _: (200, self._artifact(m).text.encode())),
            ("GET", rf"{artifact}/references", lambda m, _: (200, _apicurio_references(self._artifact(m)))),
        ]

    def _by_id(self, schema_id: int) -> dict[str, object]:
        return _confluent(self._stored(schema_id))

    def _stored(self, schema_id: int) -> StoredSchema:
        if not 0 < schema_id <= len(self._schemas):
            raise LookupError(f"Schema {schema_id} not found")
        return self._schemas[schema_id - 1]

    def _version(self, match: re.Match[str]) -> dict[str, object]:
        versions = self._subjects[match["subject"]]
        number = len(versions) if match["version"] == "latest" else int(match["version"])
        if not 0 < number <= len(versions):
            raise LookupError(f"Version {number} not found")
        schema_id = versions[number - 1]
        own = {"subject": match["subject"], "version": number, "id": schema_id}
        return own | self._by_id(schema_id)

    def _register(self, match: re.Match[str], body: bytes) -> tuple[int, object]:
        asked = _asked(body)
        return 200, {"id": self.register(match["subject"], asked.text, asked.references, asked.schema_type)}

    def _look_up(self, match: re.Match[str], body: bytes) -> tuple[int, object]:
        asked = _asked(body)
        versions = self._subjects[match["subject"]]
        schema_id = self._schemas.index(asked) + 1
        return 200, {
            "subject": match["subject"],
            "id": schema_id,
            "version": versions.index(schema_id) + 1,
            "schema": asked.text,
        }

    def _apicurio(self, match: re.Match[str]) -> StoredSchema:
        given = int(match["id"])
        return self._stored(given if match["kind"] == "contentIds" else given - GLOBAL_ID_OFFSET)

    def _artifact(self, match: re.Match[str]) -> StoredSchema:
        return self._stored(self._subjects[match["subject"]][int(match["version"]) - 1])

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._serve("GET")

            def do_POST(self) -> None:
                self._serve("POST")

            def _serve(self, method: str) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = unquote(self.path.partition("?")[0])
                registry.requests.append(f"{method} {path}")
                registry.authorizations.append(self.headers.get("Authorization"))
                match registry.fault:
                    case Fault.DOWN:
                        self.close_connection = True
                        return
                    case Fault.ERROR:
                        status, content = _error(HTTPStatus.INTERNAL_SERVER_ERROR, 50001, "Error in the backend")
                    case Fault.UNAUTHORIZED:
                        status, content = _error(HTTPStatus.UNAUTHORIZED, 40101, "Unauthorized")
                    case Fault.PAGE:
                        status, content = HTTPStatus.OK, b"<!DOCTYPE html><html><body>Please sign in</body></html>"
                    case Fault.NONE:
                        status, content = registry.answer(method, path, body)
                payload = content if isinstance(content, bytes) else msgspec.json.encode(content)
                self.send_response(status)
                page = registry.fault is Fault.PAGE
                self.send_header("Content-Type", "text/html; charset=utf-8" if page else "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: object) -> None:
                """Requests are in ``requests``; nothing is printed."""

        return Handler


# Requests come on several threads, and msgspec must not meet a type in two of them at once.
msgspec.json.Decoder(SchemaReference)


def _asked(body: bytes) -> StoredSchema:
    asked = msgspec.json.decode(body, type=dict[str, object])
    references = msgspec.convert(asked.get("references") or [], tuple[SchemaReference, ...])
    return StoredSchema(str(asked["schema"]), references, str(asked.get("schemaType") or "AVRO"))


def _confluent(stored: StoredSchema) -> dict[str, object]:
    answer: dict[str, object] = {"schema": stored.text}
    if stored.schema_type != "AVRO":
        answer["schemaType"] = stored.schema_type
    if stored.references:
        answer["references"] = [msgspec.to_builtins(one) for one in stored.references]
    return answer


def _apicurio_references(stored: StoredSchema) -> list[dict[str, object]]:
    return [
        {"groupId": None, "artifactId": one.subject, "version": str(one.version), "name": one.name}
        for one in stored.references
    ]


def _missing(what: str) -> tuple[int, object]:
    return _error(HTTPStatus.NOT_FOUND, 40403, what)


def _error(status: HTTPStatus, code: int, message: str) -> tuple[int, object]:
    return int(status), {"error_code": code, "message": message}
