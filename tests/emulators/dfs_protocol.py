"""Requests and answers of the DFS and Blob protocols, as far as the bridge's clients speak them.

Sources: the REST references of Azure Data Lake Storage Gen2 ("Path") and of Blob Storage, and the requests that the
real clients were seen to send.
"""

from __future__ import annotations

import email.utils
import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never
from urllib.parse import unquote

from tests.emulators.file_tree import FileTree, Node, Refusal


class Operation(enum.StrEnum):
    """What a request asks for."""

    CREATE_FILE = "create file"
    CREATE_FOLDER = "create folder"
    APPEND = "append"
    FLUSH = "flush"
    RENAME = "rename"
    DELETE = "delete"
    LIST = "list"
    PROPERTIES = "properties"
    READ = "read"
    PUT_BLOB = "put blob"
    UNKNOWN = "unknown"


class Host(enum.StrEnum):
    """Which of the two hosts of an account was asked."""

    DFS = "dfs"
    BLOB = "blob"


@dataclass(frozen=True)
class Request:
    """A request as it came in; header names in lower case, ``path`` unquoted, without leading slash."""

    host: Host
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def operation(self) -> Operation:
        """By host, method, query and headers, as the services tell them apart."""
        if self.host is Host.BLOB:
            return _BLOB_OPERATIONS.get(self.method, Operation.UNKNOWN)
        match self.method, self.query.get("resource"), self.query.get("action"):
            case "PUT", None, None if "x-ms-rename-source" in self.headers:
                return Operation.RENAME
            case "PUT", "file", None:
                return Operation.CREATE_FILE
            case "PUT", "directory", None:
                return Operation.CREATE_FOLDER
            case "PATCH", None, "append":
                return Operation.APPEND
            case "PATCH", None, "flush":
                return Operation.FLUSH
            case "GET", "filesystem", None:
                return Operation.LIST
            case "DELETE", None, None:
                return Operation.DELETE
            case _:
                return Operation.UNKNOWN

    @property
    def if_absent(self) -> bool:
        """``If-None-Match: *``."""
        return self.headers.get("if-none-match") == "*"


_BLOB_OPERATIONS = {"PUT": Operation.PUT_BLOB, "HEAD": Operation.PROPERTIES, "GET": Operation.READ}


@dataclass(frozen=True)
class Response:
    """An answer; ``Content-Length`` follows from the body unless the headers give it (HEAD)."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def answer(tree: FileTree, request: Request, page_size: int) -> Response:
    """Carry a request out on ``tree``.

    Args:
        page_size: a listing has at most so many entries per answer.

    Raises:
        Refusal: the service says no.
    """
    match request.operation:
        case Operation.CREATE_FILE:
            return _made(tree.create(request.path, is_folder=False, if_absent=request.if_absent))
        case Operation.CREATE_FOLDER:
            return _made(tree.create(request.path, is_folder=True, if_absent=request.if_absent))
        case Operation.APPEND:
            tree.append(request.path, request.body, int(request.query["position"]))
            return Response(202)
        case Operation.FLUSH:
            return _made(tree.flush(request.path, int(request.query["position"])), 200)
        case Operation.RENAME:
            source = unquote(request.headers["x-ms-rename-source"]).strip("/")
            return _made(tree.rename(source, request.path, if_absent=request.if_absent))
        case Operation.DELETE:
            wanted = request.headers.get("if-match")
            if wanted is not None and wanted.strip('"') != tree.get(request.path).etag:
                raise Refusal(412, "ConditionNotMet")
            tree.delete(request.path, recursive=request.query.get("recursive") == "true")
            return Response(200)
        case Operation.LIST:
            return _listing(tree, request, page_size)
        case Operation.PROPERTIES:
            node = tree.get(request.path)
            return Response(200, {**_properties(node), "Content-Length": str(len(node.body))})
        case Operation.READ:
            return _content(tree.get(request.path), request)
        case Operation.PUT_BLOB:
            if request.headers.get("x-ms-blob-type") != "BlockBlob" or request.query:
                raise Refusal(400, "UnsupportedHeader")
            return _made(tree.put(request.path, request.body, if_absent=request.if_absent))
        case Operation.UNKNOWN:
            raise Refusal(400, "UnsupportedQueryParameter")
        case unknown:
            assert_never(unknown)


def refused(refusal: Refusal, headers: Mapping[str, str]) -> Response:
    """A refusal as both protocols tell it: the code in a header, and in a JSON body."""
    body = json.dumps({"error": {"code": refusal.code, "message": f"{refusal.code} (emulator)"}}).encode()
    return Response(
        refusal.status, {"x-ms-error-code": refusal.code, "Content-Type": "application/json", **headers}, body
    )


def _made(node: Node, status: int = 201) -> Response:
    return Response(status, _properties(node))


def _properties(node: Node) -> dict[str, str]:
    headers = {"ETag": f'"{node.etag}"', "Last-Modified": _date(node), "x-ms-blob-type": "BlockBlob"}
    return headers | {"x-ms-meta-hdi_isfolder": "true"} if node.is_folder else headers


def _listing(tree: FileTree, request: Request, page_size: int) -> Response:
    filesystem = request.path
    folder = "/".join(part for part in (filesystem, request.query.get("directory", "").strip("/")) if part)
    start = int(request.query.get("continuation", "0"))
    children = tree.children(folder)
    page = children[start : start + page_size]
    paths = [
        {
            "name": path[len(filesystem) + 1 :],
            "contentLength": str(len(node.body)),
            "etag": node.etag,
            "lastModified": _date(node),
        }
        | ({"isDirectory": "true"} if node.is_folder else {})
        for path, node in page
    ]
    more = {"x-ms-continuation": str(start + page_size)} if start + page_size < len(children) else {}
    return Response(200, {"Content-Type": "application/json", **more}, json.dumps({"paths": paths}).encode())


def _content(node: Node, request: Request) -> Response:
    wanted = request.headers.get("if-match")
    if wanted not in (None, "*", f'"{node.etag}"', node.etag):
        raise Refusal(412, "ConditionNotMet")
    given = request.headers.get("x-ms-range") or request.headers.get("range")
    if given is None:
        return Response(200, _properties(node), node.body)
    first, _, last = given.removeprefix("bytes=").partition("-")
    if int(first) >= len(node.body):
        raise Refusal(416, "InvalidRange")
    body = node.body[int(first) : int(last) + 1 if last else None]
    span = f"bytes {first}-{int(first) + len(body) - 1}/{len(node.body)}"
    return Response(206, _properties(node) | {"Content-Range": span}, body)


def _date(node: Node) -> str:
    return email.utils.formatdate(node.modified, usegmt=True)
