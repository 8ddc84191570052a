"""The client is the one that the settings ask for, or the run does not begin and says why."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from openlineage.client.transport.file import FileTransport
from openlineage.client.transport.http import HttpTransport

from streaming.lineage.client import open_client
from streaming.settings import SettingsError
from tests.unit.streaming.settings_builder import broken, settings


def lineage(**values: Any) -> Any:
    return settings(lineage=values).lineage


def test_without_url_and_file_there_is_no_lineage() -> None:
    assert not settings().lineage.on
    assert lineage(url="http://127.0.0.1:9").on


def test_the_server_s_address_key_and_certificates_reach_the_client(tmp_path: Path) -> None:
    key, certificates = tmp_path / "key", tmp_path / "ca.pem"
    key.write_text("from-a-file\n")
    certificates.write_text("")
    client = open_client(
        lineage(url="https://lineage:5000/base", api_key_file=str(key), ca_file=str(certificates), timeout="3s")
    )
    transport = client.transport
    assert isinstance(transport, HttpTransport)
    assert (transport.url, transport.endpoint, transport.timeout) == ("https://lineage:5000/base/", "api/v1/lineage", 3)
    assert transport.config.auth.get_bearer() == "Bearer from-a-file"
    assert transport.verify == str(certificates)


def test_what_the_environment_says_of_another_server_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "console")
    assert isinstance(open_client(lineage(url="http://127.0.0.1:9")).transport, HttpTransport)


def test_every_other_transport_is_configured_as_the_client_describes_it(tmp_path: Path) -> None:
    file = tmp_path / "openlineage.yml"
    file.write_text(f"transport: {{type: file, log_file_path: {tmp_path}/events}}\n")
    assert isinstance(open_client(lineage(client_file=str(file))).transport, FileTransport)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("transport: {type: [}", "the file is not YAML: "),
        ("transport: {type: http}\x00", "the file holds the character 0x0, which YAML doesn't allow"),
        ("facets: {}", "it has no section transport"),
        ("- a list", "the file must be a mapping of keys (line 1, column 1)"),
        ("transport: {type: http}", "it refuses it with RuntimeError"),
    ],
)
def test_a_configuration_that_the_client_cannot_use_is_named(tmp_path: Path, content: str, why: str) -> None:
    file = tmp_path / "openlineage.yml"
    file.write_text(content)
    with pytest.raises(SettingsError) as caught:
        open_client(lineage(client_file=str(file)))
    assert caught.value.message.startswith("The OpenLineage client cannot use its configuration: ")
    assert why in caught.value.message
    assert caught.value.facts == {"file": file}


@pytest.mark.parametrize(
    "content",
    [
        'transport:\n  type: http\n  auth: {apiKey: "planted"y}\n',
        "transport: {type: http, url: 'http://user:planted@:port'}",
        "transport: {type: http, url: 'http://127.0.0.1:9', retry: planted}",
        "transport: {type: planted}",
        "transport: {type: *planted}",
        "transport: !planted {type: http}",
    ],
)
def test_nothing_that_the_file_says_is_told(tmp_path: Path, content: str) -> None:
    file = tmp_path / "openlineage.yml"
    file.write_text(content)
    with pytest.raises(SettingsError) as caught:
        open_client(lineage(client_file=str(file)))
    assert "planted" not in "".join(traceback.format_exception(caught.value))


def test_a_missing_client_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openlineage.client", None)
    with pytest.raises(SettingsError) as caught:
        open_client(lineage(url="http://127.0.0.1:9"))
    assert str(caught.value) == (
        "The settings ask for lineage events, but their client is missing. "
        "Remedy: pip install openlineage-python, or take url and client_file of lineage out of the settings"
    )


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"url": "http://a:1", "client_file": __file__}, "client_file can't be set together with url"),
        ({"api_key": "k"}, "api_key has no effect without url"),
        ({"client_file": __file__, "ca_file": __file__}, "ca_file has no effect without url"),
        ({"url": "http://a:1", "api_key": "k", "api_key_file": __file__}, "api_key_file can't be set together"),
        ({"url": "http://a:1", "interval": "0s"}, "interval must be at least 1s"),
        ({"url": "http://a:1", "timeout": "0s"}, "timeout must be at least 1s"),
        ({"url": "http://user:secret@a:1"}, "url holds credentials"),
    ],
)
def test_wrong_settings_are_refused(values: dict[str, Any], problem: str) -> None:
    [found] = broken(lineage=values)
    assert found.startswith(f"lineage.{problem}")
