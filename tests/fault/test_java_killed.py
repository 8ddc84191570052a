"""SIGKILL for Spark's Java alone, as where memory has run out: the bridge ends and says why."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from connectors.landing_zone.numbering import FIRST, file_name
from tests.crash.job_start import SECONDS, Blow, JobStart
from tests.crash.places import local_place
from tests.crash.spark_processes import Victim
from tests.rig.server import until
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


@pytest.mark.usefixtures("spark_jars")
def test_a_bridge_whose_java_is_killed_says_so_and_ends_instead_of_trying_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    orders = Table(cluster.topic("orders"))
    cluster.send(orders.create({"id": 1, "name": "n"}, 1))
    killed = Bridge(
        tmp_path,
        None,
        kafka__bootstrap_servers=cluster.bootstrap_servers,
        kafka__topics=[orders.topic],
        dead_letters__topic=f"{cluster.prefix}-dead-letters",
        retry__attempts=10,
        trigger={"interval": "100ms"},
    )
    (tmp_path / "tmp").mkdir()
    killed.write_settings()
    landed = killed.zone / "public.schema" / "orders" / file_name(FIRST)
    with JobStart(tmp_path, local_place(tmp_path), once=False) as start:
        # Its number it gets after the ledger's version; what a killed process has not got to is the next one's to do.
        until(landed.exists, "the record has landed", seconds=SECONDS)
        assert start.strike(Blow(Victim.JAVA, 2, 0.0), random.Random(1))
        assert start.wait() == 1
        said = " ".join(start.said().replace("│", " ").split())
    assert "Spark's Java has ended, and with it every further attempt of this process" in said
    assert "start the job again, as Kubernetes does by itself: it goes on where the ledger ends" in said
    assert killed.rows() == [{"id": 1, "name": "n"}]
