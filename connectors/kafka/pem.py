"""PEM files of mutual TLS, as text for the Java client.

Java's PEM reader takes private keys as PKCS#8 only (KIP-651); librdkafka takes the older forms too, so such a file
would work for one of the two clients alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from connectors.kafka.errors import ClientOptionsError

_BLOCK = re.compile(r"-----BEGIN (?P<kind>[A-Z0-9 ]+)-----.*?-----END (?P=kind)-----", re.DOTALL)
_PKCS8 = ("PRIVATE KEY", "ENCRYPTED PRIVATE KEY")


def certificate_text(path: str) -> str:
    """Every certificate of the file, in its order.

    Raises:
        ClientOptionsError: the file cannot be read or holds none.
    """
    return "\n".join(_blocks(path, ("CERTIFICATE",), "certificate", "name the client's certificate in PEM form"))


def private_key_text(path: str, password: str | None = None) -> str:
    """The private key of the file, without encryption.

    Args:
        password: what the file's key is encrypted with.

    Raises:
        ClientOptionsError: the file cannot be read, holds no key, or holds one that is not in PKCS#8 form or that the
            password does not open.
    """
    remedy = f"convert it: openssl pkcs8 -topk8 -in {path} -out key.pem (with -nocrypt for one without a password)"
    return opened(_blocks(path, _PKCS8, "private key in PKCS#8 form", remedy)[0], password, file=path)


def opened(key: str, password: str | None, *, file: str | None = None) -> str:
    """The key's text without encryption: Java before 19 does not know the encryption that openssl uses (PBES2).

    Raises:
        ClientOptionsError: the key is encrypted, and not with this password.
    """
    if "ENCRYPTED" not in key.partition("\n")[0]:
        return key
    try:
        found = load_pem_private_key(key.encode(), None if password is None else password.encode())
    except (TypeError, ValueError, UnsupportedAlgorithm):
        raise ClientOptionsError(
            "the private key of the Kafka client cannot be decrypted with this password",
            remedy="check key_password (or its file) and key_file under kafka.security",
            file=file,
        ) from None
    return found.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode().strip()


def _blocks(path: str, kinds: tuple[str, ...], what: str, remedy: str) -> list[str]:
    try:
        # What is around the blocks may be text in any encoding.
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise ClientOptionsError(
            f"a PEM file of the Kafka client cannot be read: {problem.strerror}",
            remedy="check the path in the settings and the file's permissions",
            file=path,
        ) from problem
    found = [match[0] for match in _BLOCK.finditer(text) if match["kind"] in kinds]
    if not found:
        held = sorted({match["kind"] for match in _BLOCK.finditer(text)})
        raise ClientOptionsError(
            f"a PEM file of the Kafka client holds no {what}; it holds: {', '.join(held) or 'nothing in PEM form'}",
            remedy=remedy,
            file=path,
        )
    return found
