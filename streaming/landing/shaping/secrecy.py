"""Columns that land hashed or encrypted, the same value always as the same text.

Both are deterministic, since a file must be a pure function of its events and a key must find its row again. So who
sees the mirror sees which values are equal, and how often each occurs. A hash can be guessed from a known set of values
by whoever has the salt; without it, it cannot be told from chance.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from connectors.debezium.converted import Column
from connectors.landing_zone.canonical_text import canonical_text

KEY_INFO = b"cdc-bridge column encryption"
_KEY_BYTES = 64


@dataclass(frozen=True)
class Secrecy:
    """The secrets of hashed and encrypted columns. Travels to executors with the job's options, shown nowhere.

    Attributes:
        salt: of hashes.
        key: what the encryption key is derived from.
        salt_digest, key_digest: eight hexadecimal digits of each, slow to guess from; they tell that a secret changed.
    """

    salt: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    salt_digest: str = ""
    key_digest: str = ""

    @staticmethod
    def of(salt: str | None, key: str | None) -> Secrecy:
        """The secrets with their digests; takes some 50 ms for each."""
        return Secrecy(salt, key, secret_digest(salt), secret_digest(key))


def secret_digest(secret: str | None) -> str:
    """Eight hexadecimal digits that change with the secret, by scrypt: each guess costs time and 16 MiB."""
    if secret is None:
        return ""
    return hashlib.scrypt(secret.encode(), salt=b"cdc-bridge", n=1 << 14, r=8, p=1, dklen=4).hex()


def hashed(column: Column, salt: str) -> pa.StringArray:
    """SHA-256 of the salt's UTF-8 and the value's :func:`identities_of`: 64 hexadecimal digits."""
    salted = hashlib.sha256(salt.encode())

    def digest(value: bytes) -> str:
        each = salted.copy()
        each.update(value)
        return each.hexdigest()

    return _each_value_once(identities_of(column), digest)


def encrypted(column: Column, key: str) -> pa.StringArray:
    """Base64 of AES-SIV (RFC 5297, AES-256, no associated data) of :func:`identities_of`; 16 bytes of IV lead."""
    cipher = AESSIV(encryption_key(key))
    return _each_value_once(identities_of(column), lambda value: base64.b64encode(cipher.encrypt(value, None)).decode())


def encryption_key(secret: str) -> bytes:
    """64 bytes for AES-SIV: HKDF-SHA-512 of the secret's UTF-8, without salt, with :data:`KEY_INFO`."""
    return HKDF(algorithm=hashes.SHA512(), length=_KEY_BYTES, salt=None, info=KEY_INFO).derive(secret.encode())


def identities_of(column: Column) -> pa.BinaryArray:
    """Bytes that are equal where values are: UTF-8 of the canonical text, of a decimal without zeros at its end.

    So an integer column that becomes a wider one, or a decimal column with more places, keeps its identities. Bytes are
    themselves.
    """
    if pa.types.is_binary(column.type):
        return column
    texts = canonical_text(column)
    if pa.types.is_decimal(column.type) and column.type.scale > 0:
        trimmed = pc.replace_substring_regex(texts, pattern=r"(\.\d*?)0+$", replacement=r"\1")
        texts = pc.replace_substring_regex(trimmed, pattern=r"\.$", replacement="")
    return texts.cast(pa.binary())


def _each_value_once(values: pa.BinaryArray, change: Callable[[bytes], str]) -> pa.StringArray:
    encoded = values.dictionary_encode()
    changed = pa.array([change(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return changed.take(encoded.indices)
