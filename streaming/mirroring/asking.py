"""Asking Fabric how mirroring goes: by its REST API, by the files that the replicator writes, or by either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from connectors.errors import BridgeError
from connectors.fabric.errors import FabricAnswerError, FabricDeniedError, FabricNotFoundError, FabricUnavailableError
from connectors.fabric.monitoring_files import read_monitoring
from connectors.fabric.place import in_onelake, monitoring_location
from connectors.fabric.status import MirroringStatus
from connectors.landing_zone.errors import StorageDeniedError, StorageError
from connectors.landing_zone.storage.location import StorageLocation
from streaming.job_options import storage_location
from streaming.mirroring.view import Told, Via
from streaming.settings import BridgeSettings
from streaming.settings.fabric import StatusSource
from streaming.zones.reading import reading_storage

if TYPE_CHECKING:
    from connectors.fabric.rest import FabricRest

Question = Callable[[], MirroringStatus | None]


@dataclass(frozen=True)
class Asking:
    """Who is asked, in this order.

    Attributes:
        rest, files: None for one that is not to be asked.
    """

    rest: Question | None
    files: Question | None

    def ask(self) -> Told:
        """The first answer; never raises an error of the bridge."""
        failure: BridgeError | None = None
        for via, question in ((Via.REST, self.rest), (Via.FILES, self.files)):
            if question is None:
                continue
            try:
                return Told(via, question(), failure)
            except BridgeError as error:
                failure = failure or error
        return Told(None, None, failure)


def asking_of(settings: BridgeSettings, *, seconds: float | None = None) -> Asking | None:
    """Who is asked by these settings; None where nobody is. Nothing is sent yet.

    Args:
        seconds: the longest that one of them may take; by default as long as the clients take by themselves.
    """
    zone = storage_location(settings, settings.landing_zone.url)
    rest = _rest(settings, seconds)
    match settings.fabric.status:
        case StatusSource.OFF:
            return None
        case StatusSource.REST:
            return Asking(rest, None)
        case StatusSource.FILES:
            return Asking(None, _files(zone, seconds))
        case StatusSource.AUTO:
            if in_onelake(zone.url):
                return Asking(rest, _files(zone, seconds))
            return None if rest is None else Asking(rest, None)
        case unknown:
            assert_never(unknown)


def failure_code(error: BridgeError) -> str:
    """A short word for why a question failed, as ``bridge_fabric_failures_total`` counts it."""
    match error:
        case FabricDeniedError() | StorageDeniedError():
            return "denied"
        case FabricNotFoundError():
            return "not_found"
        case FabricUnavailableError():
            return "unavailable"
        case FabricAnswerError():
            return "answer"
        case StorageError():
            return "storage"
        case _:
            return "other"


def _rest(settings: BridgeSettings, seconds: float | None) -> Question | None:
    ids = settings.mirrored_ids
    if ids is None:
        return None
    fabric = settings.fabric
    clients: list[FabricRest] = []

    def ask() -> MirroringStatus:
        # Imported when it is asked: Azure's clients take a second to load, which a start does not wait for.
        from connectors.fabric.rest import FabricRest, MirroredDatabase

        place = MirroredDatabase(
            *ids, api_url=fabric.api_url.rstrip("/"), ca_file=None if fabric.ca_file is None else str(fabric.ca_file)
        )
        if seconds is not None:
            place = replace(place, read_timeout=seconds, connect_timeout=seconds, budget=seconds)
        if not clients:  # one client for all questions: it keeps its connection and its token
            clients.append(FabricRest(place))
        return clients[0].status()

    return ask


def _files(zone: StorageLocation, seconds: float | None) -> Question:
    location = monitoring_location(zone)
    if seconds is not None:
        location = replace(location, budget=seconds, read_timeout=seconds)
    return lambda: read_monitoring(reading_storage(location))
