"""The ledger: it opens, it goes on where Kafka can follow, and no table stands still."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from connectors.errors import BridgeError
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from streaming.checks.check import Check, failed, ok, warning
from streaming.driver.checkpoint import Offsets
from streaming.driver.leaders import CutOff, require_landed_log
from streaming.driver.settling import agrees
from streaming.driver.startup import check_topics, offsets_to_land
from streaming.wording import count_text


def check_ledger(
    state: LedgerState,
    present: Mapping[str, TopicDescription] | None,
    goes_on: Offsets | None,
    unpublished: frozenset[str] = frozenset(),
    cut_off: CutOff = lambda seen: {},
) -> Iterator[Check]:
    """What the ledger says, compared with Kafka's topics and Spark's checkpoint.

    Args:
        present: the subscribed topics, as they were behind the ledger's state; None when they are not known.
        goes_on: where Spark's checkpoint goes on, as it was before that state; None where there is none to go on from.
        cut_off: which partitions have lost what had landed, see :mod:`streaming.driver.leaders`.
        unpublished: tables with a file that is bound and not in its folder yet.
    """
    if state.version == 0:
        yield ok("ledger", "empty: the first run begins it")
    else:
        yield ok(
            "ledger",
            f"version {state.version:,}, epoch {state.epoch}, last written by {state.writer}; "
            f"{count_text(len(state.tables), 'table')}",
        )
    if unpublished:
        yield warning(
            "ledger",
            f"{count_text(len(unpublished), 'file')} bound but not published: {', '.join(sorted(unpublished))}",
            "nothing while the bridge runs; otherwise the next start publishes them",
        )
    for name, table in sorted(state.tables.items()):
        if table.parked is not None and table.status is not TableStatus.PARKED:
            yield ok(
                f"table {name}", f"{table.status.value.replace('_', ' ')}, after it was parked ({table.parked.reason})"
            )
        elif table.parked is not None:
            parked = table.parked
            where = f"{parked.topic}/{parked.partition}/{parked.offset}"
            detail = f"parked ({parked.reason}) at {where}: {parked.message}"
            yield warning(f"table {name}", detail, parked.remedy)
    if present is not None:
        yield from _check_offsets(state, present, cut_off)
        yield from _check_checkpoint(state, present, goes_on)


def _check_offsets(state: LedgerState, present: Mapping[str, TopicDescription], cut_off: CutOff) -> Iterator[Check]:
    wrong = False
    for topic, recorded in sorted(state.topics.items()):
        if topic not in present:
            yield warning(
                f"ledger offsets of {topic}",
                "the settings no longer subscribe to this topic, or it is gone: a table that no other topic feeds gets "
                "nothing new, and stands still from the next start on if the settings leave the topic out",
                "nothing, if a second bridge carries its tables, or their mirrors may stay as they are; otherwise name "
                "it under kafka again, restart, and `cdc-bridge resume CONFIG TABLE`",
            )
            continue
        try:
            alone = replace(state, topics={topic: recorded})
            check_topics(alone, present)
            require_landed_log(alone, present, cut_off)
        except BridgeError as error:
            wrong = True
            yield failed(f"ledger offsets of {topic}", error)
    if not wrong:
        waiting = count_text(offsets_to_land(state, present), "offset")
        yield ok("ledger offsets", f"Kafka holds everything that is not landed: {waiting}")


def _check_checkpoint(
    state: LedgerState, present: Mapping[str, TopicDescription], start: Offsets | None
) -> Iterator[Check]:
    if start is None:
        yield ok("checkpoint", "none to go on from: a new one begins where the ledger ends")
        return
    recorded = {topic: offsets.partitions for topic, offsets in state.topics.items() if topic in present}
    if agrees(start, recorded, {topic: found.partitions for topic, found in present.items()}):
        yield ok("checkpoint", "goes on where the ledger ends")
    else:
        yield warning(
            "checkpoint",
            "does not go on where the ledger ends",
            "nothing: the next start sets it aside, and a new one begins where the ledger ends",
        )
