"""By secret, what shows that the bridge has used it: whom it let in, who was told it, what it made of values."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from streaming.landing.shaping.secrecy import encryption_key
from tests.support.canaries import Evidence, canary


def let_in(found: Evidence) -> bool:
    """Whether the broker has let a client in that showed a certificate and said the right password."""
    return b"version 2:" in found.shown["run: stderr"]


def opens_the_key(found: Evidence) -> bool:
    """Whether it is what opens the key, which the broker wants to be shown."""
    with pytest.raises(TypeError, match="Password was not given"):
        load_pem_private_key(found.private_key, None)
    load_pem_private_key(found.private_key, canary("private key password").encode())
    return let_in(found)


def refused(found: Evidence) -> bool:
    return b"Kafka refuses access" in found.shown["run refused: stderr"] and let_in(found)


def told(found: Evidence, name: str) -> bool:
    basic = base64.b64encode(f"bridge:{canary(name)}".encode()).decode()
    return any(f"Basic {basic}" in each for each in found.told)


def hashed(found: Evidence) -> bool:
    digest = hashlib.sha256(f"{canary('salt of hashes')}a".encode()).hexdigest()
    return [row["name"] for row in found.rows] == [digest]


def encrypted(found: Evidence) -> bool:
    cipher = AESSIV(encryption_key(canary("encryption key")))
    return [cipher.decrypt(base64.b64decode(row["note"]), None) for row in found.rows] == [b"b"]


def has_reached_hadoop(found: Evidence) -> bool:
    """Whether Spark's page of its properties names it, as one that it has and does not show."""
    said = json.loads(found.shown["Spark API environment"])
    return any(name == "fs.azure.account.key" and "redacted" in value for name, value in said["hadoopProperties"])


def inherited(found: Evidence) -> bool:
    """Whether the driver, Java and Python's workers have it in their environments."""
    kinds = (b"-m\0streaming\0run", b"org.apache.spark.deploy.SparkSubmit", b"pyspark.daemon")
    secret = f"AZURE_CLIENT_SECRET={canary('other environment')}".encode()
    return all(any(kind in line and secret in each for line, each in found.environments.items()) for kind in kinds)


USES: Mapping[str, Callable[[Evidence], bool]] = {
    "kafka password": let_in,
    "private key password": opens_the_key,
    "oauth client secret": lambda found: told(found, "oauth client secret"),
    "connect password": lambda found: told(found, "connect password"),
    "database password": lambda found: canary("database password") in found.told,
    "registry password": lambda found: told(found, "registry password"),
    "salt of hashes": hashed,
    "encryption key": encrypted,
    "lineage key": lambda found: any(f"Bearer {canary('lineage key')}" in each for each in found.told),
    "spark property": has_reached_hadoop,
    "other environment": inherited,
    "refused password": refused,
    "misspelt password": lambda found: b"kafka.security.pasword" in found.shown["ledger log {broken}: stderr"],
}
"""By secret."""
