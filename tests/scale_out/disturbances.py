"""What befalls a cluster in the middle of a batch, at the very request with which a task stages a certain file."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from threading import Event, Lock

from connectors.landing_zone.layout import SCRATCH_PAD
from tests.emulators.dfs_protocol import Operation, Request
from tests.emulators.dfs_server import Fault, Lost
from tests.scale_out.standalone import StandaloneCluster

PATIENCE = 45.0
_NODE = re.compile(r"worker-\d")


class Disturbance(enum.Enum):
    """What happens at the request, mostly to the node from which it comes."""

    EXECUTORS_DIE = "every executor is killed, on that node and on the others"
    NODE_DIES = "everything on it is killed"
    TASK_HANGS = "its request waits until another node stages the same file"


class Disturbances:
    """The emulator's hook: each disturbance once, at the first request that stages its file.

    Args:
        planned: by the beginning of the staged file's name: table and number, as in ``public.schema__orders-2-``.

    Attributes:
        happened: those that did, with the node that each befell.
    """

    def __init__(self, cluster: StandaloneCluster, planned: Mapping[str, Disturbance]) -> None:
        self.happened: dict[str, str] = {}
        self._cluster = cluster
        self._planned = planned
        self._lock = Lock()
        self._elsewhere = Event()

    def __call__(self, request: Request) -> Fault | None:
        if not stages(request):
            return None
        file, node = staged_name(request), node_of(request)
        name = next((name for name in self._planned if file.startswith(name)), None)
        if name is None:
            return None
        with self._lock:
            again = name in self.happened
            befallen = self.happened.setdefault(name, node)
        match self._planned[name]:
            case Disturbance.TASK_HANGS:
                if node != befallen:
                    self._elsewhere.set()
                # The client gives up waiting before long, and asks again.
                return None if self._elsewhere.wait(PATIENCE) else Lost.BEFORE
            case Disturbance.EXECUTORS_DIE if not again:
                for worker in self._cluster.workers.values():
                    worker.kill_executor()
                return Lost.BEFORE
            case Disturbance.NODE_DIES if not again:
                self._cluster.workers[node].kill()
                return Lost.BEFORE
        return None


def stages(request: Request) -> bool:
    """Whether a task sends a file with it, which is small here: at once."""
    return request.operation is Operation.PUT_BLOB and f"/{SCRATCH_PAD}/" in request.path


def node_of(request: Request) -> str:
    """The node that sent a request; empty for the driver."""
    found = _NODE.search(request.headers["user-agent"])
    return found[0] if found else ""


def staged_name(request: Request) -> str:
    """The file's name in the scratch folder."""
    return request.path.rpartition("/")[2]
