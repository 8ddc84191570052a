"""The image, run as a cluster that takes security seriously runs it: uid 185, read-only, no capability, no network.

Not part of `make test`, since it needs Docker: `make image-test`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from docker.models.containers import Container

from connectors.landing_zone.storage.local import LocalStorage
from streaming.demo.judge import judge
from streaming.driver.session import spark_properties
from tests.helm.chart import of_kind, one_source, rendered
from tests.image.build import CREATED, REVISION, VERSION
from tests.image.conftest import Source
from tests.image.containers import SECONDS, Image, docker_client, ended, health, json_output, log_until
from tests.unit.streaming.settings_builder import settings

pytestmark = pytest.mark.image

ZONE = "/var/lib/cdc-bridge/LandingZone"
RUN_ONCE = ("cdc-bridge", "run", "/etc/cdc-bridge/bridge.yaml", "--once", "--json")
PROGRAM = "/opt/cdc-bridge/venv/lib/python3.11/site-packages/streaming/__main__.py"
GRACE_SECONDS = 60
HEALTH_SECONDS = 90
MASTER_PORT, DRIVER_PORT, BLOCK_PORT = 17077, 17078, 17079

# What Spark on Kubernetes passes to an executor's Java, whatever the settings say (JavaModuleOptions).
MODULE_OPTIONS = [
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-modules=jdk.incubator.vector",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            *("java.io", "java.lang", "java.lang.invoke", "java.lang.reflect", "java.net", "java.nio", "java.util"),
            *("java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs"),
            *("sun.security.action", "sun.util.calendar"),
        )
    ),
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
]


def differences(zone: Path, source: Source) -> list[str]:
    """Tables whose replayed content is not what the source contains."""
    assert len(source.truth) == 5
    return [str(verdict) for verdict in judge(LocalStorage(zone), source.truth) if not verdict.equal]


def test_runs_the_bridge_as_an_unprivileged_user_unless_told_otherwise(image: Image) -> None:
    config = image.attributes
    assert config["User"] == "185:185"
    assert config["Entrypoint"] == ["/opt/entrypoint.sh"]
    assert config["Cmd"] == ["cdc-bridge", "run", "/etc/cdc-bridge/bridge.yaml"]
    assert image.run("id", "-u").output == "185\n"


def test_labels_say_what_the_image_is_and_what_it_was_built_from(image: Image) -> None:
    labels = image.attributes["Labels"]
    assert labels == {
        "org.opencontainers.image.base.name": labels["org.opencontainers.image.base.name"],
        "org.opencontainers.image.title": "cdc-bridge",
        "org.opencontainers.image.description": "Carries Debezium change events from Kafka into Microsoft Fabric open "
        "mirroring",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.created": CREATED,
        "org.opencontainers.image.revision": REVISION,
        "org.opencontainers.image.version": VERSION,
    }


def test_lists_every_package_in_it(image: Image) -> None:
    bill = json_output(image.run("cat", "/usr/share/doc/cdc-bridge/sbom.cdx.json"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    urls = [component["purl"] for component in bill["components"] if "purl" in component]
    for kind, least in {"pkg:deb/debian/": 90, "pkg:pypi/": 50, "pkg:maven/": 150}.items():
        assert sum(url.startswith(kind) for url in urls) >= least
    installed = image.run("python", "-c", "from importlib.metadata import *; [print(d.name) for d in distributions()]")
    named = {component["name"] for component in bill["components"]}
    assert set(installed.output.split()) - named == set()
    jars = image.run("sh", "-c", "find /opt/spark/jars/ /opt/cdc-bridge/jars -name '*.jar' | wc -l")
    assert sum("hashes" in component for component in bill["components"]) == int(jars.output)


def test_holds_neither_pip_nor_a_compiler_nor_what_the_build_was_told(image: Image) -> None:
    assert image.run("sh", "-c", "command -v pip pip3 gcc unzip git").output == ""
    assert "No module named pip" in image.run("python", "-m", "pip").errors
    looked_for = "find /run/secrets /mnt /media /usr/local/share/ca-certificates /etc/pip.conf -type f"
    assert image.run("sh", "-c", looked_for).output == ""
    assert image.run("find", "/etc/apt", "-name", "*outside*").output == ""


def test_no_file_of_the_image_can_be_changed_by_its_user(image: Image) -> None:
    looked_for = ["sh", "-c", "find / -xdev -writable ! -type l ! -type s 2>/dev/null; true"]
    scratch = image.attributes["WorkingDir"]
    assert image.run(*looked_for).output.split() == [scratch]
    with docker_client() as client:
        found = client.containers.run(image.tag, looked_for, network_mode="none", remove=True).decode().split()
    assert set(found) == {scratch, f"/var{scratch}", "/run/lock", "/var/lib/cdc-bridge"}


def test_java_is_17(image: Image) -> None:
    said = image.run("java", "-XshowSettings:properties", "-version").errors
    assert "java.specification.version = 17" in [line.strip() for line in said.splitlines()]


def test_works_for_a_user_id_that_the_image_does_not_know(image: Image) -> None:
    done = image.run("java", "-XshowSettings:properties", "-version", user="12345:0")
    assert "user.name = spark" in done.errors
    assert done.code == 0


def test_says_that_kafka_is_missing_when_there_is_no_network(image: Image, state: Path, tmp_path: Path) -> None:
    settings = {
        "name": "shop",
        "kafka": {"bootstrap_servers": "127.0.0.1:9092", "topics": ["shop.public.orders"]},
        "landing_zone": {"url": f"file://{ZONE}"},
        "retry": {"attempts": 0},
    }
    file = tmp_path / "bridge.yaml"
    file.write_text(yaml.safe_dump(settings))
    alone = replace(image, volumes={"/var/lib/cdc-bridge": str(state), "/etc/cdc-bridge/bridge.yaml": f"{file}:ro"})
    done = alone.run(*RUN_ONCE)
    assert done.code == 1
    assert "waiting for the Kafka broker: 127.0.0.1:9092 has not answered yet" in done.errors
    assert json.loads(done.output)["error"]["kind"] == "BrokerUnavailableError"
    assert "Traceback" not in done.errors


def test_lands_a_database_without_a_network_beyond_kafka(
    bridge: Callable[..., Image], source: Source, state: Path
) -> None:
    image = bridge()
    summary = json_output(image.run(*RUN_ONCE))
    assert summary["parked"] == {}
    assert differences(state / "LandingZone", source) == []
    assert json_output(image.run("cdc-bridge", "verify", ZONE, "--json"))["findings"] == []
    replayed = json_output(image.run("cdc-bridge", "replay", ZONE, "--rows", "0", "--json"))
    assert {table["table"]: table["rows"] for table in replayed} == {
        name: len(rows) for name, rows in source.truth.items()
    }
    assert {path.stat().st_uid for path in state.rglob("*")} == {185}


def test_turns_healthy_and_ends_in_good_order_when_asked_to(
    bridge: Callable[..., Image], source: Source, state: Path
) -> None:
    with bridge().running() as container:
        log_until(container, ["version 2:"])
        assert health(container, HEALTH_SECONDS) == "healthy"
        began = time.monotonic()
        container.stop(timeout=GRACE_SECONDS)
        took = time.monotonic() - began
        done = ended(container)
    assert done.code == 0, done.errors
    assert "stopped as asked" in done.errors.splitlines()[-1]
    assert took < GRACE_SECONDS
    assert json_output(bridge().run("cdc-bridge", "verify", ZONE, "--json"))["findings"] == []


def test_two_executors_in_containers_of_their_own_land_the_same_rows(
    bridge: Callable[..., Image], source: Source, state: Path
) -> None:
    conf = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.port": DRIVER_PORT,
        "spark.driver.blockManager.port": BLOCK_PORT,
        "spark.executor.memory": "512m",
        # The first batch waits for both of them.
        "spark.cores.max": 2,
        "spark.scheduler.minRegisteredResourcesRatio": 1.0,
        "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{SECONDS}s",
    }
    master = f"spark://127.0.0.1:{MASTER_PORT}"
    driver = bridge(
        CDC_BRIDGE_SPARK__MASTER=master,
        CDC_BRIDGE_SPARK__CONF=json.dumps(conf),
        CDC_BRIDGE_LOG__FORMAT="json",
        CDC_BRIDGE_LOG__LEVEL="debug",
    )
    with ExitStack() as stack:
        command = ["/opt/spark/bin/spark-class", "org.apache.spark.deploy.master.Master"]
        command += ["--host", "127.0.0.1", "--port", str(MASTER_PORT), "--webui-port", "0"]
        # What it says of itself is of the level that Spark has only where the bridge's is debug.
        leading = bridge(SPARK_DAEMON_JAVA_OPTS="-Dcdc.bridge.log.level=INFO")
        leader = stack.enter_context(leading.running(*command))
        log_until(leader, ["I have been elected leader"])
        running = stack.enter_context(driver.running(*RUN_ONCE))
        log_until(leader, ["Registered app"])
        executors = [stack.enter_context(executor(bridge, number)) for number in range(2)]
        done = ended(running)
        logs = [one.logs().decode() for one in executors]
    assert done.code == 0, done.errors
    assert differences(state / "LandingZone", source) == []
    assert ["Running task" in json.dumps(json_lines(log)) for log in logs] == [True, True], logs


def json_lines(log: str) -> list[object]:
    """The lines of a log that is JSON, but for the one with which Java itself begins."""
    return [json.loads(line) for line in log.splitlines() if not line.startswith("WARNING: Using incubator modules")]


@contextmanager
def executor(bridge: Callable[..., Image], number: int) -> Iterator[Container]:
    """An executor as Spark on Kubernetes starts it: by the image's entrypoint, described by variables."""
    told = spark_properties(settings(log__format="json", log__level="debug"), [])["spark.executor.extraJavaOptions"]
    options = {f"SPARK_JAVA_OPT_{index}": option for index, option in enumerate([*MODULE_OPTIONS, *told.split()])}
    image = bridge(
        SPARK_DRIVER_URL=f"spark://CoarseGrainedScheduler@127.0.0.1:{DRIVER_PORT}",
        SPARK_EXECUTOR_ID=str(number + 1),
        SPARK_EXECUTOR_CORES="1",
        SPARK_EXECUTOR_MEMORY="512m",
        SPARK_APPLICATION_ID="app-by-hand",
        # Each has an address of its own, as pods do: of one with its own address, Spark reads shuffle files from disk.
        SPARK_EXECUTOR_POD_IP=f"127.0.0.{number + 2}",
        SPARK_EXECUTOR_POD_NAME=f"executor-{number + 1}",
        SPARK_RESOURCE_PROFILE_ID="0",
        **options,
    )
    with image.running("executor") as container:
        yield container


def args_of(component: str) -> list[str]:
    """What the chart's pod of this component runs in the image."""
    manifests = rendered(one_source(toolbox={"enabled": True}))
    [pod] = (
        each
        for each in of_kind(manifests, "Pod")
        if each["metadata"]["labels"]["app.kubernetes.io/component"] == component
    )
    [container] = pod["spec"]["containers"]
    args: list[str] = container["args"]
    return args


def test_what_the_charts_check_runs_finds_nothing_wrong(bridge: Callable[..., Image], source: Source) -> None:
    done = bridge().run(*args_of("check"))
    assert done.code == 0, done.output + done.errors


def test_a_command_in_the_charts_toolbox_finds_nothing_wrong(bridge: Callable[..., Image], source: Source) -> None:
    with bridge().running(*args_of("toolbox")) as toolbox:
        code, output = toolbox.exec_run(["cdc-bridge", "check", "/etc/cdc-bridge/bridge.yaml"])
    assert code == 0, output.decode()


def test_lands_a_database_as_the_driver_that_spark_submits(
    bridge: Callable[..., Image], source: Source, state: Path
) -> None:
    driver = bridge(SPARK_DRIVER_BIND_ADDRESS="127.0.0.1")
    done = driver.run("driver", "--master", "local[2]", PROGRAM, *RUN_ONCE[1:])
    assert done.code == 0, done.output + done.errors
    # What Python says and what it prints come together there.
    summary = json.loads(done.output[done.output.index("\n{") :])
    assert summary["parked"] == {}
    assert differences(state / "LandingZone", source) == []


def test_runs_an_application_as_spark_on_kubernetes_asks_a_driver_to(image: Image) -> None:
    driver = replace(image, environment={"SPARK_DRIVER_BIND_ADDRESS": "127.0.0.1"})
    done = driver.run("driver", "--master", "local[1]", PROGRAM, "version", "--json")
    told = json_output(done)
    assert told["python"].startswith("3.11.")
    assert (told["cdc-bridge"], told["commit"]) == (VERSION, REVISION[:12])
    assert {told["avro-reader"], told["json-reader"], told["kafka-reader"]} == {"built"}
