"""librdkafka is found as ``confluent_kafka`` holds it; where it is not, the bridge says why and reads without it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import confluent_kafka
import pytest

from connectors.kafka.reading import library
from connectors.kafka.reading.library import MESSAGES, Library, find_library
from tests.support.c_compiler import shared_object

VERSION_2 = 0x020B00FF
VERSION_3 = 0x030000FF
FUNCTIONS = tuple(re.findall(r"(rd_kafka_\w+)\(", library.DECLARATIONS))


def build(target: Path, version: int, lacking: str = "") -> Path:
    """A library with all functions that are called, but for one, of which each gives its version."""
    functions = (f"int {name}(void) {{ return {version}; }}\n" for name in FUNCTIONS if name != lacking)
    return shared_object(target, "".join(functions))


def version_of(found: Library | None) -> int:
    assert found is not None
    return int(found.lib.rd_kafka_version())


def test_it_is_the_one_that_the_client_calls() -> None:
    assert version_of(library.LIBRARY) == confluent_kafka.libversion()[1]


def test_it_is_found_where_a_distribution_has_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    system, packages = tmp_path / "usr lib", tmp_path / "dist packages"
    system.mkdir()
    packages.mkdir()
    linked = build(system / "librdkafka.so.1", VERSION_2)
    client = shared_object(
        packages / "cimpl.so", "", "-Wl,--no-as-needed", str(linked), f"-Wl,-rpath,{system}", "-Wl,--disable-new-dtags"
    )
    assert version_of(find_library(MESSAGES, str(client))) == VERSION_2
    assert caplog.messages == []


def test_it_is_found_within_the_client(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = build(tmp_path / "cimpl.so", VERSION_2)
    assert version_of(find_library(MESSAGES, str(client))) == VERSION_2
    assert caplog.messages == []


def test_another_file_of_that_name_beside_the_client_s_is_not_taken(tmp_path: Path) -> None:
    client = build(tmp_path / "cimpl.so", VERSION_2)
    (tmp_path / "cimpl.libs").mkdir()
    build(tmp_path / "cimpl.libs" / "librdkafka-00000000.so", VERSION_2 + 1)
    assert version_of(find_library(MESSAGES, str(client))) == VERSION_2


@pytest.mark.parametrize("lacking", FUNCTIONS)
def test_one_that_lacks_a_function_is_not_used(lacking: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = build(tmp_path / "cimpl.so", VERSION_2, lacking)
    assert find_library(MESSAGES, str(client)) is None
    [told] = caplog.messages
    assert re.search(f"at a fifth of the speed: librdkafka's functions are not found: .*{lacking}", told)


def test_one_of_a_later_version_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = build(tmp_path / "cimpl.so", VERSION_3)
    assert find_library(MESSAGES, str(client)) is None
    [told] = caplog.messages
    assert told.endswith("at a fifth of the speed: librdkafka's version 3 may have others than those that are called")


@pytest.mark.parametrize("content", [None, b"", b"no library"])
def test_a_client_that_is_no_library_is_told_of(
    content: bytes | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = tmp_path / "cimpl.so"
    if content is not None:
        client.write_bytes(content)
    assert find_library(MESSAGES, str(client)) is None
    [told] = caplog.messages
    assert f"librdkafka's functions are not found: cannot load library '{client}'" in told


def test_without_the_extension_nothing_more_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert find_library(None, str(tmp_path / "cimpl.so")) is None
    assert caplog.messages == []


def test_where_it_is_not_found_records_are_read_one_by_one(tmp_path: Path) -> None:
    code = (
        f"from confluent_kafka import cimpl; cimpl.__file__ = {str(tmp_path / 'cimpl.so')!r}\n"
        "from connectors.kafka.config import KafkaConfig\n"
        "from connectors.kafka.reading.open import open_reader\n"
        "print(type(open_reader(KafkaConfig('127.0.0.1:9'))).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "MessageReader\n"
    [told] = [line for line in done.stderr.splitlines() if "librdkafka's functions" in line]
    assert told.startswith("Kafka's records are read record by record")
