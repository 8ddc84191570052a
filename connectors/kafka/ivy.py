"""Fetching jars and archives with the Ivy that ships inside pyspark; no other build tool is needed.

Ivy's own default resolver is used, so a machine's Ivy settings for a mirror hold here too.
"""

from __future__ import annotations

import html
import importlib.util
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from connectors.java import run_java

# Ivy takes the packaging for the type; OSGi bundles are jars whose packaging is "bundle".
_TYPES = ("jar", "bundle")
_ARCHIVE = "archive"
_MAVEN = "http://ant.apache.org/ivy/maven"
_LIMIT_SECONDS = 900.0
_TROUBLE = re.compile(r"UNRESOLVED|FAILED|not found|ERROR|Exception|SERVER ERROR|refused|timed out", re.IGNORECASE)


class IvyError(Exception):
    """Ivy is not there, or could not fetch everything."""


@dataclass(frozen=True, order=True)
class Coordinates:
    """A Maven artifact's group, artifact and version; its classifier and extension where it is not the jar itself."""

    group: str
    artifact: str
    revision: str
    classifier: str = ""
    extension: str = "jar"

    def __str__(self) -> str:
        plain = f"{self.group}:{self.artifact}:{self.revision}"
        return plain if self.is_plain else f"{plain}:{self.extension}:{self.classifier}"

    @property
    def is_plain(self) -> bool:
        """Whether it is the artifact's jar and no file beside it."""
        return not self.classifier and self.extension == "jar"

    @property
    def file_name(self) -> str:
        """``artifact-revision.jar``, or ``artifact-revision-classifier.extension``."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.revision}{classifier}.{self.extension}"


def find_ivy() -> Path:
    """The Ivy jar among pyspark's own, found without importing pyspark.

    Raises:
        IvyError: pyspark is not installed, or has no Ivy.
    """
    found = importlib.util.find_spec("pyspark")
    for root in (found.submodule_search_locations or []) if found else []:
        for jar in sorted(Path(root, "jars").glob("ivy-*.jar")):
            return jar
    raise IvyError("the installed pyspark brings no Ivy jar")


def retrieve(
    coordinates: tuple[Coordinates, ...],
    folder: Path,
    *,
    java: Path,
    ivy: Path,
    transitive: bool,
    layout: str = "[artifact]-[revision](-[classifier]).[ext]",
) -> None:
    """Put the files of these coordinates into a folder, each under its :attr:`Coordinates.file_name`.

    Args:
        transitive: with everything they depend on at run time, or exactly these.
        layout: Ivy's pattern for the path of a file inside the folder.

    Raises:
        IvyError: at least one could not be resolved or downloaded; the text holds Ivy's own lines about it.
    """
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-ivy-") as scratch:
        module = Path(scratch, "ivy.xml")
        module.write_text(_module(coordinates, transitive=transitive))
        arguments = ["-Xmx256m", "-XX:+UseSerialGC", "-cp", str(ivy), "org.apache.ivy.Main"]
        arguments += ["-ivy", str(module), "-confs", "default", "-cache", str(Path(scratch, "cache"))]
        arguments += ["-retrieve", f"{folder}/{layout}", "-types", *_TYPES, _ARCHIVE]
        try:
            done = run_java(java, arguments, timeout=_LIMIT_SECONDS)
        except TimeoutError as problem:
            raise IvyError(f"Ivy did not finish within {_LIMIT_SECONDS:.0f} s") from problem
    output = done.stdout + done.stderr
    fetched = {path.name for path in folder.rglob("*") if path.is_file()}
    missing = [one for one in coordinates if one.file_name not in fetched]
    if done.returncode != 0 or missing:
        raise IvyError(_why(output, missing, done.returncode))


def _module(coordinates: tuple[Coordinates, ...], *, transitive: bool) -> str:
    wanted = "\n".join(
        f"    <dependency org={_quoted(one.group)} name={_quoted(one.artifact)} rev={_quoted(one.revision)} "
        f'transitive="{str(transitive).lower()}"{_artifact(one)}'
        for one in coordinates
    )
    return f"""<ivy-module version="2.0" xmlns:m={_quoted(_MAVEN)}>
  <info organisation="cdc-bridge" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies defaultconf="default->default">
{wanted}
  </dependencies>
</ivy-module>
"""


def _artifact(wanted: Coordinates) -> str:
    if wanted.is_plain:
        return "/>"
    return (
        f"><artifact name={_quoted(wanted.artifact)} type={_quoted(_ARCHIVE)} ext={_quoted(wanted.extension)} "
        f"m:classifier={_quoted(wanted.classifier)}/></dependency>"
    )


def _why(output: str, missing: list[Coordinates], code: int) -> str:
    lines = [line.strip(" \t:") for line in output.splitlines() if _TROUBLE.search(line)]
    said = "; ".join(dict.fromkeys(line for line in lines if line))[:500] or "it gave no reason"
    without = (
        f", without {', '.join(map(str, missing[:3]))}{' and more' if len(missing) > 3 else ''}" if missing else ""
    )
    return f"Ivy ended with code {code}{without} ({said})"


def _quoted(text: str) -> str:
    """An XML attribute's value in its quotes."""
    return f'"{html.escape(text)}"'
