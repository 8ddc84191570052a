"""Why Fabric does not tell how mirroring goes. None of these concerns the files: they land all the same."""

from __future__ import annotations

from connectors.errors import Terminal, Transient


class FabricDeniedError(Terminal):
    """Fabric does not let this identity see the mirrored database's status."""


class FabricNotFoundError(Terminal):
    """There is no such mirrored database, or this identity may not know of it."""


class FabricUnavailableError(Transient):
    """Fabric did not answer, or asked for patience."""


class FabricAnswerError(Transient):
    """Fabric's answer, or a file that it writes, is not in the form that is known."""
