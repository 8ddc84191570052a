"""Two schemas for the registry of the tests, and settings by which it is asked once and has a minute to answer."""

from __future__ import annotations

import re

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.registry import RegistryConfig, RegistryKind

ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}'
COUNTRY = '{"type":"enum","name":"Country","namespace":"shop.geo","symbols":["DE","FR"]}'


def confluent(server: EmbeddedRegistry, **other: float) -> RegistryConfig:
    return RegistryConfig(server.url, attempts=1, timeout=60, **other)


def apicurio(server: EmbeddedRegistry, path: str = "") -> RegistryConfig:
    return RegistryConfig(f"{server.url}{path}", RegistryKind.APICURIO, attempts=1, timeout=60)


def refusing(
    server: EmbeddedRegistry, monkeypatch: pytest.MonkeyPatch, *paths: str, status: int = 403, body: object = None
) -> None:
    """Let the registry refuse what is under these paths, and answer everything else."""
    answer = server.answer
    said = body or {"error_code": 40301, "message": "User is denied operation Read"}

    def guarded(method: str, path: str, content: bytes) -> tuple[int, object]:
        return (status, said) if any(re.fullmatch(one, path) for one in paths) else answer(method, path, content)

    monkeypatch.setattr(server, "answer", guarded)
