"""The search for secrets sees them: however they are written, in what is packed, in what lives for a moment."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.canaries import Evidence, canary
from tests.support.family import Family
from tests.support.started import StartedPrograms

NAME, OTHER = "kafka password", "salt of hashes"
ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "quoted in a URL": lambda text: quote(text, safe="").encode(),
    "quoted in a form": lambda text: quote_plus(text).encode(),
    "JSON": lambda text: json.dumps(text).encode(),
    "Python": lambda text: repr(text.encode()).encode(),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64 in a URL": lambda text: quote(base64.urlsafe_b64encode(text.encode()), safe="").encode(),
    "hexadecimal": lambda text: text.encode().hex().encode(),
    "backwards": lambda text: text[::-1].encode(),
    "to its first sign": lambda text: text.partition("%")[0].encode(),
    "from its last sign on": lambda text: text.rpartition("~")[2].encode(),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("before", ["", "u:", "user:", "bridge:"])
def test_a_secret_is_seen_however_it_is_written(encoding: str, before: str) -> None:
    seen = Evidence()
    seen.add("here", b"a " + ENCODINGS[encoding](f"{before}{canary(NAME)}") + b" b")
    assert (seen.finds(NAME), seen.finds(OTHER)) == (["here"], [])


def parquet(values: pa.Array, metadata: dict[str, str] | None = None) -> bytes:
    written = io.BytesIO()
    table = pa.table({"values": values}).replace_schema_metadata(metadata)
    pq.write_table(table, written, compression="zstd", use_dictionary=False, write_statistics=False)
    return written.getvalue()


def zipped(text: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside", text)
    return written.getvalue()


def streamed(text: str, codec: str) -> bytes:
    written = pa.BufferOutputStream()
    with pa.CompressedOutputStream(written, codec) as stream:
        stream.write(text.encode())
    return bytes(written.getvalue())


# Amid so much of what repeats itself each codec packs.
LONG = f"{'x' * 1_000}{canary(NAME)}{canary(NAME)[::-1]}{'x' * 1_000}"
PACKED = {
    "Parquet's texts": parquet(pa.array([LONG, LONG])),
    "Parquet's bytes": parquet(pa.array([LONG.encode()])),
    "Parquet's nested values": parquet(pa.array([[{"a": LONG}]])),
    "Parquet's metadata": parquet(pa.array([1]), {"made by": canary(NAME)}),
    "gzip": gzip.compress(LONG.encode()),
    "zstd": streamed(LONG, "zstd"),
    "LZ4": streamed(LONG, "lz4"),
    "zip": zipped(LONG),
}


@pytest.mark.parametrize("kind", PACKED)
def test_a_secret_is_seen_in_what_is_packed(kind: str) -> None:
    seen = Evidence()
    seen.add_file("here", "file", PACKED[kind])
    assert ("here, unpacked" in seen.finds(NAME), seen.finds(OTHER)) == (True, [])


def started(script: str, environment: dict[str, str] | None = None) -> Family:
    with (
        subprocess.Popen(
            ["bash", "-c", script, canary(OTHER)], env=os.environ | (environment or {}), start_new_session=True
        ) as process,
        Family(process.pid) as family,
    ):
        process.wait()
    return family


@pytest.mark.parametrize(
    "script",
    [
        "sleep 0.5 & exec -a kafka sleep 0.7",
        "(sleep 0.5 & true); sleep 0.7",
        "sleep 0.5; bash -c 'exec -a kafka sleep 0.7'; true",
    ],
    ids=["a child, and what replaces its parent", "an orphan", "a child's child"],
)
def test_all_that_a_process_starts_is_seen(script: str) -> None:
    lines = started(script).seen
    assert {line.split(b"\0")[1] for line in lines if b"sleep\0" in line or b"kafka\0" in line} == {b"0.5", b"0.7"}


def test_what_lives_for_a_moment_is_seen(tmp_path: Path) -> None:
    programs = StartedPrograms(tmp_path)
    started("for each in $(seq 50); do readlink /proc/self/exe $each; done >/dev/null", programs.environment)
    assert [line.split(b"\0")[2] for line in programs.lines().splitlines() if line.startswith(b"readlink\0")] == [
        str(each).encode() for each in range(1, 51)
    ]


def test_where_secrets_are_not_given_environments_are_searched() -> None:
    family = started("sleep 0.3; true", {"GIVEN": canary(NAME)})
    seen = Evidence(given=frozenset({OTHER}))
    seen.add_family("it", family)
    assert [place.partition(" ")[0] for place in seen.finds(NAME)] == ["environment"] * len(family.seen)
    assert seen.finds(OTHER) == ["it: command lines"], "it was among the arguments"
