"""The OpenLineage client that the settings ask for; the package is an extra, so it is imported here and not before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streaming.settings import SettingsError
from streaming.settings.lineage import Lineage
from streaming.settings.yaml_document import parse_yaml

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

INSTALL = "pip install openlineage-python, or take url and client_file of lineage out of the settings"

_RETRIES = 1
"""An event that fails twice is lost: the next one comes soon, and stands for itself."""


def open_client(lineage: Lineage) -> OpenLineageClient:
    """The client of ``lineage.url`` or ``lineage.client_file``; nothing is sent yet.

    Raises:
        SettingsError: the client is not installed, its configuration file cannot be used, or a secret cannot be read.
    """
    try:
        from openlineage.client import OpenLineageClient
    except ImportError:
        raise SettingsError(
            "The settings ask for lineage events, but their client is missing", remedy=INSTALL
        ) from None
    if lineage.client_file is not None:
        content = _content(lineage.client_file)
        return _made(lambda: OpenLineageClient(config=content), lineage.client_file)
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    transport = HttpTransport(HttpConfig.from_dict(_http(lineage)))
    return OpenLineageClient(transport=transport)


def _http(lineage: Lineage) -> dict[str, Any]:
    key = lineage.api_key_text()
    return {
        # The client joins the two as a browser would: without the slash, the address' own path would be lost.
        "url": f"{str(lineage.url).rstrip('/')}/",
        "endpoint": lineage.endpoint.lstrip("/"),
        "timeout": lineage.timeout.total_seconds(),
        "retry": {"total": _RETRIES, "read": _RETRIES, "connect": _RETRIES},
        **({} if key is None else {"auth": {"type": "api_key", "apiKey": key}}),
        **({} if lineage.ca_file is None else {"sslContext": {"caCertPath": str(lineage.ca_file)}}),
    }


def _content(file: Path) -> dict[str, Any]:
    try:
        document = parse_yaml(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(file, str(error)) from None
    if document.problems:
        problem = document.problems[0]
        place = f" ({problem.source})" if problem.source else ""
        raise _unusable(file, f"{problem.message}{place}")
    if not isinstance(document.values.get("transport"), dict):
        raise _unusable(file, "it has no section transport")
    return document.values


def _made(make: Callable[[], OpenLineageClient], file: Path) -> OpenLineageClient:
    # The client names the kinds of errors of a wrong file nowhere, and its transports come from everywhere: what they
    # say may hold any of the file's values, which may be secret.
    try:
        return make()
    except Exception as error:
        raise _unusable(file, f"it refuses it with {type(error).__name__}") from None


def _unusable(file: Path, why: str) -> SettingsError:
    return SettingsError(
        f"The OpenLineage client cannot use its configuration: {why}",
        remedy="mend the file: its section transport names a type and what that type needs, as the client describes",
        file=file,
    )
