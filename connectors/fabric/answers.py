"""Reading what Fabric writes as JSON: answers of its REST API, and the files of ``Files/Monitoring``.

Both say the same under different names. What is missing is not known; what is of another type is an answer that cannot
be read. Fields that are not named here are left alone, so that Fabric may add some.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from connectors.fabric.errors import FabricAnswerError
from connectors.fabric.status import DatabaseMirroring, MirroringError, TableMirroring, error_of, moment_ms

Json = Mapping[str, Any]


def parse_object(body: bytes, *, of: str) -> Json:
    """The JSON object in ``body``; a byte order mark is passed over.

    Args:
        of: where it is from, for messages.

    Raises:
        FabricAnswerError: it is not one.
    """
    try:
        found = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _unreadable("it is not JSON", of) from error
    if not isinstance(found, dict):
        raise _unreadable("it is not a JSON object", of)
    return cast("Json", found)


def database_of_rest(answer: Json, *, of: str) -> DatabaseMirroring:
    """``{"status", "error"?}`` of ``getMirroringStatus``."""
    return DatabaseMirroring(_text(answer, "status", of), _rest_error(answer, of))


def tables_of_rest(answer: Json, *, of: str) -> Iterator[TableMirroring]:
    """One page of ``getTablesMirroringStatus``: ``{"data": [...], "continuationToken"?}``."""
    for each in _objects(answer, "data", of):
        metrics = _object(each, "metrics", of)
        yield TableMirroring(
            schema=_text(each, "sourceSchemaName", of, required=False),
            table=_text(each, "sourceTableName", of, required=False),
            state=_text(each, "status", of),
            error=_rest_error(each, of),
            rows=_count(metrics, "processedRows"),
            bytes=_count(metrics, "processedBytes"),
            synced_ms=moment_ms(metrics.get("lastSyncDateTime")),
        )


def continuation_of(answer: Json, *, of: str) -> str:
    """The token of the next page; empty on the last one."""
    return _text(answer, "continuationToken", of, required=False)


def database_of_file(answer: Json, *, of: str) -> DatabaseMirroring:
    """``replicator.json``: ``{"status", "errorCode", "errorMessage", "lastHeartbeatTime"?}``."""
    return DatabaseMirroring(
        _text(answer, "status", of),
        error_of(answer.get("errorCode"), answer.get("errorMessage")),
        moment_ms(answer.get("lastHeartbeatTime")),
    )


def tables_of_file(answer: Json, *, of: str) -> Iterator[TableMirroring]:
    """``tables.json``: ``{"tables": [{"status", "sourceSchemaName", "sourceTableName", "metrics", ...}]}``."""
    for each in _objects(answer, "tables", of):
        metrics = _object(each, "metrics", of)
        yield TableMirroring(
            schema=_text(each, "sourceSchemaName", of, required=False),
            table=_text(each, "sourceTableName", of, required=False),
            state=_text(each, "status", of),
            error=error_of(each.get("errorCode"), each.get("errorMessage")),
            rows=_count(metrics, "processedRowCount"),
            bytes=_count(metrics, "processedByte"),
            synced_ms=moment_ms(metrics.get("lastSyncTimeUtc")),
        )


def _rest_error(answer: Json, of: str) -> MirroringError | None:
    told = _object(answer, "error", of)
    return error_of(told.get("errorCode"), told.get("message"))


def _objects(answer: Json, name: str, of: str) -> list[Json]:
    found = answer.get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise _unreadable(f"{name} is not a list of objects", of)
    return cast("list[Json]", found)


def _object(answer: Json, name: str, of: str) -> Json:
    found = answer.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _unreadable(f"{name} is not an object", of)
    return cast("Json", found)


def _text(answer: Json, name: str, of: str, *, required: bool = True) -> str:
    found = answer.get(name)
    if found is None and not required:
        return ""
    if not isinstance(found, str) or (required and not found):
        raise _unreadable(f"{name} is not a text", of)
    return found


def _count(metrics: Json, name: str) -> int | None:
    found = metrics.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _unreadable(reason: str, of: str) -> FabricAnswerError:
    return FabricAnswerError(
        f"What Fabric tells of mirroring cannot be read: {reason}",
        remedy="look whether a proxy answers in Fabric's place; if the form has changed, set fabric.status to the "
        "other of rest and files",
        source=of,
    )
