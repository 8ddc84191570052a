"""Making librdkafka clients, and saying in the bridge's words what went wrong with one.

A wrong password or certificate reaches the caller of librdkafka as a time-out; the reason is told only to the error
callback. So each client keeps the last error that it was told of.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from connectors.errors import BridgeError
from connectors.kafka.client_options import confluent_options
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError, ClientOptionsError, KafkaAccessError, KafkaRequestError

CHECK_ACCESS = (
    "check user, password, certificates and mechanism under kafka.security, and the ACLs of this user on the broker"
)
"""What to do where a broker refuses access."""
_LARGEST_ANSWER = 2**31 - 1
"""The most that librdkafka's ``receive.message.max.bytes`` takes: what an answer may have, and what zstd may make of a
batch of records. Nothing is set aside for it; with librdkafka's own 100 MB, one larger record ends all reading."""


class _LibrdkafkaLog:
    """librdkafka's own lines, for debugging only: what matters in them is raised as an error of the bridge."""

    def log(self, _level: int, line: str, *values: object) -> None:
        _log.debug(line, *values)


_log = logging.getLogger(__name__)
_TLS_REFUSALS = ("ssl/tls alert", "certificate verify failed")
_WITHOUT_TOKEN = re.compile(r"Failed to acquire SASL OAUTHBEARER token: (?P<why>.*)", re.DOTALL)
# What curl says where nobody answered; whoever refuses a client says so in JSON (RFC 6749, section 5.2).
_NO_ANSWER = (
    "Could not resolve host",
    "Could not connect",
    "Failed to connect",
    "Connection reset",
    "Empty reply",
    "timed out",
)
_ACCESS = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError._SSL,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SECURITY_DISABLED,
    }
)
NO_LEADER = frozenset(
    {
        KafkaError._NOENT,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.KAFKA_STORAGE_ERROR,
    }
)
"""What is said of a partition whose leader changes, or has only just become it: Kafka's own clients ask again. The
first is what librdkafka says where it knows of no leader."""
_UNAVAILABLE = NO_LEADER | frozenset(
    {
        KafkaError._TIMED_OUT,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._RESOLVE,
        KafkaError._WAIT_COORD,
        KafkaError._RETRY,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_ENOUGH_REPLICAS,
    }
)


class Connection:
    """One client's configuration and the last error that it was told of."""

    def __init__(self, config: KafkaConfig) -> None:
        self.bootstrap_servers = config.bootstrap_servers
        self.options = {"receive.message.max.bytes": str(_LARGEST_ANSWER), **confluent_options(config)}
        self._told: KafkaError | None = None

    def admin(self) -> AdminClient:
        """An admin client; making it does not reach for the network yet, as with the others.

        Raises:
            ClientOptionsError: librdkafka does not take an option, or a file that one names.
        """
        try:
            return AdminClient(self._all({}), logger=_LibrdkafkaLog())
        except (KafkaException, ValueError, TypeError) as problem:
            raise self.unusable(problem) from problem

    def consumer(self, own: dict[str, str | int | bool]) -> Consumer:
        """A consumer with the caller's own options over the configured ones; raises as :meth:`admin`."""
        try:
            return Consumer(self._all(own), logger=_LibrdkafkaLog())
        except (KafkaException, ValueError, TypeError) as problem:
            raise self.unusable(problem) from problem

    def reader(self, group: str, own: Mapping[str, str | int | bool] | None = None) -> Consumer:
        """A consumer of committed records that joins no group, commits nothing and stops at what is not there.

        Args:
            group: a name that the client requires; brokers see it in their logs.
            own: further options of the caller; raises as :meth:`admin`.
        """
        return self.consumer(
            {
                "group.id": group,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "check.crcs": True,
                "fetch.wait.max.ms": 50,
                **(own or {}),
            }
        )

    def producer(self, own: dict[str, str | int | bool]) -> Producer:
        """A producer with the caller's own options over the configured ones; raises as :meth:`admin`."""
        try:
            return Producer(self._all(own), logger=_LibrdkafkaLog())
        except (KafkaException, ValueError, TypeError) as problem:
            raise self.unusable(problem) from problem

    def served(self, serve: Callable[[float], int], seconds: float) -> int:
        """What a producer's ``flush`` or ``poll`` returns.

        Raises:
            KafkaException: the producer cannot go on, as without any right to write.
        """
        try:
            return serve(seconds)
        except SystemError as broken:
            # The client raises what is fatal and hands deliveries over all the same, which Python takes for a defect.
            if isinstance(broken.__cause__, KafkaException):
                raise broken.__cause__ from None
            # Now and then it is lost on the way; a refusal was told to the callback, too.
            refusal = self._told if self._told is not None and _is_access(self._told) else None
            unsaid = KafkaError(KafkaError._FATAL, "the client cannot go on and does not say why")
            raise KafkaException(refusal or unsaid) from broken

    def failure(self, problem: Exception, doing: str, **facts: object) -> BridgeError:
        """The bridge's error for one of librdkafka's.

        Args:
            problem: what was raised: ``KafkaException``, or a ``TimeoutError`` of a future.
            doing: what was tried, as in "describing topics".
        """
        error = _kafka_error(problem)
        told = next((one for one in (error, self._told) if one is not None and _is_access(one)), None)
        where = {"bootstrap_servers": self.bootstrap_servers, **facts}
        if told is not None:
            return KafkaAccessError(
                f"Kafka refuses access while {doing}: {told.str()}",
                remedy=CHECK_ACCESS,
                **where,
            )
        unserved = next((one for one in (error, self._told) if one is not None and _is_unserved(one)), None)
        if unserved is not None:
            return BrokerUnavailableError(
                f"nobody gave a token for Kafka while {doing}: {unserved.str()}",
                remedy="check that kafka.security.oauth.token_url is right, and that its host can be reached from "
                "here: name, network, proxy",
                **where,
            )
        said = self._told.str() if self._told is not None else str(error.str() if error is not None else problem)
        if error is None or error.code() in _UNAVAILABLE or error.retriable():
            return BrokerUnavailableError(
                f"no Kafka broker answered while {doing}: {said or 'no answer in time'}",
                remedy="check that the brokers run, that bootstrap_servers names them, and that a firewall or a wrong "
                "security protocol is not in the way",
                **where,
            )
        return KafkaRequestError(
            f"Kafka refuses the request while {doing}: {error.str()}",
            remedy="read the broker's reason above; its own log says more",
            **where,
        )

    def _all(self, own: dict[str, str | int | bool]) -> dict[str, Any]:
        return {**self.options, **own, "error_cb": self.tell}

    def tell(self, error: KafkaError) -> None:
        """Keep an error that a client was told of: :meth:`failure` gives it as the reason."""
        # "All brokers down" only repeats the reason that was told before it.
        if self._told is None or error.code() != KafkaError._ALL_BROKERS_DOWN:
            self._told = error

    def is_refused(self) -> bool:
        """Whether the last that a client was told of is a broker that refuses it."""
        return self._told is not None and _is_access(self._told)

    def forget(self) -> None:
        """Whatever was told is no reason any more: the client has got what it asked for."""
        self._told = None

    def unusable(self, problem: Exception) -> ClientOptionsError:
        error = _kafka_error(problem)
        return ClientOptionsError(
            f"the Kafka client does not take these settings: {error.str() if error is not None else problem}",
            remedy="correct the option or the file it names under kafka.security or kafka.client",
            bootstrap_servers=self.bootstrap_servers,
        )


def _is_unserved(error: KafkaError) -> bool:
    """Whether the host that gives tokens did not answer; the error's code is that of a refusal all the same."""
    found = _WITHOUT_TOKEN.match(error.str())
    return found is not None and found["why"][:1] != "{" and any(sign in found["why"] for sign in _NO_ANSWER)


def _is_access(error: KafkaError) -> bool:
    if _is_unserved(error):
        return False
    # A refused certificate, the client's by a TLS alert or the broker's here, may come as a transport failure.
    return error.code() in _ACCESS or any(refusal in error.str() for refusal in _TLS_REFUSALS)


def _kafka_error(problem: Exception) -> KafkaError | None:
    first = problem.args[0] if problem.args else None
    return first if isinstance(first, KafkaError) else None
