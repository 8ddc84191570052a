"""Trouble on ADLS that passes is waited for, as long as the service asks, and within bounds."""

from __future__ import annotations

import email.utils
import time
from dataclasses import replace

import pytest

from connectors.errors import Transient
from connectors.landing_zone.errors import StorageError
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import StorageLocation
from tests.emulators.dfs_protocol import Operation
from tests.emulators.dfs_server import Answered, DfsServer, FaultsInTurn
from tests.integration.adls_requests import staged_and_folder
from tests.unit.landing_zone.storages import Timeline, emulated_storage


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"x-ms-retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "100"}, 0.25),
        ({"Retry-After": "soon"}, 0.25),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.25),
        ({}, 0.25),
    ],
)
def test_throttling_is_waited_for_as_long_as_asked(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, headers: dict[str, str], waited: float
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(429, "ServerBusy", headers))
    storage.put("orders/1", b"x")
    assert timeline.sleeps == [waited]


def test_a_retry_after_may_be_a_date(server: DfsServer, storage: AdlsStorage, timeline: Timeline) -> None:
    date = email.utils.formatdate(time.time() + 60, usegmt=True)
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(503, "ServerBusy", {"Retry-After": date}))
    storage.put("orders/1", b"x")
    assert [50 < seconds <= 60 for seconds in timeline.sleeps] == [True]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_trouble_is_retried_with_growing_waits_and_bounded(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, status: int
) -> None:
    staged_and_folder(storage)
    server.calm()
    server.fault = FaultsInTurn(Operation.RENAME, *[Answered(status, "Trouble")] * 100)
    with pytest.raises(StorageError) as raised:
        storage.rename_if_absent("staged", "orders/1")
    assert timeline.sleeps == [0.25, 0.5, 1, 2, 4, 8, 16]
    assert server.operations().count(Operation.RENAME) == 8
    assert isinstance(raised.value, Transient)
    assert raised.value.retry_after is None
    assert str(raised.value).startswith(f"The storage did not complete a request: {status} Trouble: ")
    assert str(raised.value).endswith(
        " [request=rename, file=staged, attempts=8]. Remedy: the request is safe to repeat; look at the storage's"
        " health, capacity and throttling if it goes on"
    )


def test_a_wait_longer_than_the_budget_is_left_to_the_caller(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(429, "ServerBusy", {"Retry-After": "600"}))
    with pytest.raises(StorageError) as raised:
        storage.put("orders/1", b"x")
    assert (raised.value.retry_after, timeline.sleeps) == (600.0, [])


def test_answers_that_contradict_each_other_end_in_an_error(server: DfsServer, storage: AdlsStorage) -> None:
    staged_and_folder(storage)
    server.fault = FaultsInTurn(Operation.RENAME, *[Answered(409, "PathConflict")] * 100)
    with pytest.raises(StorageError, match="its answers contradict each other"):
        storage.rename_if_absent("staged", "orders/1")


def test_a_storage_that_cannot_be_reached_is_told_with_both_hosts(location: StorageLocation) -> None:
    timeline = Timeline()
    storage = emulated_storage(replace(location, blob_endpoint="https://127.0.0.1:1", attempts=3), timeline)
    with pytest.raises(StorageError) as raised:
        storage.put("orders/1", b"x")
    assert timeline.sleeps == [0.25, 0.5]
    assert str(raised.value).endswith(
        "[request=put, file=orders/1, attempts=3]. Remedy: check that both its hosts, '.dfs.' and '.blob.', can be"
        " reached: network, proxy, certificates (ca_file)"
    )
