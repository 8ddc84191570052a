"""Whether the bridge has read all that a connector had sent by some moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from connectors.landing_zone.ledger.state import TableState, TopicOffsets
from streaming.lifecycle.debezium import Debezium
from streaming.lifecycle.generations import feeding_topics


class ReadingOn:
    """Keeps, for each connector, where its topics ended when they were first asked for at some moment."""

    def __init__(self, debezium: Debezium) -> None:
        self._debezium = debezium
        self._ends: dict[str, tuple[int, Mapping[str, Mapping[int, int]]]] = {}

    def has_passed(
        self, prefix: str, moment: int, tables: Iterable[TableState], read: Mapping[str, TopicOffsets]
    ) -> bool:
        """Whether all has been read that was there when this was first asked with this moment, or before.

        Args:
            prefix: the connector's topic prefix.
            moment: tells one question from the next.
            tables: those that the connector feeds; their topics may have names of their own.
            read: the ledger's offsets.

        Raises:
            BridgeError: Kafka does not say where the topics end.
        """
        known = self._ends.get(prefix)
        if known is None or known[0] != moment:
            known = self._ends[prefix] = moment, self._present(prefix, tables)
        return all(
            not end or (topic in read and read[topic].partitions.get(partition, 0) >= end)
            for topic, ends in known[1].items()
            for partition, end in ends.items()
        )

    def _present(self, prefix: str, tables: Iterable[TableState]) -> Mapping[str, Mapping[int, int]]:
        feeding = {topic for table in tables for topic in feeding_topics(table)}
        return self._debezium.ends(
            [
                topic
                for topic in self._debezium.topics()
                if topic in feeding or topic == prefix or topic.startswith(f"{prefix}.")
            ]
        )
