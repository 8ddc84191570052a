"""A CycloneDX 1.6 list of what is in the image: Debian packages, Python packages, jars. Printed as JSON.

Made from what is installed, not from what was asked for: dpkg's list, the metadata in site-packages, the jars' own
Maven properties. It runs inside the image while that is built; standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

Component = dict[str, Any]

NAMESPACE = uuid.UUID("6c9f1f3a-2f0e-5a3e-9d0b-7f2f5f6b8c11")
DPKG_STATUS = Path("/var/lib/dpkg/status")
JAR_FOLDERS = ("/opt/spark/jars", "/opt/cdc-bridge/jars")


def debian_components(status: str, distribution: str) -> list[Component]:
    """The components that dpkg's status file lists as installed."""
    packages = (HeaderParser().parsestr(paragraph) for paragraph in status.split("\n\n") if paragraph.strip())
    return [
        _debian_component(package, distribution) for package in packages if package["Status"].endswith(" installed")
    ]


def _debian_component(package: Message, distribution: str) -> Component:
    name, version, architecture = package["Package"], package["Version"], package["Architecture"]
    purl = f"pkg:deb/debian/{quote(name)}@{quote(version)}?arch={architecture}&distro={quote(distribution)}"
    return {
        "type": "library",
        "bom-ref": purl,
        "supplier": {"name": package["Maintainer"]},
        "name": name,
        "version": version,
        "purl": purl,
    }


def python_component(name: str, version: str, licence: str | None) -> Component:
    """The component of a Python package; the licence is its SPDX expression, where its metadata has one."""
    purl = f"pkg:pypi/{quote(name.lower().replace('_', '-'))}@{quote(version)}"
    component: Component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if licence:
        component["licenses"] = [{"expression": licence}]
    return component


def jar_component(path: Path, pins: Mapping[str, Mapping[str, str]]) -> Component:
    """The component of a jar: its coordinates by our pins, else by its own Maven properties, else its file's name.

    Args:
        pins: by SHA-256, ``group``, ``artifact`` and ``revision`` of jars that jars.json names.
    """
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    pin = pins.get(digest)
    found = (pin["group"], pin["artifact"], pin["revision"]) if pin else _maven_coordinates(path)
    name, _, version = path.stem.rpartition("-")
    component: Component = {
        "type": "library",
        "bom-ref": f"jar:{path.name}:{digest[:12]}",
        "name": found[1] if found else name or path.stem,
        "version": found[2] if found else version,
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    if found:
        component |= {"group": found[0], "purl": f"pkg:maven/{quote(found[0])}/{quote(found[1])}@{quote(found[2])}"}
    return component


def bill(components: Iterable[Component], *, version: str, created: str) -> dict[str, Any]:
    """The whole document: the same components, version and time give the same text, its serial number included."""
    ordered = sorted(components, key=lambda component: component["bom-ref"])
    metadata: dict[str, Any] = {
        "component": {"type": "container", "bom-ref": "cdc-bridge", "name": "cdc-bridge"},
        "lifecycles": [{"phase": "build"}],
    }
    if version:
        metadata["component"]["version"] = version
    if created:
        metadata["timestamp"] = created
    serial = uuid.uuid5(NAMESPACE, json.dumps([metadata, ordered], sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": metadata,
        "components": ordered,
    }


def _maven_coordinates(path: Path) -> tuple[str, str, str] | None:
    # A jar that others were shaded into has several of these: the one that its file is named after is its own.
    with zipfile.ZipFile(path) as jar:
        for name in sorted(jar.namelist()):
            if name.startswith("META-INF/maven/") and name.endswith("/pom.properties"):
                lines = jar.read(name).decode("utf-8", errors="replace").splitlines()
                values = dict(line.split("=", 1) for line in lines if "=" in line)
                group, artifact, version = (values.get(key, "").strip() for key in ("groupId", "artifactId", "version"))
                if group and path.stem.startswith(f"{artifact}-{version}"):
                    return group, artifact, version
    return None


def _licence(distribution: Distribution) -> str | None:
    found = distribution.metadata.json.get("license_expression")
    return found if isinstance(found, str) else None


def _pins(distribution: Distribution) -> dict[str, dict[str, str]]:
    content = json.loads(Path(str(distribution.locate_file("connectors/kafka/jars.json"))).read_text())
    return {jar["sha256"]: jar for jars in content.values() for jar in jars}


def _distribution_name() -> str:
    lines = Path("/etc/os-release").read_text().splitlines()
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return f"{values.get('ID', 'debian')}-{values.get('VERSION_ID', '')}".replace('"', "")


def main() -> int:
    """Print the list of what is in the image that this runs in."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--version", default="", help="of the image")
    parser.add_argument("--created", default="", help="as RFC 3339 writes times")
    asked = parser.parse_args()
    components = debian_components(DPKG_STATUS.read_text(), _distribution_name())
    installed = list(distributions())
    for one in installed:
        components.append(python_component(one.name, one.version, _licence(one)))
    own = next(one for one in installed if one.name == "cdc-bridge")
    pins = _pins(own)
    for folder in JAR_FOLDERS:
        components += [jar_component(path, pins) for path in sorted(Path(folder).rglob("*.jar"))]
    json.dump(bill(components, version=asked.version, created=asked.created), sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
