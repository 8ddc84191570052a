"""Login lines of the Java client: ``sasl.jaas.config`` (Kafka documentation, "JAAS configuration for clients").

Values are quoted strings read by a tokenizer that takes a backslash for an escape and ends a string at a line break.
"""

from __future__ import annotations

_PACKAGE = "org.apache.kafka.common.security"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def plain_login(username: str, password: str) -> str:
    """For the mechanism PLAIN."""
    return _login("plain.PlainLoginModule", {"username": username, "password": password})


def scram_login(username: str, password: str) -> str:
    """For SCRAM-SHA-256 and SCRAM-SHA-512."""
    return _login("scram.ScramLoginModule", {"username": username, "password": password})


def oauth_login(
    client_id: str, client_secret: str, scope: str | None, extensions: str | None, ca_file: str | None
) -> str:
    """For OAUTHBEARER with client credentials; ``extensions`` as ``name=value,name=value``.

    Args:
        ca_file: whom the token endpoint is believed for; Java takes it from the login, not from the client's options.
    """
    entries = {"clientId": client_id, "clientSecret": client_secret}
    if scope is not None:
        entries["scope"] = scope
    for extension in (extensions or "").split(","):
        name, separator, value = extension.partition("=")
        if separator:
            entries[f"extension_{name.strip()}"] = value
    if ca_file is not None:
        entries |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": ca_file}
    return _login("oauthbearer.OAuthBearerLoginModule", entries)


def quoted(value: str) -> str:
    """A value as a quoted string of a JAAS file."""
    return f'"{value.translate(_ESCAPES)}"'


def _login(module: str, entries: dict[str, str]) -> str:
    settings = " ".join(f"{name}={quoted(value)}" for name, value in entries.items())
    return f"{_PACKAGE}.{module} required {settings};"
