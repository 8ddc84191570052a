"""A standalone Spark cluster: a master and two workers as processes of their own, which share nothing but the network.

Each worker has a folder of its own for work, scratch and home. Executors run a Python environment that is not the
driver's, with a copy of the bridge in it: what they need has to be installed there, or come with the task.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sysconfig
import venv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

import connectors
import streaming
from connectors.java import find_java, java_home
from connectors.kafka.loopback import free_ports
from tests.support.bridge import QUICK_EXECUTORS, QUICK_JAVA
from tests.support.process_tree import descendants

# By the name of its host, which is the same for both: Spark never gives one host two attempts at a task at a time.
WORKERS = {"worker-1": "127.0.0.1", "worker-2": "localhost"}
SECONDS = 60
# azure-core adds it to the user agent of its requests.
USER_AGENT = "AZURE_HTTP_USER_AGENT"
OWN_PACKAGES = "own-packages"
EXECUTOR_MEMORY = "600m"
_SPARK = Path(pyspark.__file__).parent


@dataclass(frozen=True)
class Worker:
    """A node of the cluster: the process that starts executors, and the folder where it and they write."""

    name: str
    folder: Path
    process: subprocess.Popen[bytes]

    def kill_executor(self) -> None:
        """SIGKILL for the executor and the Python below it, as for want of memory; the worker starts a new one."""
        kill_all(descendants(self.process.pid))

    def kill(self) -> None:
        """SIGKILL for everything on this node, as when it loses its power."""
        below = descendants(self.process.pid)
        self.process.kill()
        self.process.wait()
        kill_all(below)


@dataclass(frozen=True)
class StandaloneCluster:
    """A running cluster.

    Attributes:
        master: ``spark://127.0.0.1:port``.
        python: the interpreter that executors run.
    """

    master: str
    python: Path
    workers: Mapping[str, Worker]

    @property
    def conf(self) -> dict[str, str]:
        """What a driver on this machine has to say to use the whole cluster: one executor per worker."""
        return {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.pyspark.python": str(self.python),
            "spark.executor.memory": EXECUTOR_MEMORY,
            **QUICK_EXECUTORS,
            # The first batch waits for both executors.
            "spark.cores.max": str(len(WORKERS)),
            "spark.scheduler.minRegisteredResourcesRatio": "1",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
        }


@contextmanager
def standalone_cluster(folder: Path, environment: Mapping[str, str]) -> Iterator[StandaloneCluster]:
    """Start it in an empty folder, end it afterwards.

    Args:
        environment: variables of the workers, and of the executors that they start, beside their folders.
    """
    [port] = free_ports(1)
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as running:
        arguments = ["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        _start(running, folder / "master", arguments, environment)
        workers = {}
        for name, host in WORKERS.items():
            arguments = ["worker.Worker", "--host", host, "--webui-port", "0", "--cores", "1", "--memory", "1G"]
            own = {**environment, USER_AGENT: name}
            process = _start(running, folder / name, [*arguments, "--work-dir", "work", master], own)
            workers[name] = Worker(name, folder / name, process)
        yield StandaloneCluster(master, executor_python(folder / "python"), workers)


def executor_python(folder: Path) -> Path:
    """The interpreter of a new environment that has the same packages, and a copy of the bridge instead of this one."""
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    # Only a file of the environment's own counts: the driver's editable install does not. Its last line, which Python
    # runs at its start, lets every request to the storage tell where it comes from.
    mark = f'import os; os.environ["{USER_AGENT}"] = os.environ.get("{USER_AGENT}", "") + " {OWN_PACKAGES}"'
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n{mark}\n", encoding="utf-8")
    for package in (connectors, streaming):
        [source] = package.__path__
        shutil.copytree(source, packages / Path(source).name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "bin" / "python"


def _start(
    running: ExitStack, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    for name in ("local", "tmp"):
        (folder / name).mkdir(parents=True)
    java = java_home(find_java()) / "bin" / "java"
    command = [
        str(java),
        QUICK_JAVA,
        "-Xmx256m",
        "-cp",
        f"{_SPARK / 'jars'}/*",
        f"org.apache.spark.deploy.{arguments[0]}",
    ]
    own = {
        "HOME": str(folder),
        "JAVA_HOME": str(java.parents[1]),
        "PATH": os.environ["PATH"],
        "SPARK_HOME": str(_SPARK),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        # Told by a file that pip does not install.
        "SPARK_SCALA_VERSION": "2.13",
        "TMPDIR": str(folder / "tmp"),
    }
    log = running.enter_context((folder / "log").open("wb"))
    process = subprocess.Popen(
        [*command, *arguments[1:]], cwd=folder, env={**own, **environment}, stdout=log, stderr=subprocess.STDOUT
    )
    running.callback(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def kill_all(pids: Iterable[int]) -> None:
    """SIGKILL for each; of a family that is killed one by one, some end by themselves."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
