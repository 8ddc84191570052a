"""What OneLake refuses of the ADLS protocol: its account holds workspaces, a workspace items, an item fixed folders.

Sources: Microsoft's "OneLake API parity" and "OneLake access and APIs": names and GUIDs do not mix; nothing is created,
renamed or deleted at the level of workspace and item, nor the folders ``Files`` and ``Tables``; query parameters that
it does not know are refused; headers of access rights are ignored, and the answer names them. Which codes it answers
with is known from reports of some of these only; the others here are Azure Storage's for like cases.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping

from tests.emulators.access import Access
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.file_tree import FileTree, Refusal

WORKSPACE = "5f0c6d3e-1b7a-4a39-9d0e-3f6b2a7c9e10"

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIXED_DEPTH = 2  # an item, and its folders Files and Tables
_WRITES = frozenset(
    {
        Operation.CREATE_FILE,
        Operation.CREATE_FOLDER,
        Operation.APPEND,
        Operation.FLUSH,
        Operation.RENAME,
        Operation.DELETE,
        Operation.PUT_BLOB,
        Operation.LEASE,
    }
)
_PARAMETERS = frozenset(
    {
        "action",
        "close",
        "comp",
        "continuation",
        "directory",
        "maxResults",
        "mode",
        "paginated",
        "position",
        "recursive",
        "resource",
        "retainUncommittedData",
        "timeout",
        "upn",
    }
)
_IGNORED_HEADERS = ("x-ms-owner", "x-ms-group", "x-ms-acl", "x-ms-permissions", "x-ms-access-tier", "x-ms-umask")


class OneLake:
    """One workspace's rules.

    Attributes:
        refused_parameters: query parameters that it does not allow although ADLS does. Whether the rename's ``mode``
            is one of them is not documented.
        access: what the identity may do; None for everything.
    """

    def __init__(self, tree: FileTree, workspace: str = WORKSPACE) -> None:
        self.refused_parameters: frozenset[str] = frozenset()
        self.access: Access | None = None
        self._tree = tree
        self._workspace = workspace

    def new_item(self) -> str:
        """A new item of the workspace, with its fixed folders; returns its GUID."""
        item = str(uuid.uuid4())
        for folder in ("Files", "Tables"):
            self._tree.create(f"{self._workspace}/{item}/{folder}", is_folder=True, if_absent=True)
        return item

    def require_allowed(self, request: Request) -> None:
        """Return if OneLake takes the request on.

        Raises:
            Refusal: it does not.
        """
        unknown = [name for name in request.query if name not in _PARAMETERS or name in self.refused_parameters]
        if unknown:
            raise Refusal(400, "UnsupportedQueryParameter")
        paths = [request.path]
        if request.operation is Operation.RENAME:
            paths.append(request.rename_source)
        if request.operation is Operation.LIST:
            paths = ["/".join(part for part in (request.path, request.listed) if part)]
        for path in paths:
            self._require_item(path)
            if request.operation in _WRITES and path.count("/") <= _FIXED_DEPTH:
                raise Refusal(400, "OperationNotAllowedOnThePath")
        if self.access is not None:
            self.access.require(request)

    def _require_item(self, path: str) -> None:
        workspace, *below = path.split("/")
        if workspace != self._workspace:
            raise Refusal(404, "FilesystemNotFound")
        if not below:
            return
        if not _GUID.fullmatch(below[0]):
            raise Refusal(400, "FriendlyNameSupportDisabled")
        if self._tree.find(f"{workspace}/{below[0]}") is None:
            raise Refusal(404, "PathNotFound")


def rejected_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The answer's header that names those of the request that were ignored."""
    found = [name for name in _IGNORED_HEADERS if name in headers]
    return {"x-ms-rejected-headers": ",".join(found)} if found else {}
