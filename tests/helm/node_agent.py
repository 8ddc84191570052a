"""What a node does for a cluster, for executor pods only: it runs the container of each and reports what becomes of it.

The pods are those that Spark makes at the API server. A container is a process on this machine with the container's
arguments and environment, the image's entrypoint, and a folder of its own; the image's packages are those of a Python
environment. There is no scheduler and no network of pods: every pod has the address 127.0.0.1.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pyspark

from connectors.java import find_java, java_home
from tests.helm.api_server import ApiServer
from tests.helm.chart import NAMESPACE, ROOT
from tests.scale_out.standalone import kill_all
from tests.support.process_tree import descendants

ADDRESS = "127.0.0.1"
EXECUTORS = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=spark-role=executor"
_POLL_SECONDS = 0.3


class NodeAgent:
    """Runs the executor pods of a namespace while the context lasts.

    Args:
        folder: an empty one; each pod gets a folder in it.

    Attributes:
        python: the image's interpreter.
        most: how many pods ran at the same time at most.
        ended: names of pods that were deleted while they ran.
    """

    def __init__(self, server: ApiServer, folder: Path, python: Path) -> None:
        self.most = 0
        self.ended: list[str] = []
        self._server = server
        self._folder = folder
        self.python = python
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    @property
    def running(self) -> int:
        """How many pods run now."""
        return len(self._running)

    def log(self) -> str:
        """The last lines of every pod's log."""
        logs = sorted(self._folder.glob("*/log"))
        return "\n".join(f"{log.parent.name}:\n{log.read_text(errors='replace')[-2_000:]}" for log in logs)

    def __enter__(self) -> NodeAgent:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        for name in list(self._running):
            self._end(name)

    def _work(self) -> None:
        while not self._over.wait(_POLL_SECONDS):
            pods = {pod["metadata"]["name"]: pod for pod in self._server.ask("GET", EXECUTORS).json()["items"]}
            for name, pod in pods.items():
                if name not in self._running and pod["status"].get("phase") == "Pending":
                    self._start(name, pod)
            for name, process in list(self._running.items()):
                if name not in pods:
                    self._end(name)
                    self.ended.append(name)
                elif process.poll() is not None:
                    self._report(name, "Failed" if process.returncode else "Succeeded", process.returncode)
                    del self._running[name]
            self.most = max(self.most, self.running)

    def _start(self, name: str, pod: Mapping[str, Any]) -> None:
        folder = self._folder / name
        (folder / "tmp").mkdir(parents=True)
        (container,) = pod["spec"]["containers"]
        java = java_home(find_java())
        image = {
            "PATH": f"{self.python.parent}:{java / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "SPARK_CONF_DIR": str(ROOT / "docker" / "spark-conf"),
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "JAVA_HOME": str(java),
            # What the image and the pod's volumes have under /tmp.
            "TMPDIR": str(folder / "tmp"),
        }
        with (folder / "log").open("wb") as log:
            self._running[name] = subprocess.Popen(
                [str(ROOT / "docker" / "entrypoint.sh"), *container["args"]],
                cwd=folder,
                env={**image, **_environment(container, name), "SPARK_LOCAL_DIRS": str(folder / "tmp")},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._report(name, "Running")

    def _report(self, name: str, phase: str, code: int | None = None) -> None:
        state: dict[str, Any] = {"running": {}} if code is None else {"terminated": {"exitCode": code}}
        container = {"name": "executor", "image": "cdc-bridge", "imageID": "", "ready": code is None, "restartCount": 0}
        status = {
            "phase": phase,
            "podIP": ADDRESS,
            "podIPs": [{"ip": ADDRESS}],
            "containerStatuses": [{**container, "state": state}],
        }
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/status"
        pod = self._server.ask("GET", path)
        # Spark may have deleted it meanwhile.
        if pod.status_code == 200:
            self._server.ask("PUT", path, {**pod.json(), "status": status})

    def _end(self, name: str) -> None:
        process = self._running.pop(name)
        kill_all([process.pid, *descendants(process.pid)])
        process.wait()


def _environment(container: Mapping[str, Any], pod: str) -> dict[str, str]:
    """The container's variables, those that name a field of the pod with its value."""
    fields = {"status.podIP": ADDRESS, "metadata.name": pod}
    return {
        variable["name"]: (
            fields[variable["valueFrom"]["fieldRef"]["fieldPath"]]
            if "valueFrom" in variable
            else variable.get("value", "")
        )
        for variable in container["env"]
    }
