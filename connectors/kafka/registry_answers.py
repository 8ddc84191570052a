"""What a schema registry's refusals mean, whichever protocol it speaks."""

from __future__ import annotations

from http import HTTPStatus

from connectors.errors import BridgeError
from connectors.kafka.errors import RegistryAccessError, RegistryUnavailableError

_PASSING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)

MOST_REFERENCES = 250
"""Schemas that one may refer to, directly and through others; each of them is a question."""


class AbsentError(Exception):
    """The registry answers, and has nothing under this id that could be read."""


class EndlessError(AbsentError):
    """A schema refers to more others than are asked for, and always will: no schema changes under its id."""


class RefusedError(Exception):
    """The registry answers, and refuses one question: for what was asked, or for who has asked.

    Attributes:
        otherwise: the error where it refuses the others too.
    """

    def __init__(self, said: str, otherwise: BridgeError) -> None:
        super().__init__(said)
        self.otherwise = otherwise


class FailedError(RefusedError):
    """The registry answers, and fails at one question: perhaps it does at all, perhaps not for long."""


def refusal(status: int, said: str, url: str) -> BridgeError | AbsentError | RefusedError:
    """The error for an answer that is no success."""
    if status == HTTPStatus.NOT_FOUND:
        return AbsentError(said)
    if status == HTTPStatus.UNAUTHORIZED:
        return _no_access(status, said, url)
    if status == HTTPStatus.FORBIDDEN:
        return RefusedError(f"HTTP {status}: {said}", _no_access(status, said, url))
    error = no_answer(f"HTTP {status}: {said}", url)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return FailedError(f"HTTP {status}: {said}", error)
    if status in _PASSING or not HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return error
    return RefusedError(f"HTTP {status}: {said}", error)


def _no_access(status: int, said: str, url: str) -> RegistryAccessError:
    return RegistryAccessError(
        f"the schema registry refuses access (HTTP {status}): {said}",
        remedy="check username, password and certificates under registry, and what this user may read",
        url=url,
    )


def no_answer(why: str, url: str) -> RegistryUnavailableError:
    """The error for a registry that cannot be asked now."""
    return RegistryUnavailableError(
        f"the schema registry cannot be asked now ({why})",
        remedy="check that it runs, that registry.url is its address, and registry.ca_file where it uses TLS; "
        "nothing is lost meanwhile, no record is set aside for want of its schema",
        url=url,
    )


def check_references(found: int) -> None:
    """Stop at a schema that is none of a real connector's.

    Raises:
        EndlessError: it refers to another one beyond the ``found``, and that is too much.
    """
    if found >= MOST_REFERENCES:
        raise EndlessError(f"it refers to more than {MOST_REFERENCES} other schemas")


def garbled(why: str, url: str) -> FailedError:
    """The error for a success that no registry sends: a proxy's page, a truncated answer."""
    what = f"its answer is not what a registry answers: {why}"
    return FailedError(what, no_answer(what, url))


def unusable_file(problem: Exception, url: str) -> RegistryAccessError:
    """The error for certificate files that cannot be loaded."""
    return RegistryAccessError(
        f"the certificate files for the schema registry cannot be used: {problem}",
        remedy="check ca_file, certificate_file and key_file under registry: PEM files that this user may read",
        url=url,
    )
