"""Login lines of the Java client: ``sasl.jaas.config`` (Kafka documentation, "JAAS configuration for clients").

Values are quoted strings read by a tokenizer that takes a backslash for an escape and ends a string at a line break.
"""

from __future__ import annotations

import re

LOGIN = "sasl.jaas.config"
LOGIN_FORM = (
    'a module, required, options as name="value" and a semicolon; a value stands in double quotes, with a backslash in '
    "front of each quote and backslash of its own"
)
_PACKAGE = "org.apache.kafka.common.security"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
# Each part can be read in one way only, so that a text that is no login is seen to be none at once.
_GAP = r"(?:\s|/\*(?:[^*]|\*(?!/))*\*/|//[^\r\n]*(?:[\r\n]|$))"
_WORD = r"[A-Za-z_$\-\u00a0-\uffff][\w.$\-\u00a0-\uffff]*(?![\w.$\-\u00a0-\uffff])"
_STRING = r'"(?:\\[^\r\n]|[^"\\\r\n])*"|\'(?:\\[^\r\n]|[^\'\\\r\n])*\''
_LOGINS = re.compile(
    rf"(?:{_GAP}*{_WORD}{_GAP}+(?i:required|requisite|sufficient|optional)\b"
    rf"(?:{_GAP}*{_WORD}{_GAP}*={_GAP}*(?:{_WORD}|{_STRING}))*{_GAP}*;)+{_GAP}*"
)


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


def is_login(text: str) -> bool:
    """Whether the Java client can read it: modules with their flags and options, each ended by a semicolon.

    It tells of what it cannot read with the words around, which may be a password's.
    """
    return _LOGINS.fullmatch(text) is not None


def quoted(value: str) -> str:
    """A value as a quoted string of a JAAS file."""
    return f'"{value.translate(_ESCAPES)}"'


def _login(module: str, entries: dict[str, str]) -> str:
    settings = " ".join(f"{name}={quoted(value)}" for name, value in entries.items())
    return f"{_PACKAGE}.{module} required {settings};"
