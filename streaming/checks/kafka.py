"""The broker, the topics and what they keep, the dead-letter topic, and the schema registry."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from datetime import timedelta
from math import inf

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import SchemaIdKind
from connectors.errors import BridgeError
from connectors.kafka.registry import Registry
from connectors.kafka.registry_config import RegistryConfig
from connectors.kafka.topics import Admin, TopicDescription, describe_present, describe_topics
from streaming.checks.check import Check, failed, ok, problem, warning
from streaming.checks.patience import SECONDS, patiently
from streaming.kafka_options import kafka_config, subscription
from streaming.policies import OnBadRecord
from streaming.settings import BridgeSettings
from streaming.wording import count_text, seconds_text, size_text

KAFKA_SECONDS = SECONDS
"""The longest wait for one answer of the brokers."""
_CLIENT_PART = 0.8
"""Of that, what the client gets: it can say more about what is wrong than the clock."""
_NO_SUCH_ID = 2**31 - 1


def check_topics_of(settings: BridgeSettings) -> Generator[Check, None, dict[str, TopicDescription] | None]:
    """The broker answers and has the subscribed topics; returns them, or None when they are not known."""
    try:
        admin = Admin(kafka_config(settings), timeout=KAFKA_SECONDS * _CLIENT_PART)
        names = patiently("kafka", admin.topic_names, seconds=KAFKA_SECONDS)
    except BridgeError as error:
        yield failed("kafka", error)
        return None
    yield ok("kafka", f"{settings.kafka.bootstrap_servers} answers and shows {count_text(len(names), 'topic')}")
    letters = yield from _check_dead_letters(settings, admin, names)
    try:
        present, missing = patiently(
            "topics", lambda: describe_present(admin, subscription(settings)), seconds=KAFKA_SECONDS
        )
    except BridgeError as error:
        yield failed("topics", error)
        return None
    if missing is not None:
        yield failed("topics", missing)
    elif not present:
        yield warning(
            "topics",
            f"no topic matches the pattern {settings.kafka.pattern}",
            "correct kafka.pattern, or start the connector; topics that appear later are picked up",
        )
    for name, topic in present.items():
        yield check_topic(name, topic, settings.kafka.longest_outage)
        yield from check_replicas(name, topic)
    if letters is not None:
        yield from check_letters_kept(settings.dead_letter_topic, letters, present)
    return present


def look_again(settings: BridgeSettings) -> Generator[Check, None, dict[str, TopicDescription] | None]:
    """The subscribed topics as they are by now; says nothing of those that can still be described, or are not there."""
    try:
        admin = Admin(kafka_config(settings), timeout=KAFKA_SECONDS * _CLIENT_PART)
        return patiently("topics", lambda: describe_present(admin, subscription(settings))[0], seconds=KAFKA_SECONDS)
    except BridgeError as error:
        yield failed("topics", error)
        return None


def check_topic(name: str, topic: TopicDescription, outage: timedelta) -> Check:
    """How long a topic keeps its records, and whether it keeps all of them.

    Args:
        outage: the longest that nothing may land.
    """
    subject = f"topic {name}"
    held = sum(end - start for start, end in topic.partitions.values())
    detail = f"{count_text(len(topic.partitions), 'partition')}, {count_text(held, 'offset')}"
    if topic.cleanup_policy is not None and "compact" in topic.cleanup_policy:
        return warning(
            subject,
            f"{detail}; cleanup.policy is {topic.cleanup_policy}: compaction removes events that are not landed yet",
            "set cleanup.policy to delete: the newest state of each row would land, but its history is lost",
        )
    if topic.retention_ms is None:
        return warning(
            subject,
            f"{detail}; this user may not see how long it keeps records",
            "make sure that retention is longer than the longest outage, or grant DESCRIBE_CONFIGS on the topic",
        )
    if 0 <= topic.retention_ms < outage / timedelta(milliseconds=1):
        return warning(
            subject,
            f"{detail}; it keeps records for {seconds_text(topic.retention_ms / 1000)} only, and an outage may last "
            f"{seconds_text(outage.total_seconds())}",
            "give it a longer retention.ms than the longest outage, for what is removed before it landed is lost; or "
            "say in kafka.longest_outage how long that is",
        )
    if topic.retention_bytes is not None and topic.retention_bytes >= 0:
        return warning(
            subject,
            f"{detail}; it keeps {size_text(topic.retention_bytes)} per partition at most, however young they are",
            "set retention.bytes to -1, and let retention.ms alone decide: a burst could remove what has not landed",
        )
    keeps = "for ever" if topic.retention_ms < 0 else f"for {seconds_text(topic.retention_ms / 1000)}"
    return ok(subject, f"{detail}; keeps records {keeps}")


def check_replicas(name: str, topic: TopicDescription) -> Iterator[Check]:
    """What lets a topic lose records that it has acknowledged; nothing where none is known to."""
    subject = f"replicas of {name}"
    if topic.unclean_leader_election:
        yield warning(
            subject,
            "unclean.leader.election.enable is true: a replica may lead that lacks records which have landed",
            "set it to false for the topic: the job stops where such a leader is noticed, and its tables need a new "
            "beginning",
        )
    if topic.replicas > 1 and topic.min_insync_replicas == 1:
        yield warning(
            subject,
            f"min.insync.replicas is 1 of {topic.replicas}: a record counts as written that one broker alone holds, "
            "and is lost with it",
            "set min.insync.replicas to 2, and let the connector's producer wait for it (acks=all, which is Kafka "
            "Connect's default)",
        )


def check_letters_kept(
    name: str, letters: TopicDescription, present: Mapping[str, TopicDescription]
) -> Iterator[Check]:
    """Letters that go before their records could not be replayed although everything else is still there."""
    kept = letters.retention_ms
    longest = max(
        (_forever(topic.retention_ms) for topic in present.values() if topic.retention_ms is not None), default=0.0
    )
    if kept is None or _forever(kept) >= longest:
        return
    whole = "for ever" if longest == inf else f"for {seconds_text(longest / 1000)}"
    yield warning(
        "dead letters",
        f"{name} keeps letters for {seconds_text(kept / 1000)} only, and the topics keep records {whole}",
        "set its retention.ms to -1, or at least to that of the topics: a letter that is gone cannot be replayed",
    )


def check_registry(config: RegistryConfig | None) -> Iterator[Check]:
    """The registry answers: asked for a schema that nobody has, it says so."""
    if config is None:
        yield ok("registry", "none in the settings; Avro records could not be read")
        return
    try:
        patiently("registry", lambda: Registry(config).avro_schema(_NO_SUCH_ID, SchemaIdKind.CONFLUENT))
    except UnknownSchemaError:
        pass
    except BridgeError as error:
        yield failed("registry", error)
        return
    yield ok("registry", f"{config.url} answers")


def _forever(retention_ms: int) -> float:
    return inf if retention_ms < 0 else float(retention_ms)


def _check_dead_letters(
    settings: BridgeSettings, admin: Admin, names: list[str]
) -> Generator[Check, None, TopicDescription | None]:
    """Returns the topic where it can be used."""
    topic = settings.dead_letter_topic
    if settings.tables.on_bad_record is OnBadRecord.FAIL:
        yield ok("dead letters", "not used: a record that cannot be decoded stops the job (on_bad_record: fail)")
        return None
    if topic not in names:
        yield ok("dead letters", f"{topic} does not exist yet; the first run creates it if this user may")
        return None
    try:
        found: Mapping[str, TopicDescription] = patiently(
            "dead letters", lambda: describe_topics(admin, [topic]), seconds=KAFKA_SECONDS
        )
    except BridgeError as error:
        yield failed("dead letters", error)
        return None
    if found[topic].cleanup_policy not in (None, "delete"):
        yield problem(
            "dead letters",
            f"{topic} has cleanup.policy {found[topic].cleanup_policy}: letters could vanish",
            "set its cleanup.policy to delete",
        )
        return None
    held = sum(end - start for start, end in found[topic].partitions.values())
    yield ok("dead letters", f"{topic} holds {count_text(held, 'letter')}")
    return found[topic]
