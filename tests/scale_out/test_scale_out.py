"""The same job wherever its tasks run: on this machine, on other processes, on nodes that share nothing and die.

A driver of its own each time, real Kafka, several tables, some of them over several partitions, several micro-batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.vacuum import vacuum
from streaming.demo.workload import Workload
from tests.emulators.dfs_protocol import Operation
from tests.emulators.dfs_server import TOKEN, DfsServer
from tests.emulators.identity_server import IdentityServer
from tests.scale_out.disturbances import Disturbance, Disturbances, node_of, staged_name, stages
from tests.scale_out.shop import Outcome, Shop, shop_settings, zone_files
from tests.scale_out.standalone import OWN_PACKAGES, WORKERS, StandaloneCluster, standalone_cluster
from tests.support.bridge import QUICK_EXECUTORS, QUICK_START
from tests.support.cluster import Cluster
from tests.support.shop import registering, send_workload
from tests.support.spark_home import AUTHENTICATED, local_cluster_environment

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BATCHES = 4


@pytest.fixture(scope="module")
def workload() -> Iterator[tuple[Workload, EmbeddedRegistry]]:
    with EmbeddedRegistry() as registry:
        yield Workload(registering(registry), rows=40, changes=350), registry


@pytest.fixture(scope="module")
def shop(bootstrap_servers: str, spark_jars: list[Path], workload: tuple[Workload, EmbeddedRegistry]) -> Shop:
    """Topics full of records, and the class archive that makes every Java start sooner."""
    records, registry = workload
    cluster = Cluster(bootstrap_servers)
    send_workload(cluster, records)
    return Shop(shop_settings(bootstrap_servers, cluster.prefix, registry.url))


@pytest.fixture(scope="module")
def local(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What two threads of one process make of it."""
    return shop.carried(tmp_path_factory.mktemp("local"), spark__master="local[2]")


@pytest.fixture(scope="module")
def identity() -> Iterator[Mapping[str, str]]:
    with IdentityServer(TOKEN) as server:
        yield server.environment


@pytest.fixture
def server() -> Iterator[DfsServer]:
    with DfsServer() as started:
        yield started


@pytest.fixture(scope="module")
def nodes(identity: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    with standalone_cluster(tmp_path_factory.mktemp("nodes"), identity) as started:
        yield started


def same(outcome: Outcome, wanted: Outcome) -> None:
    """Names, bytes, and all that the ledger says of them: numbers, digests, positions, offsets, counters."""
    assert outcome.files.keys() == wanted.files.keys()
    assert outcome.files == wanted.files
    assert outcome.rows == wanted.rows
    assert outcome.ledger.tables == wanted.ledger.tables
    assert outcome.ledger.topics == wanted.ledger.topics
    assert outcome.ledger.counters == wanted.ledger.counters
    assert outcome.ledger.commits == wanted.ledger.commits


def test_one_process_carries_the_workload_in_several_batches(
    local: Outcome, workload: tuple[Workload, EmbeddedRegistry]
) -> None:
    assert local.rows == {table: len(rows) for table, rows in workload[0].truth().items()}
    assert (local.ledger.commits, local.staged) == (BATCHES, ())


def test_executors_in_processes_of_their_own_make_the_same_files(shop: Shop, local: Outcome, tmp_path: Path) -> None:
    environment = local_cluster_environment(tmp_path / "spark")

    # The chart's, with a secret: only on Kubernetes Spark makes one itself.
    conf = {**QUICK_START, **QUICK_EXECUTORS, **AUTHENTICATED, "spark.authenticate.secret": "known to these alone"}
    outcome = shop.carried(tmp_path / "bridge", environment, spark__master="local-cluster[2,1,1024]", spark__conf=conf)

    same(outcome, local)
    assert outcome.staged == ()
    assert len(list((tmp_path / "spark" / "work").glob("app-*/*"))) == len(WORKERS), "two executors"


def test_nodes_that_share_nothing_but_the_network_make_the_same_files(
    shop: Shop,
    local: Outcome,
    nodes: StandaloneCluster,
    server: DfsServer,
    identity: Mapping[str, str],
    tmp_path: Path,
) -> None:
    outcome = shop.carried_remotely(
        tmp_path, server, identity, spark__master=nodes.master, spark__conf={**QUICK_START, **nodes.conf}
    )

    same(outcome, local)
    assert outcome.staged == ()
    uploads = [request for request in server.requests if stages(request)]
    assert {node_of(request) for request in uploads} == set(WORKERS), "executors carry all data, the driver none"
    assert all(OWN_PACKAGES in request.headers["user-agent"] for request in uploads), "with packages of their own"
    commits = [
        request
        for request in server.requests
        if request.operation in (Operation.RENAME, Operation.PUT_BLOB) and not stages(request)
    ]
    assert {node_of(request) for request in commits} == {""}, "numbers and ledger are the driver's"


def test_executors_that_die_and_tasks_that_run_twice_leave_no_trace_in_the_files(
    shop: Shop,
    local: Outcome,
    nodes: StandaloneCluster,
    server: DfsServer,
    identity: Mapping[str, str],
    tmp_path: Path,
) -> None:
    planned = {
        # In the second stage: what the first one has put out is gone with whichever executor ran it, so it runs again.
        "public.schema__orders-1-": Disturbance.EXECUTORS_DIE,
        "public.schema__page_views-2-": Disturbance.TASK_HANGS,
        # In the first stage, which decodes and lands.
        "public.schema__customers-3-": Disturbance.NODE_DIES,
    }
    server.fault = disturbances = Disturbances(nodes, planned)
    speculative = {
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.minTaskRuntime": "100ms",
        "spark.speculation.quantile": "0.5",
    }

    outcome = shop.carried_remotely(
        tmp_path,
        server,
        identity,
        spark__master=nodes.master,
        spark__conf={**QUICK_START, **nodes.conf, **speculative},
    )

    assert disturbances.happened.keys() == planned.keys()
    same(outcome, local)
    attempts = Counter(staged_name(request).rsplit("-", 2)[0] for request in server.requests if stages(request))
    assert min(attempts[name[:-1]] for name in planned) > 1
    assert max(attempts[f"public.schema__{table}-1"] for table in ("customers", "order_lines", "page_views")) > 1

    # What an attempt has staged whose task was lost, or late, is the same file once more. The next start removes it.
    published = set(outcome.files.values())
    assert outcome.staged
    assert {outcome.zone.read(path) for path in outcome.staged} <= published
    ledger = Ledger.open(outcome.state, now_ms=lambda: 0)
    ledger.claim("next", "driver")
    assert set(vacuum(outcome.zone, outcome.state, ledger.state)) == set(outcome.staged)
    assert zone_files(outcome.zone) == outcome.files
