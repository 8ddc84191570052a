"""The embedded broker: a real Kafka that starts, keeps its data, and never outlives the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from connectors.kafka.embedded_broker import MAX_MESSAGE_BYTES, EmbeddedBroker
from connectors.kafka.errors import BrokerStartError
from connectors.kafka.loopback import accepts
from tests.support.bridge import QUICK_BROKER, QUICK_JAVA

pytestmark = pytest.mark.kafka

STARTS_A_BROKER = """
import sys
from pathlib import Path
from connectors.kafka.embedded_broker import EmbeddedBroker
broker = EmbeddedBroker(Path(sys.argv[2]), [Path(jar) for jar in sys.argv[3:]], jvm_options=[sys.argv[1]])
broker.start()
print(broker.pid, broker.port, flush=True)
sys.stdin.read()
"""


def quick_broker(folder: Path, jars: list[Path], **options: Any) -> EmbeddedBroker:
    return EmbeddedBroker(folder, jars, jvm_options=QUICK_BROKER, **options)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path]) -> Iterator[EmbeddedBroker]:
    with quick_broker(tmp_path_factory.mktemp("own-broker"), broker_jars) as started:
        yield started


def create_topic(broker: EmbeddedBroker, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(30)


def produce(broker: EmbeddedBroker, topic: str, *values: bytes) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "message.max.bytes": MAX_MESSAGE_BYTES})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


def values_of(broker: EmbeddedBroker, topic: str, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "test"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        return [bytes(message.value() or b"") for message in consumer.consume(count, timeout=30)]
    finally:
        consumer.close()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid: int, seconds: float = 120.0) -> bool:
    deadline = time.monotonic() + seconds
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def test_records_of_up_to_ten_megabytes_go_through(broker: EmbeddedBroker) -> None:
    create_topic(broker, "large")
    large = os.urandom(MAX_MESSAGE_BYTES - 1024)

    produce(broker, "large", large)

    assert values_of(broker, "large", 1) == [large]


def test_transactions_commit_and_abort(broker: EmbeddedBroker) -> None:
    create_topic(broker, "transactional")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "test"})
    producer.init_transactions(30)
    for value, commit in ((b"kept", True), (b"dropped", False), (b"kept too", True)):
        producer.begin_transaction()
        producer.produce("transactional", value)
        if commit:
            producer.commit_transaction(30)
        else:
            producer.flush(30)
            producer.abort_transaction(30)

    assert values_of(broker, "transactional", 2) == [b"kept", b"kept too"]


def test_topics_are_not_created_by_reading_or_writing(broker: EmbeddedBroker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "message.timeout.ms": 2000})
    failures: list[str] = []
    producer.produce("nobody-made-it", b"1", on_delivery=lambda error, _: failures.append(error.name()))
    producer.flush(30)

    assert failures in (["_UNKNOWN_TOPIC"], ["UNKNOWN_TOPIC_OR_PART"], ["_MSG_TIMED_OUT"])
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    assert "nobody-made-it" not in admin.list_topics(timeout=10).topics


def test_a_restart_keeps_ports_and_records(broker: EmbeddedBroker) -> None:
    create_topic(broker, "kept")
    produce(broker, "kept", b"before the stop")
    before = broker.bootstrap_servers

    broker.restart()

    assert broker.bootstrap_servers == before
    assert values_of(broker, "kept", 1) == [b"before the stop"]


def test_records_survive_a_crash_of_the_broker(broker: EmbeddedBroker) -> None:
    create_topic(broker, "crashed")
    produce(broker, "crashed", b"before the crash")

    broker.kill()
    broker.start()

    assert values_of(broker, "crashed", 1) == [b"before the crash"]


def test_a_broker_of_another_start_leaves_its_process_and_port_free_after_stop(
    tmp_path: Path, broker_jars: list[Path]
) -> None:
    broker = quick_broker(tmp_path, broker_jars)
    broker.start()
    pid = broker.pid
    assert pid is not None
    broker.start()  # runs already
    assert broker.pid == pid

    broker.stop()
    broker.stop()

    assert broker.pid is None
    assert not is_running(pid)
    assert not accepts(broker.port)


def test_the_broker_does_not_outlive_a_killed_parent(tmp_path: Path, broker_jars: list[Path]) -> None:
    command = [sys.executable, "-c", STARTS_A_BROKER, QUICK_JAVA, str(tmp_path), *map(str, broker_jars)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, port = map(int, parent.stdout.readline().split())
        assert accepts(port)
        parent.send_signal(signal.SIGKILL)

    assert wait_until_gone(pid)


def test_a_failed_start_shows_the_end_of_the_log(tmp_path: Path, broker_jars: list[Path]) -> None:
    broker = quick_broker(tmp_path, broker_jars, properties={"log.cleaner.threads": "many"})

    with pytest.raises(
        BrokerStartError, match=r"(?s)did not start: .*log\.cleaner\.threads.*Remedy: read the log"
    ) as raised:
        broker.start()

    assert raised.value.facts == {"log": broker.log_file, "port": broker.port}
    assert broker.pid is None


def test_a_broker_that_ends_at_once_is_not_waited_for(tmp_path: Path, broker_jars: list[Path]) -> None:
    with quick_broker(tmp_path, broker_jars):
        pass
    again = quick_broker(tmp_path, broker_jars, properties={"node.id": "2"})

    with pytest.raises(BrokerStartError, match=r"did not start: it ended with code 1\. The end of its log"):
        again.start()


def test_a_broker_that_does_not_answer_is_ended(tmp_path: Path, broker_jars: list[Path]) -> None:
    broker = quick_broker(tmp_path, broker_jars, start_timeout=0.0)

    with pytest.raises(BrokerStartError, match="it did not answer within 0 s"):
        broker.start()

    assert broker.pid is None
    with pytest.raises(KafkaException):
        AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0}).list_topics(timeout=0.2)
