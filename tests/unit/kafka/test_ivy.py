"""Ivy is driven with the right words, and its failures are told in few."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.kafka import ivy
from connectors.kafka.ivy import Coordinates, IvyError, find_ivy, retrieve

ONE = Coordinates("org.example", "one", "1.0")
TWO = Coordinates("org.example", "two_2.13", "2.0")


def java(folder: Path, script: str) -> Path:
    """An executable in the place of Java; its arguments are Ivy's."""
    path = folder / "java"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def fetch(tmp_path: Path, script: str) -> Path:
    folder = tmp_path / "jars"
    folder.mkdir()
    executable = java(tmp_path, script)
    retrieve((ONE, TWO), folder, java=executable, ivy=Path("/ivy.jar"), transitive=False)
    return folder


def test_ivy_comes_with_pyspark() -> None:
    assert find_ivy().is_file()


def test_a_pyspark_without_ivy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(IvyError, match="the installed pyspark brings no Ivy jar"):
        find_ivy()


def test_exactly_the_named_artifacts_are_asked_for(tmp_path: Path) -> None:
    fetch(
        tmp_path,
        f'printf "%s\\n" "$@" > {tmp_path}/arguments; for last; do case "$last" in *ivy.xml) cp "$last" '
        f"{tmp_path}/ivy.xml;; esac; done; touch {tmp_path}/jars/one-1.0.jar {tmp_path}/jars/two_2.13-2.0.jar",
    )

    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert arguments[arguments.index("-cp") : arguments.index("-cp") + 3] == ["-cp", "/ivy.jar", "org.apache.ivy.Main"]
    assert arguments[arguments.index("-retrieve") :] == [
        "-retrieve",
        f"{tmp_path}/jars/[artifact]-[revision](-[classifier]).[ext]",
        "-types",
        "jar",
        "bundle",
        "archive",
    ]
    module = (tmp_path / "ivy.xml").read_text()
    assert '<dependency org="org.example" name="one" rev="1.0" transitive="false"/>' in module
    assert '<dependency org="org.example" name="two_2.13" rev="2.0" transitive="false"/>' in module


def test_an_archive_is_asked_for_by_classifier_and_extension(tmp_path: Path) -> None:
    wanted = Coordinates("org.example", "plug", "3.0", "plugin", "tar.gz")
    folder = tmp_path / "jars"
    folder.mkdir()
    script = (
        f'for last; do case "$last" in *ivy.xml) cp "$last" {tmp_path}/ivy.xml;; esac; done; '
        f"touch {folder}/plug-3.0-plugin.tar.gz"
    )

    retrieve((wanted,), folder, java=java(tmp_path, script), ivy=Path("/ivy.jar"), transitive=False)

    assert (
        '<dependency org="org.example" name="plug" rev="3.0" transitive="false"><artifact name="plug" type="archive" '
        'ext="tar.gz" m:classifier="plugin"/></dependency>'
    ) in (tmp_path / "ivy.xml").read_text()
    assert (str(wanted), wanted.file_name) == ("org.example:plug:3.0:tar.gz:plugin", "plug-3.0-plugin.tar.gz")


def test_a_failure_is_told_with_ivys_own_lines(tmp_path: Path) -> None:
    with pytest.raises(IvyError) as raised:
        fetch(tmp_path, "echo ':: UNRESOLVED DEPENDENCIES ::'; echo harmless; echo 'two: not found' >&2; exit 1")

    assert str(raised.value) == (
        "Ivy ended with code 1, without org.example:one:1.0, org.example:two_2.13:2.0 (UNRESOLVED DEPENDENCIES; two: "
        "not found)"
    )


def test_success_without_every_jar_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(IvyError, match=r"Ivy ended with code 0, without org\.example:two_2\.13:2\.0 ") as raised:
        fetch(tmp_path, f"touch {tmp_path}/jars/one-1.0.jar")

    assert str(raised.value).endswith("(it gave no reason)")


def test_an_ivy_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ivy, "_LIMIT_SECONDS", 0.1)

    with pytest.raises(IvyError, match="Ivy did not finish within 0 s"):
        fetch(tmp_path, "exec sleep 60")
