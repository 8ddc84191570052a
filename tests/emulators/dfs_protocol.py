"""What the DFS and Blob protocols answer, as far as the bridge's clients speak them."""

from __future__ import annotations

import base64
import email.utils
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from tests.emulators.dfs_requests import Host, Operation, Request, Response
from tests.emulators.file_tree import FileTree, Node, Refusal
from tests.emulators.leases import Leases

__all__ = ["Host", "Operation", "Request", "Response", "answer", "refused"]

_READS = frozenset({Operation.READ, Operation.PROPERTIES, Operation.LIST, Operation.UNKNOWN})


def answer(
    tree: FileTree, request: Request, page_size: int, leases: Leases | None = None, *, sparse: bool = False
) -> Response:
    """Carry a request out on ``tree``.

    Args:
        page_size: a listing has at most so many entries per answer.
        leases: those of the account; None for an account where nobody takes any.
        sparse: a listing begins with a page that holds nothing but the token of the next one, as the service may do.

    Raises:
        Refusal: the service says no.
    """
    held = leases or Leases(tree.clock)
    operation = request.operation
    if operation not in _READS:
        _check_etags(tree, request)
        if operation is not Operation.LEASE:
            held.require(request.path, request.headers.get("x-ms-lease-id", ""))
    match operation:
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
            return _renamed(tree, request, held)
        case Operation.DELETE:
            return _deleted(tree, request, page_size)
        case Operation.LIST:
            return _listing(tree, request, page_size, sparse=sparse)
        case Operation.PROPERTIES:
            _check_etags(tree, request)
            node = tree.get(request.path)
            return Response(200, {**_properties(node), "Content-Length": str(len(node.body))})
        case Operation.READ:
            _check_etags(tree, request)
            return _content(tree.get(request.path), request)
        case Operation.PUT_BLOB:
            if request.headers.get("x-ms-blob-type") != "BlockBlob" or request.query:
                raise Refusal(400, "UnsupportedHeader")
            made = _made(tree.put(request.path, request.body, if_absent=request.if_absent))
            digest = tree.told_md5(request.body)
            told = {} if digest is None else {"Content-MD5": base64.b64encode(digest).decode()}
            return replace(made, headers={**made.headers, **told})
        case Operation.LEASE:
            return _leased(tree, request, held)
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


def _check_etags(tree: FileTree, request: Request) -> None:
    """``If-Match`` and ``If-None-Match`` with etags; ``If-None-Match: *`` is what creates and renames look at."""
    node = tree.find(request.path)
    wanted, unwanted = request.headers.get("if-match"), request.headers.get("if-none-match")
    if wanted is not None and (node is None or wanted not in ("*", f'"{node.etag}"', node.etag)):
        if node is None and request.operation is Operation.DELETE:
            raise Refusal(404, "PathNotFound")
        raise Refusal(412, "ConditionNotMet")
    if unwanted not in (None, "*") and node is not None and unwanted in (f'"{node.etag}"', node.etag):
        raise Refusal(412, "ConditionNotMet")


def _made(node: Node, status: int = 201) -> Response:
    return Response(status, _properties(node))


def _properties(node: Node) -> dict[str, str]:
    headers = {"ETag": f'"{node.etag}"', "Last-Modified": _date(node), "x-ms-blob-type": "BlockBlob"}
    return headers | {"x-ms-meta-hdi_isfolder": "true"} if node.is_folder else headers


def _renamed(tree: FileTree, request: Request, leases: Leases) -> Response:
    source = request.rename_source
    leases.require(source, request.headers.get("x-ms-source-lease-id", ""))
    node, wanted = tree.find(source), request.headers.get("x-ms-source-if-match")
    if node is not None and wanted not in (None, "", "*", f'"{node.etag}"', node.etag):
        raise Refusal(412, "SourceConditionNotMet")
    moved = tree.rename(source, request.path, if_absent=request.if_absent)
    leases.move(source, request.path)
    return _made(moved)


def _deleted(tree: FileTree, request: Request, page_size: int) -> Response:
    """Gone; of a large folder only a part, where the client says that it will ask again (``paginated``)."""
    recursive = request.query.get("recursive") == "true"
    if recursive and request.query.get("paginated") == "true":
        below = tree.children(request.path, recursive=True)
        if len(below) > page_size:
            for path, _ in reversed(below[-page_size:]):
                tree.delete(path, recursive=True)
            return Response(200, {"x-ms-continuation": _token(request.path, "")})
    tree.delete(request.path, recursive=recursive)
    return Response(200 if request.host is Host.DFS else 202)


def _leased(tree: FileTree, request: Request, leases: Leases) -> Response:
    node = tree.get(request.path)
    headers = request.headers
    own = headers.get("x-ms-lease-id", "")
    seconds = float(headers.get("x-ms-lease-duration", "-1"))
    match headers["x-ms-lease-action"]:
        case "acquire":
            lease = leases.acquire(request.path, seconds, headers.get("x-ms-proposed-lease-id", ""))
            return Response(201, {**_properties(node), "x-ms-lease-id": lease})
        case "renew":
            return Response(200, {**_properties(node), "x-ms-lease-id": leases.renew(request.path, own, seconds)})
        case "release":
            leases.release(request.path, own)
            return Response(200, _properties(node))
        case "break":
            leases.end(request.path)
            return Response(202, {**_properties(node), "x-ms-lease-time": "0"})
        case _:
            raise Refusal(400, "InvalidHeaderValue")


def _listing(tree: FileTree, request: Request, page_size: int, *, sparse: bool) -> Response:
    """A page. The token says behind which name the next one begins, so files that come and go shift nothing."""
    filesystem = request.path
    folder = "/".join(part for part in (filesystem, request.listed) if part)
    token = request.query.get("continuation", "")
    after = _behind(token, folder)
    children = tree.children(folder, recursive=request.query.get("recursive") == "true")
    rest = [(path, node) for path, node in children if after is None or path > after]
    size = 0 if sparse and not token else min(page_size, int(request.query.get("maxResults", page_size)))
    page = rest[:size]
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
    more = {"x-ms-continuation": _token(folder, page[-1][0] if page else "")} if size < len(rest) else {}
    return Response(200, {"Content-Type": "application/json", **more}, json.dumps({"paths": paths}).encode())


def _token(folder: str, after: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([folder, after]).encode()).decode()


def _behind(token: str, folder: str) -> str | None:
    if not token:
        return None
    try:
        of, after = json.loads(base64.urlsafe_b64decode(token))
    except ValueError as error:
        raise Refusal(400, "InvalidQueryParameterValue") from error
    if of != folder:
        raise Refusal(400, "InvalidQueryParameterValue")
    return str(after)


def _content(node: Node, request: Request) -> Response:
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
