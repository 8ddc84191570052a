"""Pinned jars: fetched once, verified always, safe against two starts at once."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
from pathlib import Path

import pytest

from connectors.kafka import jars
from connectors.kafka.errors import JarDigestError, JarsError
from connectors.kafka.ivy import Coordinates, IvyError
from connectors.kafka.jars import JarSet, PinnedJar, jars_folder, pinned_jars, resolve_jars

ONE = Coordinates("org.example", "one", "1.0")
TWO = Coordinates("org.example", "two", "2.0")
CONTENT = {ONE: b"first jar", TWO: b"second jar"}
PINS = tuple(PinnedJar(one, hashlib.sha256(content).hexdigest()) for one, content in CONTENT.items())


def write_jars(coordinates: tuple[Coordinates, ...], folder: Path) -> None:
    for one in coordinates:
        (folder / f"{one.artifact}-{one.revision}.jar").write_bytes(CONTENT[one])


def no_network(coordinates: tuple[Coordinates, ...], folder: Path) -> None:
    write_jars(coordinates[:1], folder)
    raise IvyError("Ivy ended with code 1, without org.example:two:2.0 (UNRESOLVED DEPENDENCY)")


def must_not_fetch(coordinates: tuple[Coordinates, ...], folder: Path) -> None:
    raise AssertionError("fetched again")


@pytest.fixture(autouse=True)
def small_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "pinned_jars", lambda _: PINS)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"CDC_BRIDGE_JARS": str(tmp_path / "jars")}


def test_jars_are_fetched_once_and_then_taken_from_the_folder(environ: dict[str, str]) -> None:
    told: list[str] = []

    first = resolve_jars(JarSet.BROKER, environ=environ, progress=told.append, fetch=write_jars)
    second = resolve_jars(JarSet.BROKER, environ=environ, progress=told.append, fetch=must_not_fetch)

    folder = jars_folder(JarSet.BROKER, environ)
    assert first == second == [folder / "one-1.0.jar", folder / "two-2.0.jar"]
    assert [path.read_bytes() for path in first] == [b"first jar", b"second jar"]
    assert told == ["fetching 2 jars (broker)", "fetched 2 jars (broker)"]
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name, f"{folder.name}.lock"]


def test_the_folder_is_that_of_the_variable_else_the_users_cache(tmp_path: Path) -> None:
    names = {
        jars_folder(JarSet.BROKER, {"CDC_BRIDGE_JARS": str(tmp_path), "XDG_CACHE_HOME": "/cache"}).parent,
        jars_folder(JarSet.BROKER, {"CDC_BRIDGE_JARS": "", "XDG_CACHE_HOME": "/cache"}).parent,
        jars_folder(JarSet.BROKER, {}).parent,
    }

    assert names == {tmp_path, Path("/cache/cdc-bridge/jars"), Path.home() / ".cache/cdc-bridge/jars"}


def test_other_pins_are_another_folder(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = jars_folder(JarSet.BROKER, environ)
    monkeypatch.setattr(jars, "pinned_jars", lambda _: (PINS[0], PinnedJar(TWO, "0" * 64)))

    assert jars_folder(JarSet.BROKER, environ) != before


def test_a_folder_without_its_marker_is_made_anew(environ: dict[str, str]) -> None:
    folder = jars_folder(JarSet.BROKER, environ)
    folder.mkdir(parents=True)
    (folder / "one-1.0.jar").write_bytes(b"half of a j")

    found = resolve_jars(JarSet.BROKER, environ=environ, fetch=write_jars)

    assert [path.read_bytes() for path in found] == [b"first jar", b"second jar"]


@pytest.mark.parametrize("content", [b"another jar", None])
def test_a_changed_or_missing_jar_is_refused(environ: dict[str, str], content: bytes | None) -> None:
    [_, second] = resolve_jars(JarSet.BROKER, environ=environ, fetch=write_jars)
    second.unlink()
    if content is not None:
        second.write_bytes(content)

    with pytest.raises(JarDigestError) as raised:
        resolve_jars(JarSet.BROKER, environ=environ, fetch=must_not_fetch)

    what = "is missing" if content is None else "is not the one of this release"
    assert raised.value.message == f"the jar two-2.0.jar {what}"
    assert raised.value.remedy == (
        "delete the folder so that it is fetched again; if it comes back the same, something between here and the "
        "package registry changes files"
    )
    assert raised.value.facts["expected"] == PINS[1].sha256


def test_a_fetched_jar_with_other_bytes_leaves_nothing_behind(environ: dict[str, str]) -> None:
    def tampered(coordinates: tuple[Coordinates, ...], folder: Path) -> None:
        write_jars(coordinates, folder)
        (folder / "two-2.0.jar").write_bytes(b"tampered")

    with pytest.raises(JarDigestError, match=re.escape("the jar two-2.0.jar is not the one of this release")):
        resolve_jars(JarSet.BROKER, environ=environ, fetch=tampered)

    folder = jars_folder(JarSet.BROKER, environ)
    assert [path.name for path in folder.parent.iterdir()] == [f"{folder.name}.lock"]


def test_without_network_and_cache_the_remedy_says_what_to_copy(environ: dict[str, str]) -> None:
    with pytest.raises(JarsError) as raised:
        resolve_jars(JarSet.BROKER, environ=environ, fetch=no_network)

    folder = jars_folder(JarSet.BROKER, environ)
    assert str(raised.value) == (
        "the 2 jars of broker are not cached, and fetching them failed: Ivy ended with code 1, without "
        f"org.example:two:2.0 (UNRESOLVED DEPENDENCY) [folder={folder}]. Remedy: check the network; without one, copy "
        "the folder from a machine that has it and let CDC_BRIDGE_JARS name the folder around it"
    )
    assert [path.name for path in folder.parent.iterdir()] == [f"{folder.name}.lock"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(JarsError, match="the folder for jars cannot be written: ") as raised:
        resolve_jars(JarSet.BROKER, environ={"CDC_BRIDGE_JARS": str(tmp_path / "file")}, fetch=write_jars)

    assert raised.value.remedy == "let CDC_BRIDGE_JARS name a folder that this user may write to"


def test_two_starts_at_once_fetch_once(environ: dict[str, str]) -> None:
    context = multiprocessing.get_context("fork")
    fetching, go_on = context.Event(), context.Event()
    fetched, waited = context.Value("i", 0), context.Event()

    def fetch(coordinates: tuple[Coordinates, ...], folder: Path) -> None:
        fetched.value += 1
        fetching.set()
        assert go_on.wait(120)
        write_jars(coordinates, folder)

    def progress(text: str) -> None:
        if text.startswith("another start"):
            waited.set()

    def start() -> None:
        resolve_jars(JarSet.BROKER, environ=environ, fetch=fetch, progress=progress)

    first, second = context.Process(target=start), context.Process(target=start)
    first.start()
    assert fetching.wait(120)
    second.start()
    assert waited.wait(120)
    go_on.set()
    first.join(120)
    second.join(120)

    assert (first.exitcode, second.exitcode, fetched.value) == (0, 0, 1)


def test_the_package_pins_sparks_four_jars_and_a_whole_broker() -> None:
    spark = {pin.file_name for pin in pinned_jars(JarSet.SPARK_KAFKA)}
    broker = {pin.file_name for pin in pinned_jars(JarSet.BROKER)}

    assert spark == {
        "spark-sql-kafka-0-10_2.13-4.0.0.jar",
        "spark-token-provider-kafka-0-10_2.13-4.0.0.jar",
        "kafka-clients-3.9.0.jar",
        "commons-pool2-2.12.0.jar",
    }
    assert {"kafka_2.13-4.1.2.jar", "kafka-server-4.1.2.jar", "slf4j-simple-1.7.36.jar"} <= broker
    for jar_set in JarSet:
        assert all(re.fullmatch("[0-9a-f]{64}", pin.sha256) for pin in pinned_jars(jar_set))


def test_jars_are_fetched_with_ivy_and_nothing_they_depend_on(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[tuple[Coordinates, ...], object]] = []

    def retrieve(wanted: tuple[Coordinates, ...], folder: Path, *, transitive: bool, **_: object) -> None:
        asked.append((wanted, transitive))
        write_jars(wanted, folder)

    monkeypatch.setattr(jars, "retrieve", retrieve)

    found = resolve_jars(JarSet.BROKER, environ={**environ, "PATH": os.environ["PATH"]})

    assert asked == [((ONE, TWO), False)]
    assert [path.name for path in found] == ["one-1.0.jar", "two-2.0.jar"]
