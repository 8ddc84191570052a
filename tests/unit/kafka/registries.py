"""Two schemas for the registry of the tests, and settings by which it is asked once and has a minute to answer."""

from __future__ import annotations

from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.registry import RegistryConfig, RegistryKind

ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}'
COUNTRY = '{"type":"enum","name":"Country","namespace":"shop.geo","symbols":["DE","FR"]}'


def confluent(server: EmbeddedRegistry, **other: float) -> RegistryConfig:
    return RegistryConfig(server.url, attempts=1, timeout=60, **other)


def apicurio(server: EmbeddedRegistry, path: str = "") -> RegistryConfig:
    return RegistryConfig(f"{server.url}{path}", RegistryKind.APICURIO, attempts=1, timeout=60)
