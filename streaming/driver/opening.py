"""The first steps of a start: who cannot be landed from claims nothing, and what is claimed is held against Kafka."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from connectors.kafka.topics import TopicDescription
from streaming.driver.leaders import CutOff, require_landed_log
from streaming.driver.startup import OpenZone, check_topics
from streaming.lifecycle.recreated_topics import park_recreated, require_same_cluster
from streaming.lifecycle.retention import park_behind_retention
from streaming.lifecycle.unread_topics import park_unread


def claim_and_compare(
    describe: Callable[[], Mapping[str, TopicDescription]],
    open_zone: Callable[[], OpenZone],
    cut_off: CutOff,
    *,
    subscribed: Callable[[str], bool] = lambda topic: True,
    names: Collection[str] = (),
) -> tuple[OpenZone, Mapping[str, TopicDescription]]:
    """Claim the zone, and make sure that everything that the ledger has not landed is still in Kafka.

    The topics are asked for twice. Before the claim, since a driver that cannot read them must not take the zone from
    one that can. Behind it, since the driver that had the zone until then may have landed what came after the first
    look: against those ends, Kafka would seem to have lost it.

    Args:
        cut_off: which partitions have lost what had landed, see :mod:`streaming.driver.leaders`.
        subscribed, names: see :func:`streaming.lifecycle.unread_topics.park_unread`.

    Returns:
        the claimed zone, and the topics as they were behind the claim.

    Raises:
        TopicRecreatedError, OffsetGapError: records are gone, or others by now, and nobody knows of which table.
        FencedError: another driver has claimed the zone meanwhile.
        Transient: Kafka or the storage does not answer.
    """
    describe()
    opened = open_zone()
    present = describe()
    require_same_cluster(opened.ledger.state, present, names)
    park_unread(opened.ledger, present, subscribed, names)
    park_behind_retention(opened.ledger, present)
    park_recreated(opened.ledger, present)
    check_topics(opened.ledger.state, present)
    require_landed_log(opened.ledger.state, present, cut_off)
    return opened, present
