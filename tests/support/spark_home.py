"""Where the executors of ``local-cluster`` work: in Spark's own folder, so each run gets one of its own."""

from __future__ import annotations

from pathlib import Path

import pyspark

AUTHENTICATED = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.network.crypto.authEngineVersion": "2",
    "spark.network.crypto.cipher": "AES/GCM/NoPadding",
    "spark.network.crypto.saslFallback": "false",
}
"""What the chart asks for with executors: they and the driver share a secret, and all that they say is encrypted."""


def local_cluster_environment(folder: Path) -> dict[str, str]:
    """Variables of a driver with executors in processes of their own on this machine.

    Args:
        folder: becomes Spark's folder, of links to the installed one; executors work in ``work`` below it.
    """
    folder.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (folder / part.name).symlink_to(part)
    return {"SPARK_HOME": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}
