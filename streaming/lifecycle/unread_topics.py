"""A topic that the bridge reads no more: the tables that it fed stand still, so that nobody takes them for complete.

A topic that the settings leave out was an older name, as after a change of the connector's topic prefix, only if one of
the table's name that has not fed it so far is read instead: with any other that is read, it was read at once, and is
missed. Each start notes in the ledger what is left out of a table that goes on, so that the one that has followed may
feed it from then on; and what is left out of one that it parks. To resume that one is a person's word that nothing more
comes of the topic, and is taken as long as another of its topics, or one of its name, is read. Where several source
tables land in one, there have to be as many of a name as there are sources with that name.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping

from msgspec.structs import replace

from connectors.command_lines import command
from connectors.landing_zone.errors import CARRIED_ELSEWHERE
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState, TableState, TableStatus
from streaming.driver.resuming import resume_of, stopped
from streaming.lifecycle.debezium import source_suffix
from streaming.lifecycle.generations import feeding_topics
from streaming.lifecycle.stopping import StopReason
from streaming.log_context import about_work
from streaming.sources import sources_of

_log = logging.getLogger(__name__)

_STAY = frozenset({TableStatus.PARKED, TableStatus.DELETING, TableStatus.CLEARED})


def park_unread(
    ledger: Ledger, present: Collection[str], subscribed: Callable[[str], bool], names: Collection[str] = ()
) -> None:
    """Park the tables whose topics the settings leave out by now, and those whose named topics Kafka no longer has.

    A topic that was deleted and that only a pattern meant is not missed: it may have been cleaned up. A table without a
    folder of its present generation stays as it is: its rebuild says what is missing.

    Args:
        present: the subscribed topics that Kafka has.
        subscribed: whether the settings have a topic of this name read; names: those that they name one by one.

    Raises:
        FencedError: another driver owns the zone.
        Transient: the storage failed; nothing or all of it is written.
    """
    state = ledger.state
    subscription, there = read_by_settings(state, present, subscribed, names)
    tables = {name: _held(name, state, subscription, there) for name in state.tables}
    changed = {name: table for name, table in tables.items() if table != state.tables[name]}
    if changed:
        with about_work(lambda: ledger.state.version):
            ledger.commit(Draft(tables=changed))
            for name, table in changed.items():
                if table.parked != state.tables[name].parked and table.parked is not None:
                    _log.warning("%s stands still: %s", name, table.parked.message)


def read_by_settings(
    state: LedgerState, present: Collection[str], subscribed: Callable[[str], bool], names: Collection[str]
) -> tuple[set[str], set[str]]:
    """The topics that the settings have read, and those of them that are not missed: a named one that is gone is.

    Args:
        present, subscribed, names: see :func:`park_unread`.
    """
    subscription = {*present, *filter(subscribed, state.topics)}
    return subscription, subscription.difference(set(names).difference(present))


def _held(name: str, state: LedgerState, subscription: Collection[str], there: Collection[str]) -> TableState:
    """The table with what the settings leave out of it, parked where that is missed, or where a named topic is."""
    table = state.tables[name]
    missed = table.parked is not None and table.parked.reason == StopReason.TOPIC_GONE
    stays = table.status in _STAY and not (table.status is TableStatus.PARKED and missed)
    left_out = not_among(table, subscription)
    topics = missed_topics(name, state.tables, subscription)
    if topics and stays:
        # Not told of yet: it is why the table may not go on.
        return replace(table, left_out=tuple(topic for topic in left_out if topic in table.left_out))
    noted = replace(table, left_out=left_out)
    if topics:
        return parked_left_out(name, noted, topics, state)
    if not stays and not missed and (gone := unread_topics(name, state.tables, there)):
        return _gone(name, noted, gone, state)
    return noted


def not_among(table: TableState, subscription: Collection[str]) -> tuple[str, ...]:
    """The topics that have fed the table and that the settings leave out; sorted."""
    return tuple(topic for topic in feeding_topics(table) if topic not in subscription)


def parked_left_out(name: str, table: TableState, topics: Collection[str], state: LedgerState) -> TableState:
    """The table standing still since the settings leave these topics out."""
    return stopped(
        replace(table, left_out=tuple(sorted({*table.left_out, *topics}))),
        resume_of(table, state.topics),
        reason="excluded",
        message=f"the settings leave out {', '.join(topics)} since then, so events of the table are not read",
        remedy="nothing, if the mirrored table may stay as it is, or a second bridge carries it; if nothing more comes "
        "of that topic, since its events come in another one that the bridge reads, "
        f"{command('resume CONFIG {}', name)} once one has come there; otherwise read the topic again (kafka.topics "
        "or kafka.pattern), restart, and resume",
    )


def _gone(name: str, table: TableState, topics: Collection[str], state: LedgerState) -> TableState:
    return stopped(
        table,
        resume_of(table, state.topics),
        reason=StopReason.TOPIC_GONE.value,
        message=f"Kafka no longer has {', '.join(topics)}, which kafka.topics names and the table comes from",
        remedy="take the topic out of kafka.topics and restart, if the table has gone for good; if the bridge's user "
        f"may not describe it any more, let it, restart, and {command('resume CONFIG {}', name)}; otherwise let the "
        f"connector make it again, restart, and {command('resync CONFIG {}', name)}",
    )


def waiting_for(options: Mapping[str, str], missing: Collection[str]) -> dict[str, str]:
    """Options of Spark's source that find a named topic when it is made again: Spark fails where one is missing."""
    if not missing or "subscribe" not in options:
        return dict(options)
    names = "|".join(map(re.escape, options["subscribe"].split(",")))
    others = {key: value for key, value in options.items() if key != "subscribe"}
    return {**others, "subscribePattern": f"^(?:{names})$"}


def unread_topics(name: str, tables: Mapping[str, TableState], read: Collection[str]) -> tuple[str, ...]:
    """Those of the table's topics that are not read and that no other can have followed; sorted.

    Args:
        tables: all that the ledger knows; read: the topics that the bridge reads.
    """
    table = tables[name]
    known = feeding_topics(table)
    gone = tuple(topic for topic in known if topic not in read)
    if not gone:
        return ()
    left = _not_of_others(name, tables, read)
    endings = _endings(table)
    if len(endings) == 1:
        goes_on = len(gone) < len(known) or any(topic.endswith(endings[0]) for topic in left)
        return () if goes_on else gone
    enough = tuple(ending for ending in endings if _count(left, ending) >= endings.count(ending))
    return tuple(topic for topic in gone if not topic.endswith(enough))


def missed_topics(name: str, tables: Mapping[str, TableState], subscription: Collection[str]) -> tuple[str, ...]:
    """Those of the table's topics that the settings leave out, so that rows are missing; sorted.

    Those that the last start has noted (:attr:`TableState.left_out`) are missed only if none can have followed them.

    Args:
        subscription: the topics that the settings have read, whether they are there or not.
    """
    unread = unread_topics(name, tables, subscription)
    table = tables[name]
    newly = [topic for topic in feeding_topics(table) if topic not in subscription and topic not in table.left_out]
    if unread or not newly:
        return unread
    before = {*table.partitions, *table.starts}.difference(table.left_out)
    new = [topic for topic in _not_of_others(name, tables, subscription) if topic not in before]
    endings = _endings(table)
    followed = tuple(
        ending
        for ending in endings
        if _count(new, ending) >= (len(newly) if len(endings) == 1 else _count(newly, ending))
    )
    if len(endings) == 1 and followed:
        return ()
    return tuple(topic for topic in newly if not topic.endswith(followed))


def left_out_now(
    name: str, state: LedgerState, present: Collection[str], subscribed: Callable[[str], bool]
) -> tuple[str, ...]:
    """:func:`missed_topics` by the settings of now; arguments as :func:`park_unread`."""
    subscription, _ = read_by_settings(state, present, subscribed, ())
    return missed_topics(name, state.tables, subscription)


def unread_or_gone(
    name: str, state: LedgerState, present: Collection[str], subscribed: Callable[[str], bool]
) -> tuple[str, ...]:
    """Those of the table's topics that the settings leave out so that rows are missing, or that Kafka no longer has.

    Arguments as :func:`park_unread`.
    """
    left_out = left_out_now(name, state, present, subscribed)
    return left_out or unread_topics(name, state.tables, present)


def _not_of_others(name: str, tables: Mapping[str, TableState], read: Collection[str]) -> list[str]:
    others = {topic for other, each in tables.items() if other != name for topic in feeding_topics(each)}
    return [topic for topic in read if topic not in others]


def _endings(table: TableState) -> list[str]:
    """How the topics of the table's sources end; several sources may share one."""
    return [source_suffix(source) for source in sources_of(table)]


def _count(topics: Collection[str], ending: str) -> int:
    return sum(topic.endswith(ending) for topic in topics)


def unread_refusal(topics: Collection[str], then: str) -> tuple[str, str]:
    """Why a table can't be brought back whose topics are not read, and what to do.

    Args:
        then: the command that brings it back once they are.
    """
    return (
        f"its events come from {', '.join(topics)}, which the settings leave out or Kafka no longer has",
        "read the topic again (kafka.topics or kafka.pattern), or let the connector write to it again; restart, then "
        f"{then}; if the table's events come in another topic by now that the bridge reads, wait for the next one, "
        f"then {then}; where a start refuses the topic, {CARRIED_ELSEWHERE}",
    )
