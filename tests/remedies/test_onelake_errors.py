"""What OneLake, or the way there, refuses a command, from the error through its remedy to a table that streams."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.landing_zone.errors import LostFileError, StorageDeniedError
from connectors.landing_zone.storage.location import InvalidLocationError
from connectors.landing_zone.storage.retry import Retries
from streaming.settings import SettingsError
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.dfs_server import FILESYSTEM, TOKEN, Answered, DfsServer
from tests.emulators.identity_server import IdentityServer
from tests.remedies.broken_zones import stands, streaming_orders
from tests.remedies.lost_files import FOREIGN, landed_twice, lose, pending, started
from tests.remedies.onelake_zones import OnOneLake, as_a_new_process
from tests.remedies.shell import require_refused
from tests.remedies.site import Site
from tests.unit.landing_zone.storages import emulated_location
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

STATUS = "cdc-bridge status CONFIG"
CHECK = "cdc-bridge check CONFIG"
VERIFY = "cdc-bridge verify ZONE"
RESOLVE = f"cdc-bridge resolve CONFIG {NAME}"
ASK = f"{RESOLVE} --dry-run"


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> Iterator[IdentityServer]:
    """What gives this machine its tokens."""
    with IdentityServer(TOKEN) as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture
def beginning(site: Site, identity: IdentityServer, tmp_path: Path) -> Iterator[OnOneLake]:
    """A bridge that is to land there, and has landed nothing yet."""
    with DfsServer() as server:
        place = replace(emulated_location(server, tmp_path / "work"), work_folder=None)
        yield OnOneLake(site, server, place).moved()


@pytest.fixture
def there(beginning: OnOneLake) -> OnOneLake:
    """Orders that stream."""
    streaming_orders(beginning.site)
    return beginning


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("abfss://onelake.dfs.fabric.microsoft.com/{item}/Files/LandingZone", "it names no workspace and host"),
        ("{url}?sig=secret", "it has a query or a fragment"),
        ("abfss://{workspace}@onelake.dfs.fabric.microsoft.com/shop/Files/LandingZone", "OneLake needs ids for both"),
    ],
)
def test_location_that_is_not_one_of_onelake(there: OnOneLake, url: str, why: str) -> None:
    """As an argument, and in the settings, which are not taken with it."""
    wrong = url.format(url=there.place.url, workspace=FILESYSTEM, item=uuid.uuid4())
    form = "write abfss://<workspace id>@onelake.dfs.fabric.microsoft.com/<item id>/Files/LandingZone"
    require_refused(there.site.shell.type(VERIFY, ZONE=wrong), InvalidLocationError, form, why)
    there.set(url=wrong)
    refused = there.site.shell.type(STATUS)
    assert (refused.error, "landing_zone.url " in refused.err) == (SettingsError.__name__, True)
    assert "/Files/LandingZone" in refused.err, "how it is written"
    there.set()
    assert there.site.shell.type(CHECK).code == 0
    there.require_health()


def test_location_whose_options_the_clients_do_not_take(there: OnOneLake) -> None:
    there.set(api_version="2001-01-01")
    refused = there.site.shell.type(CHECK)
    corrected = "correct api_version, ca_file or the endpoints of this storage"
    assert (refused.code, [told for told in refused.told if told.startswith(corrected)] != []) == (1, True), refused
    require_refused(there.site.shell.type(RESOLVE), InvalidLocationError, corrected, f"url: {there.place.url}")
    there.set(api_version="2023-11-03")
    assert there.site.shell.type(CHECK).code == 0
    there.require_health()


def test_storage_denied_because_there_is_no_such_workspace(there: OnOneLake) -> None:
    other = str(uuid.uuid4())
    there.set(url=there.place.url.replace(FILESYSTEM, other))
    refused = there.site.shell.type(ASK)
    require_refused(refused, StorageDeniedError, "check the part before '@' in the storage's URL; for OneLake it is")
    there.set()
    assert there.site.shell.type(CHECK).code == 0
    there.require_health()


def test_storage_denied_without_an_identity(
    there: OnOneLake, identity: IdentityServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What gives the machine its tokens does not know who asks."""
    monkeypatch.setattr(Retries, "_wait", lambda *_: 0.0)
    monkeypatch.setenv("IDENTITY_HEADER", "another's")
    as_a_new_process(monkeypatch)
    refused = there.site.shell.type(ASK)
    named = "check the workload identity, or the AZURE_CLIENT_ID, AZURE_TENANT_ID and credential variables of"
    require_refused(refused, StorageDeniedError, named, "The identity gives no token: ")
    for name, value in identity.environment.items():
        monkeypatch.setenv(name, value)
    as_a_new_process(monkeypatch)
    assert there.site.shell.type(CHECK).code == 0
    there.require_health()


@pytest.mark.parametrize("moved", [True, False])
def test_storage_denied_by_a_work_folder_that_is_not_this_user_s_alone(
    there: OnOneLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    """It is moved away, or another one is named."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    folder = tmp_path / "tmp" / f"cdc-bridge-{os.getuid()}"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    as_a_new_process(monkeypatch)
    refused = there.site.shell.type(STATUS)
    found_out = "find out who has made it and move it away, and the bridge makes it anew; or let TMPDIR name a folder"
    require_refused(refused, StorageDeniedError, found_out, f"file: {folder}", "its mode is 777")
    if moved:
        folder.rename(tmp_path / "theirs")
    else:
        (tmp_path / "own").mkdir(mode=0o700)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "own"))
    as_a_new_process(monkeypatch)
    assert there.site.shell.type(CHECK).code == 0
    there.require_health()


def staged(there: OnOneLake) -> None:
    """Orders whose second file is committed and whole, and waits for its rename."""
    landed_twice(there.site)
    file = pending(there.site)
    there.site.zone.write(file.staged, there.site.zone.files.pop(file.target))


def test_storage_denied_of_a_rename_with_a_parameter_that_it_does_not_know(beginning: OnOneLake) -> None:
    staged(beginning)
    beginning.server.onelake.refused_parameters = frozenset({"mode"})
    refused = beginning.site.shell.type(RESOLVE)
    mode = "if it is a rename, set rename_mode: rest, which sends none; otherwise set an older api_version"
    require_refused(refused, StorageDeniedError, mode, "request: rename", "code: UnsupportedQueryParameter")
    looked = beginning.site.shell.type(CHECK)
    assert (looked.code, mode in looked.told) == (1, True)
    beginning.set(rename_mode="rest")
    assert beginning.site.shell.type(CHECK).code == 0
    assert beginning.site.shell.type(RESOLVE).code == 0
    beginning.require_health()


def test_storage_denied_of_a_version_that_it_does_not_know(there: OnOneLake) -> None:
    newest = "2021-06-08"

    def of_the_version(request: Request) -> Answered | None:
        return Answered(400, "InvalidHeaderValue") if request.headers["x-ms-version"] >= newest else None

    there.server.fault = of_the_version
    refused = there.site.shell.type(ASK)
    looked_up = "look up the code in the storage's documentation; if it names the API version, set api_version"
    require_refused(refused, StorageDeniedError, looked_up, "status: 400", "code: InvalidHeaderValue")
    there.set(api_version="2020-02-10")
    assert there.site.shell.type(CHECK).code == 0
    there.require_health()


def test_storage_denied_of_an_upload_whose_name_is_taken(beginning: OnOneLake) -> None:
    """Somebody writes to the bridge's own folder, under the very name, while a lost file is made again."""
    site, server = landed_twice(beginning.site), beginning.server
    lose(site)
    started(site)
    remedy = stands(beginning.site, LostFileError)
    taken: list[str] = []

    def takes_the_name(request: Request) -> None:
        if request.operation is Operation.PUT_BLOB and request.path.endswith(".parquet") and not taken:
            server.tree.put(request.path, FOREIGN, if_absent=True)
            taken.append(request.path)

    server.fault = takes_the_name
    refused = beginning.site.shell.follow(remedy, "resolve")
    own = "upload each attempt under a name of its own; look who else writes to this folder"
    require_refused(refused, StorageDeniedError, own)
    [name] = taken
    assert f"file: {name.partition('/LandingZone/')[2]}" in refused.err
    server.calm()
    assert beginning.site.shell.follow(remedy, "resolve").code == 0
    node = server.tree.find(name)
    assert node is None or node.body == FOREIGN
    beginning.require_health()
