"""What a schema registry's refusals mean, whichever protocol it speaks."""

from __future__ import annotations

from http import HTTPStatus

from connectors.errors import BridgeError
from connectors.kafka.errors import RegistryAccessError, RegistryUnavailableError

_ACCESS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class AbsentError(Exception):
    """The registry answers, and has nothing under this id."""


def refusal(status: int, said: str, url: str) -> BridgeError | AbsentError:
    """The error for an answer that is no success."""
    if status == HTTPStatus.NOT_FOUND:
        return AbsentError(said)
    if status in _ACCESS:
        return RegistryAccessError(
            f"the schema registry refuses access (HTTP {status}): {said}",
            remedy="check username, password and certificates under registry, and what this user may read",
            url=url,
        )
    return no_answer(f"HTTP {status}: {said}", url)


def no_answer(why: str, url: str) -> RegistryUnavailableError:
    """The error for a registry that cannot be asked now."""
    return RegistryUnavailableError(
        f"the schema registry cannot be asked now ({why})",
        remedy="check that it runs, that registry.url is its address, and registry.ca_file where it uses TLS; "
        "nothing is lost meanwhile, no record is set aside for want of its schema",
        url=url,
    )


def garbled(why: str, url: str) -> RegistryUnavailableError:
    """The error for a success that no registry sends: a proxy's page, a truncated answer."""
    return no_answer(f"its answer is not what a registry answers: {why}", url)


def unusable_file(problem: Exception, url: str) -> RegistryAccessError:
    """The error for certificate files that cannot be loaded."""
    return RegistryAccessError(
        f"the certificate files for the schema registry cannot be used: {problem}",
        remedy="check ca_file, certificate_file and key_file under registry: PEM files that this user may read",
        url=url,
    )
