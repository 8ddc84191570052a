"""What a Python worker of Spark loads before its first record: each starts anew, so it loads what it needs alone."""

from __future__ import annotations

import subprocess
import sys

_CLIENT = "confluent_kafka.schema_registry"


def test_a_worker_of_records_without_a_registry_does_not_load_its_client() -> None:
    assert _loaded("import streaming.task.worker") == ["False"]


def test_a_worker_of_records_with_a_registry_does() -> None:
    registry = "from connectors.kafka.registry import *; Registry(RegistryConfig('http://127.0.0.1:9'))"
    assert _loaded(f"import streaming.task.worker; {registry}") == ["True"]


def _loaded(code: str) -> list[str]:
    """Whether the client is there once ``code`` has run."""
    code = f"{code}; import sys; print({_CLIENT!r} in sys.modules)"
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.splitlines()
