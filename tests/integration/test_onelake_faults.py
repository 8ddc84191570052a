"""Every kind of fault at every kind of request: the storage does what was asked, once, whatever the service does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock

import pytest

from connectors.errors import Transient
from connectors.landing_zone.errors import StorageError
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import RenameMode
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.dfs_server import Answered, DfsServer, Met
from tests.emulators.faults import (
    CutAnswer,
    CutUpload,
    Fault,
    FaultsInTurn,
    Hangs,
    Kind,
    Lost,
    SeededFaults,
    SeenEmpty,
    Slow,
    TokenExpired,
    Unconditional,
)
from tests.emulators.tokens import NEAR_ITS_END, Tokens
from tests.unit.landing_zone.storages import LARGE, Timeline, emulated_location, emulated_storage, local_file

PATIENCE = 0.5
BODY = bytes(range(256)) * 16

SENT = (
    Operation.CREATE_FILE,
    Operation.APPEND,
    Operation.FLUSH,
    Operation.RENAME,
    Operation.DELETE,
    Operation.LIST,
    Operation.PROPERTIES,
    Operation.READ,
    Operation.PUT_BLOB,
)
EVERYWHERE: list[Fault] = [
    Answered(429, "TooManyRequests", {"Retry-After": "1"}),
    Answered(503, "ServerBusy", {"Retry-After": "1"}),
    Answered(500, "InternalError"),
    Lost.BEFORE,
    Lost.AFTER,
    Slow(0.01),
    Hangs(PATIENCE + 0.2),
    TokenExpired(challenged=True),
    TokenExpired(challenged=False),
    *(CutAnswer(share) for share in (0.0, 0.1, 0.35, 0.5, 0.75, 0.97)),
]
SOMEWHERE = [
    (CutUpload(0.5), Operation.APPEND),
    (CutUpload(0.5), Operation.PUT_BLOB),
    (CutUpload(0.0), Operation.PUT_BLOB),
    (SeenEmpty(0.01), Operation.FLUSH),
    (Unconditional(), Operation.RENAME),
]


class OnceEach:
    """A hook that lets the first request of each operation meet the fault, and no other."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._met: set[Operation] = set()
        self._lock = Lock()

    def __call__(self, request: Request) -> Fault | None:
        with self._lock:
            if request.operation in self._met:
                return None
            self._met.add(request.operation)
            return self._fault


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens(NEAR_ITS_END, always=())


@pytest.fixture(scope="module")
def onelake(tokens: Tokens) -> Iterator[DfsServer]:
    with DfsServer(tokens=tokens) as server:
        yield server


@pytest.fixture
def server(onelake: DfsServer) -> DfsServer:
    onelake.calm()
    onelake.tree.honours_rename_condition = True
    return onelake


def opened(
    server: DfsServer,
    tokens: Tokens,
    folder: Path,
    timeline: Timeline,
    mode: RenameMode = RenameMode.SDK,
    *,
    patience: float = 10.0,
) -> AdlsStorage:
    """The landing zone of a new item, by clients that give an unanswered request up after ``patience`` seconds."""
    location = replace(emulated_location(server, folder / "work"), rename_mode=mode)
    return emulated_storage(location, timeline, tokens.issue, read_timeout=patience)


def a_batch(storage: AdlsStorage, place: str) -> None:
    """What the bridge does with its storage, below ``place``, and what must come of each request."""
    assert storage.put_if_absent(f"{place}/ledger/1.json", b"ours")
    storage.put(f"{place}/orders/_metadata.json", b"{}")
    storage.upload(local_file(storage, BODY), f"{place}/staged")
    storage.upload(local_file(storage, LARGE), f"{place}/large")
    assert not storage.put_if_absent(f"{place}/ledger/1.json", b"theirs")
    for number, staged, body in ((1, "staged", BODY), (2, "large", LARGE)):
        moved = storage.rename_if_absent(f"{place}/{staged}", f"{place}/orders/{number}", len(body))
        assert storage.read(f"{place}/orders/{number}") == body
        left = storage.stat(f"{place}/{staged}")
        assert left is None or left.size in (0, len(BODY)), "what was given up may arrive behind the rename"
        assert moved or left is not None, "only a staged file that is there again makes a rename doubtful"
    assert [entry.name for entry in storage.list(f"{place}/orders")] == ["1", "2", "_metadata.json"]
    storage.put(f"{place}/copy", b"one")
    storage.put(f"{place}/copy", b"another")
    assert (storage.read(f"{place}/ledger/1.json"), storage.read(f"{place}/copy")) == (b"ours", b"another")
    storage.delete(f"{place}/copy")
    assert storage.stat(f"{place}/copy") is None
    folder = storage.stat(f"{place}/orders")
    assert folder is not None
    assert folder.is_folder
    assert storage.delete_folder(f"{place}/orders", folder.etag)
    assert storage.stat(f"{place}/orders") is None


@pytest.mark.parametrize("mode", list(RenameMode))
@pytest.mark.parametrize("fault", EVERYWHERE, ids=str)
def test_whatever_a_request_meets_a_batch_goes_through(
    server: DfsServer, tokens: Tokens, tmp_path: Path, fault: Fault, mode: RenameMode
) -> None:
    patience = PATIENCE if isinstance(fault, Hangs) else 10.0
    storage = opened(server, tokens, tmp_path, Timeline(), mode, patience=patience)
    server.fault = OnceEach(fault)
    a_batch(storage, "batch")
    assert {met.operation for met in server.met} == set(SENT)


@pytest.mark.parametrize(("fault", "operation"), SOMEWHERE, ids=str)
def test_what_only_some_requests_meet_they_survive(
    server: DfsServer, tokens: Tokens, tmp_path: Path, fault: Fault, operation: Operation
) -> None:
    storage = opened(server, tokens, tmp_path, Timeline())
    server.fault = FaultsInTurn(operation, fault, fault)
    a_batch(storage, "first")
    a_batch(storage, "second")
    assert [met.operation for met in server.met] == [operation] * 2


@pytest.mark.parametrize("seed", range(3))
def test_batches_go_through_seeded_faults_and_their_requests_take_effect_once(
    server: DfsServer, tokens: Tokens, tmp_path: Path, seed: int
) -> None:
    storage = opened(server, tokens, tmp_path, Timeline(), list(RenameMode)[seed % 2], patience=PATIENCE)
    server.page_size, server.sparse_pages = 1, True
    server.fault = faults = SeededFaults(seed, share=0.3, hang=PATIENCE + 0.2, slow=0.01)
    for number in range(4):
        a_batch(storage, str(number))
    assert set(faults.happened) == set(Kind)


def test_a_request_that_takes_effect_late_changes_nothing_any_more(
    server: DfsServer, tokens: Tokens, tmp_path: Path
) -> None:
    storage = opened(server, tokens, tmp_path, Timeline(), patience=PATIENCE)
    storage.put("orders/_metadata.json", b"{}")
    for operation, body, path in (
        (Operation.CREATE_FILE, LARGE, ""),
        (Operation.APPEND, LARGE, ""),
        (Operation.FLUSH, LARGE, ""),
        (Operation.PUT_BLOB, BODY, "/staged-"),
        (Operation.RENAME, BODY, ""),
        (Operation.PUT_BLOB, BODY, "/ledger/"),
    ):
        place = f"{operation}{path}".translate(str.maketrans(" /", "--"))
        server.fault = FaultsInTurn(operation, Hangs(PATIENCE + 0.3), path=path)
        storage.upload(local_file(storage, body), f"staged-{place}")
        assert storage.rename_if_absent(f"staged-{place}", f"orders/{place}", len(body))
        assert storage.put_if_absent(f"ledger/{place}", b"ours")
        server.await_quiet()
        assert [met.operation for met in server.met] == [operation]
        server.met.clear()
        assert (storage.read(f"orders/{place}"), storage.read(f"ledger/{place}")) == (body, b"ours")
        left = storage.stat(f"staged-{place}")
        # The name is free by then. What is left under it is empty or the same file, and the next driver's vacuum
        # removes it.
        assert left is None or left.size == 0 or storage.read(f"staged-{place}") == body


def test_an_upload_that_arrives_before_the_rename_is_known_to_have_happened_makes_it_doubtful_and_no_more(
    server: DfsServer, tokens: Tokens, tmp_path: Path
) -> None:
    storage = opened(server, tokens, tmp_path, Timeline(), patience=PATIENCE)
    storage.put("orders/_metadata.json", b"{}")
    upload = FaultsInTurn(Operation.PUT_BLOB, Hangs(PATIENCE + 0.2), path="staged")
    # The second rename takes effect, or rather does not, only when the upload that was given up has arrived.
    rename = FaultsInTurn(Operation.RENAME, Lost.AFTER, Hangs(PATIENCE - 0.1))
    server.fault = lambda request: upload(request) or rename(request)
    storage.upload(local_file(storage, BODY), "staged")
    assert not storage.rename_if_absent("staged", "orders/1", len(BODY))
    assert [met.operation for met in server.met] == [Operation.PUT_BLOB, Operation.RENAME, Operation.RENAME]
    assert (storage.read("orders/1"), storage.read("staged")) == (BODY, BODY)


def test_an_upload_in_several_parts_is_whole_although_each_part_was_cut_once(
    server: DfsServer, tokens: Tokens, tmp_path: Path
) -> None:
    storage = opened(server, tokens, tmp_path, Timeline())
    body = b"".join(bytes([number]) * (1 << 20) for number in range(18))
    server.fault = FaultsInTurn(
        Operation.APPEND, CutUpload(0.4), Lost.AFTER, None, CutUpload(0.9), None, CutUpload(0.1)
    )
    storage.upload(local_file(storage, body), "staged")
    assert storage.read("staged") == body


def test_a_refused_token_is_replaced_and_a_few_new_ones_are_tried(
    server: DfsServer, tokens: Tokens, tmp_path: Path
) -> None:
    timeline = Timeline()
    storage = opened(server, tokens, tmp_path, timeline)
    given = tokens.given
    server.fault = FaultsInTurn(Operation.PUT_BLOB, *[TokenExpired(challenged=False)] * 3)
    storage.put("orders/1", b"x")
    assert (tokens.given - given, timeline.sleeps) == (4, [0.25, 0.5, 1.0])


def test_a_token_that_ended_before_its_holder_was_told_is_replaced(server: DfsServer, tmp_path: Path) -> None:
    ended = Tokens(3600.0, always=())
    storage = opened(server, ended, tmp_path, Timeline())
    server.tokens, before = ended, server.tokens
    try:
        storage.put("orders/1", b"x")
        ended.expire("Bearer token-1")
        assert storage.read("orders/1") == b"x"
        assert [met.kind for met in server.met] == [Kind.TOKEN_EXPIRED]
    finally:
        server.tokens = before


def test_a_service_that_never_answers_in_time_is_given_up_and_may_be_asked_again(
    server: DfsServer, tokens: Tokens, tmp_path: Path
) -> None:
    location = replace(emulated_location(server, tmp_path / "work"), attempts=2)
    storage = emulated_storage(location, Timeline(), tokens.issue, read_timeout=0.1)
    server.fault = FaultsInTurn(Operation.PUT_BLOB, *[Hangs(0.3)] * 2)
    with pytest.raises(StorageError, match="check that both its hosts") as raised:
        storage.put_if_absent("ledger/1.json", b"x")
    assert isinstance(raised.value, Transient)
    server.await_quiet()
    assert emulated_storage(location, Timeline(), tokens.issue).put_if_absent("ledger/1.json", b"x")


def test_a_listing_is_whole_although_its_pages_begin_empty_and_files_move_away_between_them(
    server: DfsServer, tokens: Tokens, tmp_path: Path
) -> None:
    storage = opened(server, tokens, tmp_path, Timeline())
    names = [f"{number:020d}.parquet" for number in range(1, 8)]
    for name in names:
        storage.put(f"orders/{name}", b"x")
    folder = next(path for path, _ in server.tree.children(server.tree.filesystem, recursive=True) if names[0] in path)
    server.page_size, server.sparse_pages = 2, True
    pages: list[str] = []

    def consumed(request: object) -> None:
        if server.requests[-1].operation is Operation.LIST:
            pages.append(server.requests[-1].query.get("continuation", ""))
            if len(pages) == 3:
                server.tree.delete(folder, recursive=False)

    server.fault = consumed
    assert [entry.name for entry in storage.list("orders")] == names
    assert len(pages) == 5
    assert [entry.name for entry in storage.list("orders")] == names[1:]


def test_a_long_listing_needs_no_luck_for_each_page_is_tried_again_by_itself(
    server: DfsServer, tokens: Tokens, tmp_path: Path
) -> None:
    storage = opened(server, tokens, tmp_path, Timeline())
    for number in range(20):
        storage.put(f"ledger/{number:02d}", b"x")
    server.page_size = 1
    server.fault = FaultsInTurn(Operation.LIST, *[Answered(500, "InternalError"), None] * 20)
    assert len(storage.list("ledger")) == 20
    assert len(server.met) == 20


def test_an_answer_cut_within_its_headers_is_none(server: DfsServer, tokens: Tokens, tmp_path: Path) -> None:
    storage = opened(server, tokens, tmp_path, Timeline())
    storage.put("orders/1", BODY)
    for percent in range(0, 100, 7):
        server.fault = FaultsInTurn(Operation.PROPERTIES, CutAnswer(percent / 100))
        found = storage.stat("orders/1")
        assert found is not None
        assert (found.size, found.is_folder, bool(found.etag)) == (len(BODY), False, True)


def test_seen_empty_files_are_counted_with_their_size(server: DfsServer, tokens: Tokens, tmp_path: Path) -> None:
    storage = opened(server, tokens, tmp_path, Timeline())
    server.fault = FaultsInTurn(Operation.FLUSH, SeenEmpty(0.0))
    storage.upload(local_file(storage, LARGE), "_scratchPad/staged")
    path = server.requests[0].path
    assert server.met == [Met(Kind.SEEN_EMPTY, Operation.FLUSH, path, 3, seen=0)]
