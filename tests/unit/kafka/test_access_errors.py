"""A refused certificate is a matter of access, whichever error code librdkafka gives it."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from connectors.kafka.clients import Connection
from connectors.kafka.config import KafkaConfig, OAuth, SaslMechanism, Security, SecurityProtocol
from connectors.kafka.errors import BrokerUnavailableError, KafkaAccessError
from connectors.kafka.loopback import free_ports
from connectors.kafka.reading.problems import Patience
from connectors.kafka.reading.ranges import PartitionRange
from connectors.kafka.topics import Admin


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


def test_a_refusal_before_records_came_is_not_the_reason_of_a_later_silence() -> None:
    connection = Connection(KafkaConfig("127.0.0.1:9093"))
    patience = Patience(connection, PartitionRange("orders", 0, 0, 10), 60)
    connection.tell(KafkaError(KafkaError._AUTHENTICATION, "refused while the broker started"))

    patience.renew()

    assert isinstance(connection.failure(TimeoutError(), "reading records"), BrokerUnavailableError)


def test_a_broker_that_does_not_answer_is_no_matter_of_access() -> None:
    problem = KafkaException(KafkaError(KafkaError._TRANSPORT, "Connection refused"))
    error = Connection(KafkaConfig("127.0.0.1:9093")).failure(problem, "listing topics")
    assert isinstance(error, BrokerUnavailableError)


@pytest.mark.parametrize(
    "why",
    [
        "Could not resolve host: login.example.com",
        "Failed to connect to 127.0.0.1:53685 after 0 ms: Could not connect to server",
        "Recv failure: Connection reset by peer",
        "Operation timed out after 20004 milliseconds with 0 bytes received",
    ],
)
def test_a_host_of_tokens_that_does_not_answer_is_no_matter_of_access(why: str) -> None:
    told = KafkaError(KafkaError._AUTHENTICATION, f"Failed to acquire SASL OAUTHBEARER token: {why}")
    error = Connection(KafkaConfig("127.0.0.1:9093")).failure(KafkaException(told), "listing topics")
    assert isinstance(error, BrokerUnavailableError)
    assert error.message == (
        f"nobody gave a token for Kafka while listing topics: Failed to acquire SASL OAUTHBEARER token: {why}"
    )
    assert error.remedy == (
        "check that kafka.security.oauth.token_url is right, and that its host can be reached from here: name, "
        "network, proxy"
    )


@pytest.mark.parametrize(
    "why",
    [
        '{"error":"invalid_client","error_description":"the secret is wrong"}',
        '{"error":"invalid_grant","error_description":"the session timed out"}',
        'Expected JSON response with "access_token" field',
    ],
)
def test_a_host_of_tokens_that_gives_none_is_a_matter_of_access(why: str) -> None:
    told = KafkaError(KafkaError._AUTHENTICATION, f"Failed to acquire SASL OAUTHBEARER token: {why}")
    error = Connection(KafkaConfig("127.0.0.1:9093")).failure(KafkaException(told), "listing topics")
    assert isinstance(error, KafkaAccessError)
    assert why in error.message


def test_the_client_itself_tells_that_the_host_of_tokens_does_not_answer() -> None:
    tokens, broker = free_ports(2)
    oauth = OAuth(f"http://127.0.0.1:{tokens}/token", "bridge", "secret")
    security = Security(SecurityProtocol.SASL_PLAINTEXT, SaslMechanism.OAUTHBEARER, oauth=oauth)
    admin = Admin(KafkaConfig(f"127.0.0.1:{broker}", security), timeout=0.2)

    def told() -> str:
        with pytest.raises(BrokerUnavailableError) as raised:
            admin.topic_names()
        return raised.value.message

    # The client asks for a token in a thread of its own.
    assert any("nobody gave a token for Kafka while listing topics" in told() for _ in range(50))


def test_a_fatal_error_that_the_client_loses_is_one_of_the_client() -> None:
    def loses_it(seconds: float) -> int:
        raise SystemError("returned NULL without setting an exception")

    with pytest.raises(KafkaException, match="does not say why"):
        Connection(KafkaConfig("127.0.0.1:1")).served(loses_it, 1.0)
