"""Secrets: written as a value (best through the environment) or as the path of a mounted file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import SecretStr

from streaming.settings.errors import SettingsError
from streaming.settings.section import KeyPath

SECRET = re.compile(
    r"(?i)secret|password|passwd|token|credential|jaas|sasl|ssl.*key|access[.]?key|account[.]?key|sas\b"
)
"""What names of secrets contain: Spark's own pattern, and what Kafka, JAAS and Azure Storage call them."""


def secret_text(value: SecretStr | None, file: Path | None) -> str | None:
    """The secret itself; of a file its content without the line end. ``None`` when neither is set.

    Raises:
        SettingsError: the file can't be read, is not UTF-8, or is empty.
    """
    if value is not None:
        return value.get_secret_value()
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(
            f"The secret in a file can't be read: {reason}",
            remedy="make the file readable for this process, or name another one in the settings",
            file=file,
        ) from None
    if not text:
        raise SettingsError(
            "The file of a secret is empty",
            remedy="write the secret into the file, or name another one in the settings",
            file=file,
        )
    return text


def secret_twice(name: str, value: SecretStr | None, file: Path | None) -> Iterator[tuple[KeyPath, str]]:
    """The rule that a secret is given once: as ``<name>`` or as ``<name>_file``."""
    if value is not None and file is not None:
        yield (f"{name}_file",), f"can't be set together with {name}: keep one of the two"


def user_problems(
    username: str | None, password: SecretStr | None, password_file: Path | None
) -> Iterator[tuple[KeyPath, str]]:
    """The rules of HTTP basic authentication: a user and one password, or neither."""
    yield from secret_twice("password", password, password_file)
    has_password = password is not None or password_file is not None
    if has_password and username is None:
        yield ("username",), "is required: there is a password but no user"
    if username is not None and not has_password:
        yield ("password_file",), "is required (or password): there is a username but no password"
