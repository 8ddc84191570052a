"""The image's entrypoint: the contract of Spark on Kubernetes, and any other command as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit.image.scripts import FOLDER

EXECUTOR = {
    "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@driver.shop.svc:7078",
    "SPARK_EXECUTOR_ID": "3",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_EXECUTOR_MEMORY": "1024m",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "10.1.2.3",
    "SPARK_EXECUTOR_POD_NAME": "shop-exec-3",
    "SPARK_RESOURCE_PROFILE_ID": "0",
}


class Entrypoint:
    """The script, with an init process that prints its arguments and working folder instead of starting anything."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        init = folder / "tini"
        init.write_text("#!/bin/sh\npwd\nprintf '%s\\n' \"$@\"\n")
        init.chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        fixed = {"PATH": f"{self._folder}:/usr/bin:/bin", "SPARK_HOME": "/opt/spark", "SPARK_CONF_DIR": "/conf"}
        command = ["bash", str(FOLDER / "entrypoint.sh"), *arguments]
        return subprocess.run(command, env=fixed | environment, capture_output=True, text=True, check=False)

    def command(self, *arguments: str, **environment: str) -> tuple[str, list[str]]:
        """The working folder and the command that the init process was given."""
        done = self.run(*arguments, **environment)
        assert (done.returncode, done.stderr) == (0, "")
        folder, subreaper, dashes, *command = done.stdout.splitlines()
        assert (subreaper, dashes) == ("-s", "--")
        return folder, command


@pytest.fixture
def entrypoint(tmp_path: Path) -> Entrypoint:
    return Entrypoint(tmp_path)


def test_runs_any_other_command_as_it_is(entrypoint: Entrypoint) -> None:
    _, command = entrypoint.command("cdc-bridge", "status", "a file.yaml", "*")
    assert command == ["cdc-bridge", "status", "a file.yaml", "*"]


def test_an_executor_is_what_the_variables_say(entrypoint: Entrypoint, tmp_path: Path) -> None:
    folder, command = entrypoint.command("executor", **EXECUTOR, TMPDIR=str(tmp_path))
    assert command == [
        "java",
        "-Xms1024m",
        "-Xmx1024m",
        "-cp",
        f"/conf:/opt/spark/jars/*:{folder}",
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
        "--driver-url",
        "spark://CoarseGrainedScheduler@driver.shop.svc:7078",
        "--executor-id",
        "3",
        "--cores",
        "2",
        "--app-id",
        "spark-1",
        "--hostname",
        "10.1.2.3",
        "--resourceProfileId",
        "0",
        "--podName",
        "shop-exec-3",
    ]


def test_java_options_keep_their_order_and_their_blanks(entrypoint: Entrypoint, tmp_path: Path) -> None:
    options = {f"SPARK_JAVA_OPT_{number}": f"-Dorder={number}" for number in range(12)}
    options["SPARK_JAVA_OPT_1"] = "-Dnote=a b *"
    _, command = entrypoint.command("executor", **EXECUTOR, **options, TMPDIR=str(tmp_path))
    expected = ["-Dorder=0", "-Dnote=a b *", *(f"-Dorder={number}" for number in range(2, 12))]
    assert command[1:13] == expected


def test_class_path_holds_hadoop_and_what_the_user_adds(entrypoint: Entrypoint, tmp_path: Path) -> None:
    added = {"HADOOP_CONF_DIR": "/hadoop", "SPARK_EXTRA_CLASSPATH": "/extra/*", "SPARK_DIST_CLASSPATH": "/dist"}
    folder, command = entrypoint.command("executor", **EXECUTOR, **added, TMPDIR=str(tmp_path))
    assert command[command.index("-cp") + 1] == f"/conf:/hadoop:/opt/spark/jars/*:/extra/*:/dist:{folder}"


def test_an_executor_works_in_a_new_folder_of_the_first_local_directory(entrypoint: Entrypoint, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    folder, _ = entrypoint.command("executor", **EXECUTOR, SPARK_LOCAL_DIRS=f"{first},{second}")
    again, _ = entrypoint.command("executor", **EXECUTOR, SPARK_LOCAL_DIRS=f"{first},{second}")
    assert {Path(folder), Path(again)} == set(first.iterdir())


def test_an_executor_that_may_write_nowhere_says_what_to_mount(entrypoint: Entrypoint, tmp_path: Path) -> None:
    done = entrypoint.run("executor", **EXECUTOR, SPARK_LOCAL_DIRS=str(tmp_path / "missing"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"the executor cannot write to {tmp_path / 'missing'}. Remedy: mount a volume or a ")


def test_an_executor_started_by_hand_names_what_is_missing(entrypoint: Entrypoint) -> None:
    given = {name: value for name, value in EXECUTOR.items() if name not in ("SPARK_DRIVER_URL", "SPARK_EXECUTOR_ID")}
    done = entrypoint.run("executor", **given)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "the executor lacks SPARK_DRIVER_URL SPARK_EXECUTOR_ID. Remedy: let Spark on Kubernetes start this container, "
        "or set what is missing.\n"
    )


def test_a_driver_is_spark_submit_in_client_mode(entrypoint: Entrypoint) -> None:
    arguments = ["--properties-file", "/opt/spark/conf/spark.properties", "local:///bridge.py", "run"]
    _, command = entrypoint.command("driver", *arguments, SPARK_DRIVER_BIND_ADDRESS="10.1.2.4")
    assert command == [
        "/opt/spark/bin/spark-submit",
        "--conf",
        "spark.driver.bindAddress=10.1.2.4",
        "--conf",
        "spark.executorEnv.SPARK_DRIVER_POD_IP=10.1.2.4",
        "--deploy-mode",
        "client",
        *arguments,
    ]


def test_no_command_at_all_is_refused(entrypoint: Entrypoint) -> None:
    done = entrypoint.run()
    assert done.returncode == 2
    assert done.stderr == (
        "the container was given no command. Remedy: give it one, such as cdc-bridge run /etc/cdc-bridge/bridge.yaml.\n"
    )
