"""A refused certificate is a matter of access, whichever error code librdkafka gives it."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError, KafkaAccessError


@pytest.mark.parametrize(
    "said",
    [
        "sasl_ssl://127.0.0.1:9093/bootstrap: error:0A000086:SSL routines::certificate verify failed",
        "ssl://127.0.0.1:9093/bootstrap: ssl/tls alert certificate required",
    ],
)
def test_a_refused_certificate_told_as_a_transport_failure_is_a_matter_of_access(said: str) -> None:
    problem = KafkaException(KafkaError(KafkaError._TRANSPORT, said))
    error = Connection(KafkaConfig("127.0.0.1:9093")).failure(problem, "listing topics")
    assert isinstance(error, KafkaAccessError)
    assert said in error.message


def test_a_broker_that_does_not_answer_is_no_matter_of_access() -> None:
    problem = KafkaException(KafkaError(KafkaError._TRANSPORT, "Connection refused"))
    error = Connection(KafkaConfig("127.0.0.1:9093")).failure(problem, "listing topics")
    assert isinstance(error, BrokerUnavailableError)
