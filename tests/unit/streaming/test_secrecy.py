"""Hashed and encrypted columns: deterministic, the same for equal values, and shown nowhere."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
from decimal import Decimal

import pyarrow as pa
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from streaming.landing.shaping.secrecy import Secrecy, encrypted, hashed, secret_digest

SALT = "a salt of sixteen or more"
KEY = "a key of sixteen or more"


def test_a_hash_is_sha_256_of_salt_and_value() -> None:
    column = pa.array(["ada", None, "ada", ""])
    expected = [hashlib.sha256((SALT + value).encode()).hexdigest() for value in ("ada", "")]
    assert hashed(column, SALT).to_pylist() == [expected[0], None, expected[0], expected[1]]


def test_equal_values_of_different_types_hash_alike() -> None:
    def only(column: pa.Array) -> str:
        (value,) = hashed(column, SALT).to_pylist()
        return str(value)

    assert only(pa.array([7], pa.int16())) == only(pa.array([7], pa.int64())) == only(pa.array(["7"]))
    narrow, wide = pa.array([Decimal("1.50")], pa.decimal128(5, 2)), pa.array([Decimal("1.5")], pa.decimal128(9, 4))
    assert only(narrow) == only(wide) == only(pa.array(["1.5"]))
    assert only(pa.array([Decimal("100.00")], pa.decimal128(5, 2))) == only(pa.array([100]))
    assert only(pa.array([Decimal(100)], pa.decimal128(5, 0))) == only(pa.array([100]))
    assert only(pa.array([b"\xff"])) == hashlib.sha256(SALT.encode() + b"\xff").hexdigest()
    assert only(pa.array([dt.date(2020, 1, 2)])) == only(pa.array(["2020-01-02"]))


def decrypt(text: str, secret: str) -> str:
    """The recipe of the documents."""
    derived = HKDF(algorithm=hashes.SHA512(), length=64, salt=None, info=b"cdc-bridge column encryption")
    return AESSIV(derived.derive(secret.encode())).decrypt(base64.b64decode(text), None).decode()


def test_what_is_encrypted_can_be_decrypted_by_the_recipe() -> None:
    column = encrypted(pa.array(["ada", None, "ada", "", "ж"]), KEY).to_pylist()
    assert [value and decrypt(value, KEY) for value in column] == ["ada", None, "ada", "", "ж"]
    assert column[0] == column[2]
    assert encrypted(pa.array([7], pa.int32()), KEY) == encrypted(pa.array([7], pa.int64()), KEY)


def test_another_secret_gives_other_texts_and_another_digest() -> None:
    column = pa.array(["ada"])
    assert hashed(column, SALT) != hashed(column, SALT + "x")
    assert encrypted(column, KEY) != encrypted(column, KEY + "x")
    assert secret_digest(SALT) != secret_digest(SALT + "x")
    assert secret_digest(None) == ""


def test_secrets_are_shown_nowhere() -> None:
    secrecy = Secrecy.of(SALT, KEY)
    assert SALT not in repr(secrecy)
    assert KEY not in repr(secrecy)
    assert len(secrecy.salt_digest) == len(secrecy.key_digest) == 8
