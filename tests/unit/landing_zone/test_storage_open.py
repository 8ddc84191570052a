"""Locations: what a URL means, and that a process opens each one once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest

from connectors.landing_zone.errors import StorageDeniedError
from connectors.landing_zone.storage import open as opening
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.local import WORK_FOLDER, LocalStorage
from connectors.landing_zone.storage.location import AdlsRoot, adls_root, local_root
from connectors.landing_zone.storage.open import InvalidLocationError, StorageLocation, open_storage, prove_storage
from tests.emulators.dfs_server import EmulatorCredential

WORKSPACE = "0f1e2d3c-0000-4000-8000-00000000000a"
ITEM = "0f1e2d3c-0000-4000-8000-00000000000b"
ONELAKE = f"abfss://{WORKSPACE}@onelake.dfs.fabric.microsoft.com/{ITEM}/Files/LandingZone"


@pytest.fixture(autouse=True)
def nothing_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_opened", {})


def test_a_file_url_is_a_local_folder(tmp_path: Path) -> None:
    storage = open_storage(StorageLocation(f"file://{tmp_path}/a%20b"))
    assert isinstance(storage, LocalStorage)
    storage.put("x", b"1")
    assert (tmp_path / "a b" / "x").read_bytes() == b"1"


def test_a_local_storage_does_not_load_azure(tmp_path: Path) -> None:
    code = (
        "import sys; from connectors.landing_zone.storage.open import *; "
        f"open_storage(StorageLocation('file://{tmp_path}')); print('azure' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output == "False\n"


def test_an_abfss_url_is_the_workspace_as_file_system_and_the_item_in_the_path() -> None:
    assert adls_root(StorageLocation(ONELAKE)) == AdlsRoot(
        filesystem=WORKSPACE,
        folder=f"{ITEM}/Files/LandingZone",
        dfs_endpoint="https://onelake.dfs.fabric.microsoft.com",
        blob_endpoint="https://onelake.blob.fabric.microsoft.com",
    )


def test_plain_adls_may_have_its_root_in_the_container() -> None:
    assert adls_root(StorageLocation("abfss://state@account.dfs.core.windows.net")) == AdlsRoot(
        filesystem="state",
        folder="",
        dfs_endpoint="https://account.dfs.core.windows.net",
        blob_endpoint="https://account.blob.core.windows.net",
    )


def test_endpoints_replace_the_hosts_of_the_url() -> None:
    location = StorageLocation(
        "abfss://fs@anything/x/", dfs_endpoint="https://127.0.0.1:1/", blob_endpoint="https://127.0.0.1:2"
    )
    root = adls_root(location)
    assert (root.dfs_endpoint, root.blob_endpoint, root.folder) == ("https://127.0.0.1:1", "https://127.0.0.1:2", "x")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("abfss://onelake.dfs.fabric.microsoft.com/x", "it names no workspace and host"),
        ("abfss://@onelake.dfs.fabric.microsoft.com/x", "it names no workspace and host"),
        ("abfss://ws@/x", "it names no workspace and host"),
        (f"{ONELAKE}?sig=secret", "it has a query or a fragment; credentials do not belong into a URL"),
        (f"{ONELAKE}#secret", "it has a query or a fragment; credentials do not belong into a URL"),
        ("abfss://ws:secret@account.dfs.core.windows.net/x", "it names no workspace and host"),
        ("abfss://ws@account.dfs.core.windows.net/x/../y", "its path is not one"),
        (f"abfss://{WORKSPACE}@onelake.dfs.fabric.microsoft.com", "it names no item after the workspace"),
        (
            f"abfss://{WORKSPACE}@west-onelake.dfs.fabric.microsoft.com/Sales.MirroredDatabase/Files",
            "OneLake needs ids for both workspace and item, or names for both",
        ),
        (
            "abfss://ws@lake.example.com/x",
            "its host is not a '.dfs.' host, so the Blob host is unknown",
        ),
    ],
)
def test_a_malformed_abfss_url_is_told_without_secrets(url: str, reason: str) -> None:
    with pytest.raises(InvalidLocationError) as raised:
        open_storage(StorageLocation(url), credential=EmulatorCredential())
    message = str(raised.value)
    assert message.startswith(f"This storage URL cannot be used: {reason} [url=abfss://")
    assert message.endswith(
        "Remedy: write abfss://<workspace id>@onelake.dfs.fabric.microsoft.com/<item id>/Files/LandingZone"
    )
    assert "secret" not in message


@pytest.mark.parametrize("url", ["file://host/zone", "file:zone", "file:///zone?x=1", "file:///zone#x"])
def test_a_malformed_file_url_is_told(url: str) -> None:
    with pytest.raises(InvalidLocationError) as raised:
        local_root(StorageLocation(url))
    assert str(raised.value).startswith("This is not the URL of a local folder [url=file:")
    assert str(raised.value).endswith("Remedy: write an absolute path after three slashes, as in file:///data/zone")


@pytest.mark.parametrize(("url", "scheme"), [("s3://bucket/x", "s3"), ("/data/zone", ""), ("abfs://a@b/c", "abfs")])
def test_another_scheme_is_told_with_the_two_that_are_known(url: str, scheme: str) -> None:
    with pytest.raises(InvalidLocationError) as raised:
        open_storage(StorageLocation(url))
    assert str(raised.value) == (
        f"No storage is known for the scheme {scheme!r} [url={url}]. Remedy: use file:///folder or"
        " abfss://workspace@host/item/Files/LandingZone"
    )


def test_a_process_opens_a_location_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    location = StorageLocation(f"file://{tmp_path}")
    first = open_storage(location)
    assert open_storage(ForkingPickler.loads(ForkingPickler.dumps(location))) is first
    assert open_storage(replace(location, url=f"file://{tmp_path}/other")) is not first
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert open_storage(location) is not first


def test_onelake_opens_with_the_default_identity_and_sends_nothing() -> None:
    storage = open_storage(StorageLocation(ONELAKE))
    assert isinstance(storage, AdlsStorage)
    assert storage.url == ONELAKE
    assert open_storage(StorageLocation(ONELAKE)) is storage
    assert open_storage(StorageLocation(ONELAKE), credential=EmulatorCredential()) is not storage


def test_opening_sweeps_what_crashed_attempts_left(tmp_path: Path) -> None:
    work = tmp_path / WORK_FOLDER
    work.mkdir(parents=True)
    for name, age in (("old", 90_000.0), ("young", 0.0)):
        (work / name).write_bytes(b"x")
        os.utime(work / name, (time.time() - age, time.time() - age))
    open_storage(StorageLocation(f"file://{tmp_path}"))
    assert [file.name for file in work.iterdir()] == ["young"]


def test_a_broken_promise_is_told_with_a_remedy(tmp_path: Path) -> None:
    class Overwriting(LocalStorage):
        def put_if_absent(self, path: str, body: bytes) -> bool:
            self.put(path, body)
            return True

    failed = [proof for proof in prove_storage(Overwriting(tmp_path), "_scratchPad/check") if not proof.ok]
    assert [(proof.name, proof.remedy) for proof in failed] == [
        (
            "put_if_absent",
            "do not run the bridge here: this storage does not keep a promise that exactly-once needs; use another one",
        )
    ]


class TestTheFolderForUploads:
    """It has a name that other users of the machine can foresee, in a folder that they can write to."""

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
        return tmp_path / f"cdc-bridge-{os.getuid()}"

    def test_it_is_made_for_this_user_alone(self, folder: Path) -> None:
        storage = open_storage(StorageLocation(ONELAKE), credential=EmulatorCredential(None))
        assert storage.work_folder("orders/1") == folder
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        open_storage(StorageLocation(ONELAKE), credential=EmulatorCredential(None))

    def test_a_link_is_refused_and_nothing_is_removed_where_it_leads(self, folder: Path, tmp_path: Path) -> None:
        kept = tmp_path / "elsewhere" / "kept"
        kept.parent.mkdir(mode=0o700)
        kept.write_bytes(b"x")
        os.utime(kept, (0, 0))
        folder.symlink_to(kept.parent)
        with pytest.raises(StorageDeniedError, match="not this user's alone: it is a link to another place"):
            open_storage(StorageLocation(ONELAKE), credential=EmulatorCredential(None))
        assert kept.exists()

    def test_one_that_others_can_write_to_is_refused(self, folder: Path) -> None:
        folder.mkdir()
        folder.chmod(0o1777)
        with pytest.raises(StorageDeniedError, match="others have rights to it: its mode is 1777") as raised:
            open_storage(StorageLocation(ONELAKE), credential=EmulatorCredential(None))
        assert raised.value.facts == {"file": str(folder)}

    def test_one_of_another_user_is_refused(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir(mode=0o700)
        owner = os.getuid()
        monkeypatch.setattr("connectors.private_folder.os.getuid", lambda: owner + 1)
        folder.rename(folder.with_name(f"cdc-bridge-{owner + 1}"))
        with pytest.raises(StorageDeniedError, match=f"it belongs to the user {owner}, and this process runs as"):
            open_storage(StorageLocation(ONELAKE), credential=EmulatorCredential(None))

    def test_one_that_is_opened_up_later_is_refused_with_the_next_file(self, folder: Path) -> None:
        storage = open_storage(StorageLocation(ONELAKE), credential=EmulatorCredential(None))
        storage.work_folder("orders/1").chmod(0o755)
        with pytest.raises(StorageDeniedError, match="its mode is 755"):
            storage.work_folder("orders/1")
