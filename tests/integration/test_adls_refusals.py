"""What ADLS refuses for good, or does not promise, is told with its code and what to do."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError

from connectors.errors import Terminal, Transient
from connectors.landing_zone.errors import StorageDeniedError, StorageError
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import InvalidLocationError, StorageLocation
from connectors.landing_zone.storage.open import open_adls
from connectors.landing_zone.storage.proof import prove_storage
from tests.emulators.dfs_protocol import Operation
from tests.emulators.dfs_server import FILESYSTEM, Answered, DfsServer, EmulatorCredential, FaultsInTurn
from tests.integration.adls_requests import all_requests
from tests.support.refusing import Refusing
from tests.unit.landing_zone.storages import Timeline, emulated_storage, local_file


@pytest.mark.parametrize(
    ("status", "code", "right", "sleeps"),
    [
        (401, "InvalidAuthenticationInfo", "", [0.25, 0.5, 1.0]),
        (403, "AuthorizationPermissionMismatch", "right=write, ", []),
    ],
)
def test_a_denied_request_is_repeated_only_with_new_tokens(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, status: int, code: str, right: str, sleeps: list[float]
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, *[Answered(status, code)] * 5)
    with pytest.raises(StorageDeniedError) as raised:
        storage.put_if_absent("ledger/1.json", b"x")
    assert isinstance(raised.value, Terminal)
    assert timeline.sleeps == sleeps
    assert str(raised.value).startswith("The storage denies access: ")
    assert str(raised.value).endswith(
        f" [request=put if absent, file=ledger/1.json, {right}status={status}, code={code}]. Remedy: give the bridge's"
        " identity 'Read and write' on the mirrored database (or Contributor on its workspace), allow access from apps"
        " outside Fabric in the tenant settings, and use a token for https://storage.azure.com"
    )


@pytest.mark.parametrize(("status", "code"), [(400, "UnsupportedRestVersion"), (412, "LeaseIdMissing")])
def test_a_refused_request_is_told_with_its_code(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, status: int, code: str
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(status, code))
    with pytest.raises(StorageDeniedError) as raised:
        storage.put("orders/1", b"x")
    assert timeline.sleeps == []
    assert str(raised.value).startswith("The storage refuses this request: ")
    assert str(raised.value).endswith(
        f" [request=put, file=orders/1, status={status}, code={code}]. Remedy: look up the code in the storage's"
        " documentation; if it names the API version, set api_version"
    )


@pytest.mark.parametrize(
    "operation",
    [
        Operation.CREATE_FILE,
        Operation.RENAME,
        Operation.DELETE,
        Operation.LIST,
        Operation.PROPERTIES,
        Operation.READ,
        Operation.PUT_BLOB,
    ],
)
def test_every_request_passes_a_refusal_on(server: DfsServer, storage: AdlsStorage, operation: Operation) -> None:
    storage.put("staged", b"abc")
    file = local_file(storage, b"x")
    server.fault = FaultsInTurn(operation, Answered(403, "AuthorizationFailure"))
    with pytest.raises(StorageDeniedError, match="code=AuthorizationFailure"):
        all_requests(storage, file)


def test_a_workspace_that_is_not_there_is_told(location: StorageLocation) -> None:
    storage = emulated_storage(replace(location, url=location.url.replace(FILESYSTEM, str(uuid.uuid4()))), Timeline())
    for request in (lambda: storage.stat("x"), lambda: storage.list(""), lambda: storage.delete("x")):
        with pytest.raises(StorageDeniedError) as raised:
            request()
        assert str(raised.value).startswith("There is no such container or workspace [request=")
        assert str(raised.value).endswith(
            "code=FilesystemNotFound]. Remedy: check the part before '@' in the storage's URL; for OneLake it is the"
            " workspace's id"
        )


def test_an_identity_without_a_token_is_tried_again_and_then_told(location: StorageLocation) -> None:
    class NoIdentity:
        def get_token(self, *scopes: str, **options: object) -> AccessToken:
            raise ClientAuthenticationError(message="no managed identity here\nattempted: ...")

    timeline = Timeline()
    storage = open_adls(
        replace(location, attempts=3),
        credential=NoIdentity(),
        clock=timeline.clock,
        sleep=timeline.sleep,
        jitter=lambda: 1.0,
    )
    with pytest.raises(StorageDeniedError) as raised:
        storage.stat("x")
    assert timeline.sleeps == [0.125, 0.25]
    assert str(raised.value) == (
        "The identity gives no token: no managed identity here [request=stat, file=x, attempts=3]. Remedy: check the"
        " workload identity, or the AZURE_CLIENT_ID, AZURE_TENANT_ID and credential variables of azure-identity"
    )


def signing_in_at(url: str, location: StorageLocation, monkeypatch: pytest.MonkeyPatch) -> AdlsStorage:
    """A storage of azure-identity's own, whose tokens are to come from ``url``."""
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{url}/msi")
    monkeypatch.setenv("IDENTITY_HEADER", "x")
    return open_adls(replace(location, attempts=1))


def test_a_sign_in_host_that_cannot_be_reached_is_something_that_passes(
    location: StorageLocation, unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = signing_in_at(f"http://127.0.0.1:{unused_port}", location, monkeypatch)
    with pytest.raises(StorageError, match=f"signing in is not possible now: 127.0.0.1:{unused_port}: ") as raised:
        storage.stat("x")
    assert isinstance(raised.value, Transient)
    assert "check that this host can be reached" in raised.value.remedy


@pytest.mark.parametrize("status", [429, 503])
def test_a_sign_in_host_that_asks_for_patience_is_something_that_passes(
    location: StorageLocation, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with Refusing(status) as host:
        storage = signing_in_at(host.url, location, monkeypatch)
        with pytest.raises(StorageError, match=f"signing in is not possible now: 127.0.0.1:[0-9]+ answered {status}"):
            storage.stat("x")


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_that_answers_for_a_machine_without_metadata_is_no_sign_in_host(
    location: StorageLocation, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with Refusing(status, body=b"<html>Bad Gateway</html>") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        with pytest.raises(StorageDeniedError, match="The identity gives no token"):
            open_adls(replace(location, attempts=1)).stat("x")
    assert proxy.told, "the proxy was asked"


def test_a_machine_s_metadata_that_asks_for_patience_is_something_that_passes(
    location: StorageLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Refusing(503) as metadata:
        monkeypatch.setenv("http_proxy", metadata.url)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        with pytest.raises(StorageError, match=r"signing in is not possible now: 169\.254\.169\.254 answered 503"):
            open_adls(replace(location, attempts=1)).stat("x")


def test_a_token_that_fails_without_a_request_is_not_put_down_to_the_request_before(
    location: StorageLocation, unused_port: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("x")
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{unused_port}")
    for name, value in {"TENANT_ID": str(uuid.uuid4()), "CLIENT_ID": "x", "FEDERATED_TOKEN_FILE": str(token)}.items():
        monkeypatch.setenv(f"AZURE_{name}", value)
    storage = open_adls(replace(location, attempts=1))
    with pytest.raises(StorageError, match=r"signing in is not possible now: login\.microsoftonline\.com: "):
        storage.stat("x")
    token.unlink()
    now = time.time
    # azure-identity reads the file anew after ten minutes.
    monkeypatch.setattr(time, "time", lambda: now() + 700)
    with pytest.raises(StorageDeniedError, match="The identity gives no token"):
        storage.stat("x")


def test_an_identity_that_the_sign_in_host_refuses_stays_refused(
    location: StorageLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Refusing() as host:
        storage = signing_in_at(host.url, location, monkeypatch)
        with pytest.raises(StorageDeniedError, match="The identity gives no token"):
            storage.stat("x")


def test_a_file_replaced_while_it_is_read_is_told(storage: AdlsStorage) -> None:
    storage.put("orders/1", b"abcdef")
    chunks = storage.read_chunks("orders/1", 3)
    assert next(chunks) == b"abc"
    storage.put("orders/1", b"ABCDEF")
    with pytest.raises(StorageError, match=r"A file was replaced while it was read \[file=orders/1, .*read it again"):
        next(chunks)


def test_a_service_that_ignores_the_rename_condition_is_found_out(server: DfsServer, storage: AdlsStorage) -> None:
    server.tree.honours_rename_condition = False
    failed = [proof for proof in prove_storage(storage, "_scratchPad/check") if not proof.ok]
    assert [(proof.name, proof.detail) for proof in failed] == [
        ("rename_condition", "the same, guarded by the storage's own condition alone")
    ]
    assert failed[0].remedy.startswith("let nothing but one bridge write to this zone")


def test_a_refused_proof_carries_the_remedy_and_the_others_go_on(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.CREATE_FILE, Answered(403, "AuthorizationFailure"))
    proofs = prove_storage(storage, "_scratchPad/check")
    assert [proof.name for proof in proofs if not proof.ok] == ["upload"]
    upload = next(proof for proof in proofs if not proof.ok)
    assert upload.detail.startswith(
        "uploaded a small file and a large one and read them back: The storage denies access: "
    )
    assert upload.remedy.startswith("give the bridge's identity 'Read and write' on the mirrored database")


def test_options_that_the_clients_do_not_take_are_told(location: StorageLocation) -> None:
    wrong = {
        "Unsupported API version '1999-01-01'": replace(location, api_version="1999-01-01"),
        "there is no ca_file /none.pem": replace(location, ca_file="/none.pem"),
        "Token credential is only supported with HTTPS.": replace(location, dfs_endpoint="http://127.0.0.1:1"),
    }
    for reason, given in wrong.items():
        with pytest.raises(InvalidLocationError) as raised:
            open_adls(given, credential=EmulatorCredential())
        assert str(raised.value).startswith(f"The storage's clients cannot be made: {reason}")
        assert str(raised.value).endswith("Remedy: correct api_version, ca_file or the endpoints of this storage")
