"""The list of what is in the image names every package by its coordinates, and is the same for the same packages."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from tests.unit.image.scripts import script

sbom = script("sbom")

STATUS = """\
Package: libc6
Status: install ok installed
Maintainer: GNU Libc Maintainers <glibc@example.org>
Architecture: amd64
Version: 2.36-9+deb12u13
Description: GNU C Library
 shared libraries
 .
 and more

Package: gone
Status: deinstall ok config-files
Maintainer: Nobody <nobody@example.org>
Architecture: all
Version: 1
"""


def jar(path: Path, *properties: tuple[str, str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as content:
        for group, artifact, version in properties:
            name = f"META-INF/maven/{group}/{artifact}/pom.properties"
            content.writestr(name, f"# made\nversion={version}\ngroupId={group}\nartifactId={artifact}\n")
    return path


def test_debian_packages_that_are_installed_are_listed() -> None:
    purl = "pkg:deb/debian/libc6@2.36-9%2Bdeb12u13?arch=amd64&distro=debian-12"
    assert sbom.debian_components(STATUS, "debian-12") == [
        {
            "type": "library",
            "bom-ref": purl,
            "supplier": {"name": "GNU Libc Maintainers <glibc@example.org>"},
            "name": "libc6",
            "version": "2.36-9+deb12u13",
            "purl": purl,
        }
    ]


def test_a_python_package_has_its_normalised_name_and_licence() -> None:
    purl = "pkg:pypi/typing-extensions@4.16.0"
    assert sbom.python_component("typing_extensions", "4.16.0", "PSF-2.0") == {
        "type": "library",
        "bom-ref": purl,
        "name": "typing_extensions",
        "version": "4.16.0",
        "purl": purl,
        "licenses": [{"expression": "PSF-2.0"}],
    }
    assert "licenses" not in sbom.python_component("six", "1", None)


def test_a_shaded_jar_is_the_artifact_that_its_file_is_named_after(tmp_path: Path) -> None:
    path = jar(tmp_path / "netty-all-4.1.jar", ("com.other", "other", "1"), ("io.netty", "netty-all", "4.1"))
    assert sbom.jar_component(path, {}) == {
        "type": "library",
        "bom-ref": f"jar:netty-all-4.1.jar:{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}",
        "name": "netty-all",
        "version": "4.1",
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
        "group": "io.netty",
        "purl": "pkg:maven/io.netty/netty-all@4.1",
    }


def test_a_pinned_jar_is_known_by_its_digest_and_any_other_by_its_name(tmp_path: Path) -> None:
    path = jar(tmp_path / "plain-1.2.jar")
    pin = {"group": "org.example", "artifact": "plain", "revision": "1.2"}
    pinned = sbom.jar_component(path, {hashlib.sha256(path.read_bytes()).hexdigest(): pin})
    assert pinned["purl"] == "pkg:maven/org.example/plain@1.2"
    unknown = sbom.jar_component(path, {})
    assert (unknown["name"], unknown["version"], "purl" in unknown) == ("plain", "1.2", False)


def test_the_same_packages_give_the_same_document_in_any_order() -> None:
    packages = [sbom.python_component("a", "1", None), sbom.python_component("b", "2", None)]
    first = sbom.bill(packages, version="0.1.0", created="2026-01-02T03:04:05Z")
    assert first == sbom.bill(packages[::-1], version="0.1.0", created="2026-01-02T03:04:05Z")
    other = sbom.bill(packages[:1], version="0.1.0", created="2026-01-02T03:04:05Z")
    assert other["serialNumber"] != first["serialNumber"]
    assert (first["bomFormat"], first["specVersion"], first["version"]) == ("CycloneDX", "1.6", 1)
    assert first["metadata"]["component"] == {
        "type": "container",
        "bom-ref": "cdc-bridge",
        "name": "cdc-bridge",
        "version": "0.1.0",
    }
