"""Requests of the DFS and Blob protocols, told apart as the services do, and their answers.

Sources: the REST references of Azure Data Lake Storage Gen2 ("Path") and of Blob Storage, and the requests that the
real clients were seen to send.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote


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
    LEASE = "lease"
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
        if self.query.get("comp") == "lease" or (self.method == "POST" and "x-ms-lease-action" in self.headers):
            return Operation.LEASE
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
            case "GET", None, None:
                return Operation.READ
            case "HEAD", None, None | "getStatus":
                return Operation.PROPERTIES
            case "DELETE", None, None:
                return Operation.DELETE
            case _:
                return Operation.UNKNOWN

    @property
    def if_absent(self) -> bool:
        """``If-None-Match: *``."""
        return self.headers.get("if-none-match") == "*"

    @property
    def rename_source(self) -> str:
        """Path of the file to be renamed; what follows a ``?`` is a token of its own and no part of the name."""
        return unquote(self.headers["x-ms-rename-source"].partition("?")[0]).strip("/")

    @property
    def listed(self) -> str:
        """The folder to be listed, within the file system."""
        return self.query.get("directory", "").strip("/")

    @property
    def name(self) -> str:
        """The last segment of the path."""
        return self.path.rpartition("/")[2]


_BLOB_OPERATIONS = {
    "PUT": Operation.PUT_BLOB,
    "HEAD": Operation.PROPERTIES,
    "GET": Operation.READ,
    "DELETE": Operation.DELETE,
}


@dataclass(frozen=True)
class Response:
    """An answer; ``Content-Length`` follows from the body unless the headers give it (HEAD)."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
