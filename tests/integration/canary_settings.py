"""Settings of a bridge with a canary in every place that takes a secret."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.loopback import free_ports
from tests.support.authority import Authority
from tests.support.bridge import QUICK_START
from tests.support.canaries import canary
from tests.support.cluster import Cluster
from tests.support.played_debezium import PlayedDebezium
from tests.unit.streaming.settings_builder import settings_text

LOGIN = "org.apache.kafka.common.security"


def planted(
    folder: Path,
    private: Path,
    broker: EmbeddedBroker,
    authority: Authority,
    cluster: Cluster,
    refusing: str,
    database: int,
    debezium: PlayedDebezium,
    **changes: Any,
) -> str:
    """Settings with a secret everywhere: some in place, some in files, one in the environment."""
    return settings_text(
        **{
            "kafka__bootstrap_servers": broker.bootstrap_servers,
            "kafka__topics": None,
            "kafka__pattern": rf"{cluster.prefix}\..*",
            "kafka__security": login(private, authority, "kafka password"),
            "registry": {"url": refusing, "username": "bridge"},
            "landing_zone__url": f"file://{folder}/zone",
            "dead_letters__topic": f"{cluster.prefix}-dead-letters",
            # The job that a wrong password ends need not be seen for longer: everything has been looked at by then.
            "http__linger": "1s",
            "trigger__interval": "100ms",
            "retry__attempts": 0,
            "tables__secrecy": {
                "salt": canary("salt of hashes"),
                "key_file": secret_file(private, "encryption key"),
            },
            "tables__overrides": [{"match": "*", "columns": {"hash": ["name"], "encrypt": ["note"]}}],
            "source": {
                "connect": {
                    "url": refusing,
                    "connector": "shop",
                    "username": "bridge",
                    "password": canary("connect password"),
                },
                "database": {
                    "url": f"postgresql://reader@127.0.0.1:{database}/shop",
                    "password_file": secret_file(private, "database password"),
                },
            },
            "lineage": {"url": refusing, "api_key": canary("lineage key")},
            **looked_at(folder, {"spark.hadoop.fs.azure.account.key": canary("spark property")}),
            **debezium.settings,
            **changes,
        }
    )


def looked_at(folder: Path, properties: Mapping[str, str]) -> dict[str, Any]:
    """Of a bridge that shows and tells all that it can: in its log, on pages, and in Spark's event log.

    Args:
        folder: of the event log ``events``.
        properties: of Spark, beside those that this takes.
    """
    [status, spark_ui] = free_ports(2)
    return {
        "log": {"level": "debug"},
        "http__port": status,
        "spark__master": "local[2]",
        "spark__ui": True,
        "spark__conf": {
            **QUICK_START,
            "spark.ui.port": str(spark_ui),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{folder}/events",
            "spark.eventLog.compress": "false",
            **properties,
        },
    }


def demanded(authority: Authority, users: Mapping[str, str]) -> dict[str, str]:
    """Properties of a broker that demands a certificate, and the password of one of its users."""
    prefix = "listener.name.client."
    quoted = {user: password.replace("\\", "\\\\").replace('"', '\\"') for user, password in users.items()}
    # For JAAS, and then for a file of Java properties.
    known = " ".join(f'user_{user}="{password}"' for user, password in quoted.items()).replace("\\", "\\\\")
    return {
        "listener.security.protocol.map": "CLIENT:SASL_SSL,PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT",
        f"{prefix}sasl.enabled.mechanisms": "PLAIN",
        f"{prefix}plain.sasl.jaas.config": f"{LOGIN}.plain.PlainLoginModule required {known};",
        f"{prefix}ssl.keystore.type": "PEM",
        f"{prefix}ssl.keystore.location": str(authority.issue("broker").both),
        f"{prefix}ssl.truststore.type": "PEM",
        f"{prefix}ssl.truststore.location": str(authority.certificate),
        f"{prefix}ssl.client.auth": "required",
    }


def login(private: Path, authority: Authority, password: str) -> dict[str, Any]:
    shown = authority.issue("client", password=canary("private key password"))
    return {
        "protocol": "SASL_SSL",
        "mechanism": "PLAIN",
        "username": "bridge",
        "password": canary(password),
        "ca_file": str(authority.certificate),
        "certificate_file": str(shown.certificate),
        "key_file": str(shown.key),
        "key_password_file": secret_file(private, "private key password"),
    }


def key_file(settings: Path) -> Path:
    return Path(yaml.safe_load(settings.read_text())["kafka"]["security"]["key_file"])


def oauth(private: Path, authority: Authority, url: str) -> dict[str, Any]:
    credentials = {
        "token_url": f"{url}/token",
        "client_id": "bridge",
        "client_secret_file": secret_file(private, "oauth client secret"),
    }
    return {
        "protocol": "SASL_SSL",
        "mechanism": "OAUTHBEARER",
        "ca_file": str(authority.certificate),
        "oauth": credentials,
    }


def secret_file(private: Path, name: str) -> str:
    path = private / name.replace(" ", "-")
    path.write_text(f"{canary(name)}\n")
    return str(path)
