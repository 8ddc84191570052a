"""All checks of one settings file, in the order in which a start would meet what they look at."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from connectors.errors import BridgeError
from connectors.kafka.leaders import cut_off
from connectors.landing_zone.ledger.state import NOTHING_LANDED, LedgerState
from streaming.checks.check import Check, failed, ok, problem
from streaming.checks.fabric import check_fabric
from streaming.checks.kafka import check_registry, check_topics_of, look_again
from streaming.checks.ledger import check_ledger
from streaming.checks.machine import check_checkpoint_folder, check_java
from streaming.checks.patience import SECONDS, patiently
from streaming.checks.records import check_records
from streaming.checks.source import check_source
from streaming.checks.storage import check_names, check_owner, check_state_place, check_storage
from streaming.driver.checkpoint import Checkpoint
from streaming.job_options import job_options, storage_location
from streaming.kafka_options import kafka_config, registry_config
from streaming.settings import BridgeSettings, SettingsError, load_settings
from streaming.zones.reading import head_state, reading_storage, unpublished


def check_all(config: Path) -> Iterator[Check]:
    """Look at everything, one after the other. Writes nothing but proof files, and does not claim the ledger.

    Args:
        config: the settings file; when it cannot be used, its problems are all that can be told.
    """
    try:
        settings = load_settings(config)
        job = job_options(settings)
    except SettingsError as error:
        yield from _settings_problems(error)
        return
    except BridgeError as error:
        yield failed("settings", error)
        return
    yield ok("settings", f"{config}: source {settings.name}")
    yield from check_java()
    yield from check_checkpoint_folder(settings.checkpoint)
    yield from check_registry(registry_config(settings))
    present = yield from check_topics_of(settings)
    # A bridge may be landing all the while: what is held against the ledger's offsets must not lie behind them, so the
    # checkpoint is read before the ledger, and the topics are looked at once more behind it.
    goes_on = Checkpoint(settings.checkpoint).next_start()
    found = yield from _check_storages(settings)
    if found is not None and present is not None:
        present = yield from look_again(settings)
    yield from check_fabric(settings, time.time_ns() // 1_000_000)
    if found is None:
        yield from check_source(settings, job, present, NOTHING_LANDED)
        return
    state, waiting = found
    yield from check_ledger(
        state, present, goes_on, waiting, lambda seen: cut_off(kafka_config(settings), seen, timeout=SECONDS)
    )
    yield from check_source(settings, job, present, state)
    if present:
        yield from check_records(kafka_config(settings), present, job, state)


def _check_storages(settings: BridgeSettings) -> Generator[Check, None, tuple[LedgerState, frozenset[str]] | None]:
    """Both storages and the zone's owner; returns the ledger's state, and its tables with an unpublished file.

    Returns None when the ledger or the zone cannot be read; a storage that nobody could ask is told of once.
    """
    places = {
        subject: replace(storage_location(settings, url), budget=SECONDS, read_timeout=SECONDS)
        for subject, url in (("landing zone", settings.landing_zone.url), ("state", settings.state_url))
    }
    try:
        for subject, location in places.items():
            yield from check_names(subject, location)
        yield from check_state_place(*places.values())
        zone, state = (patiently("storage", partial(reading_storage, location)) for location in places.values())
    except BridgeError as error:
        yield failed("storage", error)
        return None
    zone_answers = yield from check_storage("landing zone", zone)
    state_answers = yield from check_storage("state", state)
    if not (zone_answers and state_answers):
        return None
    try:
        head = patiently("ledger", lambda: head_state(state))
        waiting = patiently("ledger", lambda: unpublished(zone, head))
    except BridgeError as error:
        yield failed("ledger", error)
        return None
    yield from check_owner(zone, state, head, settings.name)
    return head, waiting


def _settings_problems(error: SettingsError) -> Iterator[Check]:
    if not error.problems:
        yield failed("settings", error)
    for one in error.problems:
        yield problem("settings", str(one), error.remedy)
