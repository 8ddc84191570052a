"""What an identity may do on the emulated storage: requests by what they do and where, and nothing else.

Azure Storage tells four rights on files apart, as the actions of its roles do: read (which listings and properties
take, too), write, move and delete. A request that the identity has no right to is answered as OneLake does: 403, and
the code ``Forbidden``.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.file_tree import Refusal

FORBIDDEN = (403, "Forbidden")


class Right(enum.StrEnum):
    """What a request does to a file or folder."""

    READ = "read"
    WRITE = "write"
    MOVE = "move"
    DELETE = "delete"


RIGHTS: Mapping[Operation, Right] = {
    Operation.LIST: Right.READ,
    Operation.PROPERTIES: Right.READ,
    Operation.READ: Right.READ,
    Operation.CREATE_FILE: Right.WRITE,
    Operation.CREATE_FOLDER: Right.WRITE,
    Operation.APPEND: Right.WRITE,
    Operation.FLUSH: Right.WRITE,
    Operation.PUT_BLOB: Right.WRITE,
    Operation.LEASE: Right.WRITE,
    Operation.RENAME: Right.MOVE,
    Operation.DELETE: Right.DELETE,
}


@dataclass(frozen=True)
class Permission:
    """A right on some paths.

    Attributes:
        place: matches the whole path of each file or folder it is on, from the workspace on; of a move, the new one.
        source: matches the old path of a move.
    """

    right: Right
    place: str
    source: str = ""

    def covers(self, request: Request) -> bool:
        """Whether the request needs no more than this."""
        if RIGHTS.get(request.operation) is not self.right:
            return False
        if self.right is Right.MOVE and re.fullmatch(self.source, request.rename_source) is None:
            return False
        path = request.path
        if request.operation is Operation.LIST:
            path = "/".join(part for part in (path, request.listed) if part)
        return re.fullmatch(self.place, path) is not None


class Access:
    """All that an identity may do.

    Attributes:
        used: which of its permissions some request has needed.
        refused: requests that were not covered by any.
    """

    def __init__(self, permissions: Iterable[Permission]) -> None:
        self.used: set[Permission] = set()
        self.refused: list[Request] = []
        self._permissions = tuple(permissions)

    def require(self, request: Request) -> None:
        """Return if the identity may do it.

        Raises:
            Refusal: it may not.
        """
        covering = [permission for permission in self._permissions if permission.covers(request)]
        if not covering:
            self.refused.append(request)
            raise Refusal(*FORBIDDEN)
        self.used.update(covering)
