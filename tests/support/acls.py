"""ACLs of a test's own broker: nothing is asked of it before they count."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

SECONDS = 60.0
_PAUSE = 0.005
_ANY: Any = None
"""The client types its own None as text."""
_EVERYTHING = AclBindingFilter(
    ResourceType.ANY, _ANY, ResourcePatternType.ANY, _ANY, _ANY, AclOperation.ANY, AclPermissionType.ANY
)


def add_acls(admin: AdminClient, bindings: Sequence[AclBinding]) -> None:
    """Add them; they count when it returns."""
    wanted = set(_known(admin)) | set(bindings)
    for future in (admin.create_acls(list(bindings)) if bindings else {}).values():
        future.result(SECONDS)
    _wait_for(admin, wanted)


def remove_acls(admin: AdminClient) -> None:
    """Remove all of them; none counts any more when it returns."""
    for future in admin.delete_acls([_EVERYTHING]).values():
        future.result(SECONDS)
    _wait_for(admin, set())


def _wait_for(admin: AdminClient, wanted: set[AclBinding]) -> None:
    """The controller answers what it was asked; what counts is what the broker tells, which hears of it later."""
    deadline = time.monotonic() + SECONDS
    while (known := set(_known(admin))) != wanted:
        assert time.monotonic() < deadline, f"the broker knows {known} instead of {wanted}"
        time.sleep(_PAUSE)


def _known(admin: AdminClient) -> list[AclBinding]:
    found: list[AclBinding] = admin.describe_acls(_EVERYTHING).result(SECONDS)
    return found
