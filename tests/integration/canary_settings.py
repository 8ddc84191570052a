"""Settings of a bridge with a canary in every place that takes a secret."""

from __future__ import annotations

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
    [status, spark_ui] = free_ports(2)
    return settings_text(
        **{
            "kafka__bootstrap_servers": broker.bootstrap_servers,
            "kafka__topics": None,
            "kafka__pattern": rf"{cluster.prefix}\..*",
            "kafka__security": login(private, authority, "kafka password"),
            "registry": {"url": refusing, "username": "bridge"},
            "landing_zone__url": f"file://{folder}/zone",
            "dead_letters__topic": f"{cluster.prefix}-dead-letters",
            "http__port": status,
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
            "spark__master": "local[2]",
            "spark__ui": True,
            "spark__conf": {
                **QUICK_START,
                "spark.ui.port": str(spark_ui),
                "spark.eventLog.enabled": "true",
                "spark.eventLog.dir": f"file://{folder}/events",
                "spark.eventLog.compress": "false",
                "spark.hadoop.fs.azure.account.key": canary("spark property"),
            },
            **debezium.settings,
            **changes,
        }
    )


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
