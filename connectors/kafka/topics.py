"""Which topics there are, and what of each can still be read."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeVar

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition, Uuid
from confluent_kafka.admin import ClusterMetadata, ConfigResource, ListOffsetsResultInfo, OffsetSpec, ResourceType

from connectors.errors import BridgeError
from connectors.kafka.clients import NO_LEADER, Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError, TopicNotFoundError

TIMEOUT_SECONDS = 30.0
_REFUSAL_SECONDS = 5.0
"""After which a client that is refused is told so. By then librdkafka has tried five or six times, as a broker
may refuse that has only just come up; it would go on until the time is up."""
_T = TypeVar("_T")
_GONE = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_ID)
_UNANSWERED = (*_GONE, *NO_LEADER)
_NEAREST = 3
_AGAIN_SECONDS = 0.1
_URL_ALPHABET = str.maketrans("+/", "-_")
# Kafka's own; the broker marks the first two as internal, and some versions not the third.
_INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")


@dataclass(frozen=True)
class TopicDescription:
    """A topic at one moment.

    Attributes:
        id: Kafka's topic id as its own tools write it (base64 for URLs); a topic deleted and created again has another.
        partitions: per partition the earliest offset, and the end up to which records are committed (the last stable
            offset): a reader of committed records can read ``[earliest, end)`` now.
        retention_ms: -1 keeps records for ever; ``None``, as for the next three, where the user may not see settings.
        cleanup_policy: ``delete``, ``compact``, or both with a comma.
        max_message_bytes: of one batch of records, as the broker limits it.
        retention_bytes: of each partition; -1 for no limit.
        min_insync_replicas: as many hold a record before ``acks=all`` acknowledges it; unclean_leader_election: whether
            a replica may lead that does not hold them all; ``None``, both, where the user may not see settings.
        replicas: of the partition that has the fewest; 0 where it is not known.
        epochs: the leader epoch of each partition, as its leader said it with the end; where the cluster has any.
    """

    id: str
    partitions: dict[int, tuple[int, int]]
    retention_ms: int | None = None
    cleanup_policy: str | None = None
    max_message_bytes: int | None = None
    retention_bytes: int | None = None
    min_insync_replicas: int | None = None
    unclean_leader_election: bool | None = None
    replicas: int = 0
    epochs: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Described:
    id: str
    partitions: list[int]
    replicas: int


@dataclass(frozen=True)
class _Ends:
    earliest: int
    latest: int
    epoch: int | None


class Admin:
    """Questions to one Kafka cluster, and the creation of topics.

    Args:
        timeout: seconds for each request.
    """

    def __init__(self, config: KafkaConfig, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self.connection = Connection(config)
        self.client = self.connection.admin()
        self.timeout = timeout

    def topic_names(self) -> list[str]:
        """Names of all topics but Kafka's own, sorted.

        Raises:
            BrokerUnavailableError: no broker answered in time.
            KafkaAccessError: the broker refuses these credentials.
        """
        try:
            known = self._listed().topics
        except KafkaException as problem:
            raise self.failure(problem, "listing topics") from problem
        return sorted(name for name in known if name not in _INTERNAL)

    def _listed(self) -> ClusterMetadata:
        soon = min(_REFUSAL_SECONDS, self.timeout)
        try:
            return self.client.list_topics(timeout=soon)
        except KafkaException:
            self.client.poll(0)
            if self.connection.is_refused() or soon == self.timeout:
                raise
        return self.client.list_topics(timeout=self.timeout - soon)

    def result(self, future: Future[_T], doing: str, **facts: object) -> _T:
        """What a request came to; raises as :meth:`topic_names`, and ``KafkaRequestError`` for other refusals."""
        try:
            return future.result(timeout=self.timeout + 5)
        except (KafkaException, TimeoutError) as problem:
            raise self.failure(problem, doing, **facts) from problem

    def failure(self, problem: Exception, doing: str, **facts: object) -> BridgeError:
        """As :meth:`connectors.kafka.clients.Connection.failure`, with what the client was told until now."""
        self.client.poll(0)
        return self.connection.failure(problem, doing, **facts)


def describe_topics(
    admin: Admin, topics: Sequence[str] | re.Pattern[str], *, setting: str = "kafka.topics"
) -> dict[str, TopicDescription]:
    """Identity, ends and limits of topics, by name in alphabetical order.

    Args:
        topics: names, each of which has to exist; or a pattern that the whole name has to match, where finding none
            is no error and Kafka's own topics are never meant.
        setting: the key of the settings that names the topics.

    Raises:
        TopicNotFoundError: names that do not exist, with the nearest ones that do.
        BrokerUnavailableError: no broker answered in time.
        KafkaAccessError: the broker refuses these credentials, or they may not describe a topic.
    """
    present = admin.topic_names()
    if isinstance(topics, re.Pattern):
        wanted = [name for name in present if topics.fullmatch(name)]
    else:
        wanted = sorted(set(topics))
        _require(wanted, present, admin, setting)
    if not wanted:
        return {}
    described, ends = _described_with_ends(admin, wanted)
    settings = _settings(admin, list(described))
    return {
        name: TopicDescription(
            id=topic.id,
            partitions={one: (ends[name, one].earliest, ends[name, one].latest) for one in sorted(topic.partitions)},
            retention_ms=_number(settings[name].get("retention.ms")),
            cleanup_policy=settings[name].get("cleanup.policy"),
            max_message_bytes=_number(settings[name].get("max.message.bytes")),
            retention_bytes=_number(settings[name].get("retention.bytes")),
            min_insync_replicas=_number(settings[name].get("min.insync.replicas")),
            unclean_leader_election=_truth(settings[name].get("unclean.leader.election.enable")),
            replicas=topic.replicas,
            epochs={one: epoch for one in sorted(topic.partitions) if (epoch := ends[name, one].epoch) is not None},
        )
        for name, topic in sorted(described.items())
    }


def existing_topics(admin: Admin, names: Sequence[str]) -> dict[str, TopicDescription]:
    """The description of each topic that exists; raises as :func:`describe_topics`, but for those that do not."""
    return describe_topics(admin, re.compile("|".join(map(re.escape, names)))) if names else {}


def describe_present(
    admin: Admin, topics: Sequence[str] | re.Pattern[str]
) -> tuple[dict[str, TopicDescription], TopicNotFoundError | None]:
    """As :func:`describe_topics`, with what it would raise for names that do not exist beside the others."""
    try:
        return describe_topics(admin, topics), None
    except TopicNotFoundError as error:
        return ({} if isinstance(topics, re.Pattern) else existing_topics(admin, topics)), error


def topic_ids(admin: Admin, names: Sequence[str]) -> dict[str, str]:
    """Kafka's id of each topic, in one request; a topic that does not exist is left out.

    Raises:
        BrokerUnavailableError, KafkaAccessError: as :func:`describe_topics`.
    """
    return {name: topic.id for name, topic in _described(admin, list(names)).items()} if names else {}


def _require(wanted: Iterable[str], present: Sequence[str], admin: Admin, setting: str) -> None:
    there = set(present)
    missing = [name for name in wanted if name not in there]
    if not missing:
        return
    near = [close for name in missing for close in difflib.get_close_matches(name, present, n=_NEAREST, cutoff=0.5)]
    known = f"the nearest that exist: {', '.join(dict.fromkeys(near))}" if near else f"it has {len(present)} topics"
    raise TopicNotFoundError(
        f"the Kafka cluster has no topic {', '.join(missing)}; {known}",
        remedy=f"correct {setting}, or create the topic or start its connector, or let this user describe the topic",
        bootstrap_servers=admin.connection.bootstrap_servers,
    )


def _described(admin: Admin, names: list[str]) -> dict[str, _Described]:
    futures = admin.client.describe_topics(TopicCollection(names), request_timeout=admin.timeout)
    found: dict[str, _Described] = {}
    for name, future in futures.items():
        try:
            topic = future.result(timeout=admin.timeout + 5)
        except KafkaException as problem:
            if problem.args[0].code() in _GONE:
                continue  # deleted since it was listed
            raise admin.failure(problem, "describing a topic", topic=name) from problem
        except TimeoutError as problem:
            raise admin.failure(problem, "describing a topic", topic=name) from problem
        if not topic.is_internal:
            found[name] = _Described(
                _topic_id(topic.topic_id),
                [partition.id for partition in topic.partitions],
                min((len(partition.replicas) for partition in topic.partitions), default=0),
            )
    return found


def _topic_id(given: Uuid) -> str:
    # The client writes the standard alphabet of base64, Kafka the one for URLs.
    return str(given).translate(_URL_ALPHABET)


def _described_with_ends(admin: Admin, names: list[str]) -> tuple[dict[str, _Described], dict[tuple[str, int], _Ends]]:
    deadline = time.monotonic() + admin.timeout
    described: dict[str, _Described] = {}
    ends: dict[tuple[str, int], _Ends] = {}
    while names:
        found = _described(admin, names)
        described |= found
        ends |= _ends(admin, [(name, partition) for name, topic in found.items() for partition in topic.partitions])
        # Deleted between the two requests, which the next description leaves out; not known to each broker yet; or
        # about to have another leader.
        names = [name for name, topic in found.items() if any((name, one) not in ends for one in topic.partitions)]
        for name in names:
            del described[name]
        if names and time.monotonic() >= deadline:
            raise BrokerUnavailableError(
                f"Kafka describes {', '.join(names)}, and finds no such topic or no leader of it when asked for ends",
                remedy="see whether the topic's partitions have a leader; it is asked again",
                bootstrap_servers=admin.connection.bootstrap_servers,
            )
        if names:
            time.sleep(_AGAIN_SECONDS)
    return described, ends


def _ends(admin: Admin, partitions: list[tuple[str, int]]) -> dict[tuple[str, int], _Ends]:
    """Earliest offset, committed end and leader epoch of each partition that has a leader which can say so now."""
    if not partitions:
        return {}
    committed = IsolationLevel.READ_COMMITTED
    earliest = listed_offsets(admin, partitions, OffsetSpec.earliest(), committed, "asking for the earliest offset")
    latest = listed_offsets(admin, partitions, OffsetSpec.latest(), committed, "asking for the committed end")
    return {
        one: _Ends(earliest[one].offset, latest[one].offset, epoch_of(latest[one]))
        for one in partitions
        if one in earliest and one in latest
    }


def listed_offsets(
    admin: Admin, partitions: Iterable[tuple[str, int]], spec: OffsetSpec, isolation: IsolationLevel, doing: str
) -> dict[tuple[str, int], ListOffsetsResultInfo]:
    """An offset of each partition that has a leader which can say so now; raises as :func:`describe_topics`."""
    futures = admin.client.list_offsets(
        {TopicPartition(topic, partition): spec for topic, partition in partitions},
        isolation_level=isolation,
        request_timeout=admin.timeout,
    )
    found: dict[tuple[str, int], ListOffsetsResultInfo] = {}
    for asked, future in futures.items():
        try:
            found[asked.topic, asked.partition] = future.result(timeout=admin.timeout + 5)
        except (KafkaException, TimeoutError) as problem:
            if not (isinstance(problem, KafkaException) and problem.args[0].code() in _UNANSWERED):
                raise admin.failure(problem, doing, topic=asked.topic, partition=asked.partition) from problem
    return found


def epoch_of(listed: ListOffsetsResultInfo) -> int | None:
    """The leader's epoch, with which it says where the log ends; None of a cluster that has none."""
    epoch: int | None = listed.leader_epoch
    return epoch if epoch is not None and epoch >= 0 else None


def _settings(admin: Admin, names: list[str]) -> dict[str, dict[str, str]]:
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    futures = admin.client.describe_configs(resources, request_timeout=admin.timeout) if resources else {}
    settings: dict[str, dict[str, str]] = {}
    for resource, future in futures.items():
        try:
            entries = future.result(timeout=admin.timeout + 5)
        except KafkaException as problem:
            # Reading a topic needs no right to see its settings; without it they stay unknown.
            if problem.args[0].code() not in (KafkaError.TOPIC_AUTHORIZATION_FAILED, *_GONE):
                raise admin.failure(problem, "reading a topic's settings", topic=resource.name) from problem
            entries = {}
        except TimeoutError as problem:
            raise admin.failure(problem, "reading a topic's settings", topic=resource.name) from problem
        settings[resource.name] = {name: entry.value for name, entry in entries.items()}
    return settings


def _number(text: str | None) -> int | None:
    return int(text) if text is not None else None


def _truth(text: str | None) -> bool | None:
    return text == "true" if text is not None else None
