"""What surrounds a run under profilers: the kernel's count of each kind of process, and the bridge's last metrics."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.bench.contender import Place
from tests.bench.profile_run import KernelSeconds, LastMetrics, counted, histogram, profiled_settings
from tests.bench.profile_stacks import Kind
from tests.bench.topics import TopicSet
from tests.bench.workloads import WORKLOADS

BURN_AND_WAIT = "import sys, time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\nsys.stdin.read()\n"
START_ALL = """import subprocess, sys
program, *kinds = sys.argv[1:]
started = [subprocess.Popen([sys.executable, "-c", program, kind]) for kind in kinds]
for each in started: each.wait()
"""
METRICS = """# TYPE bridge_stage_seconds histogram
bridge_stage_seconds_bucket{le="+Inf",stage="land"} 2.0
bridge_stage_seconds_count{stage="land"} 2.0
bridge_stage_seconds_sum{stage="land"} 3.5
bridge_stage_seconds_bucket{le="+Inf",stage="commit"} 2.0
bridge_stage_seconds_count{stage="commit"} 2.0
bridge_stage_seconds_sum{stage="commit"} 0.25
# TYPE bridge_records_read counter
bridge_records_read_total{topic="a",partition="0"} 5.0
bridge_records_read_total{topic="a",partition="1"} 7.0
"""


def test_the_kernels_seconds_are_of_each_kind_of_process() -> None:
    kinds = ["pyspark.daemon", "pyspark.daemon", "tests.bench.supervise"]
    # Below a process of their own: other tests leave Spark's processes below this one.
    with subprocess.Popen(
        [sys.executable, "-c", START_ALL, BURN_AND_WAIT, *kinds], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as root:
        looked = KernelSeconds(root.pid)
        assert root.stdout is not None
        for _ in kinds:
            root.stdout.readline()
        looked.look()
        root.communicate()
    looked.look()

    assert looked.by_kind() == {Kind.JAVA: 0.0, Kind.WORKER: pytest.approx(0.65, abs=0.1), Kind.DRIVER: 0.0}


@contextmanager
def serving(answers: list[str]) -> Iterator[str]:
    """Each answer once, in turn."""

    class Metrics(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answers.pop(0).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Metrics)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_metrics_are_read_where_the_log_says_and_only_when_it_has_grown(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("starting\n")
    last = LastMetrics(log)
    answers = ["first", "second", "third"]
    with serving(answers) as url:
        last.look()
        assert (last.text, answers) == ("", ["first", "second", "third"])
        log.write_text(f"INFO  status page: {url}/ (probes: /livez)\n")
        last.look()
        last.look()
        assert (last.text, answers) == ("first", ["second", "third"])
        log.write_text(f"INFO  status page: {url}/ (probes: /livez)\nversion 2\n")
        last.look()
        assert (last.text, answers) == ("second", ["third"])
    log.write_text(f"INFO  status page: {url}/ (probes: /livez)\nversion 2\nlanded\n")
    last.look()
    assert last.text == "second"


def test_a_histograms_seconds_are_its_sums() -> None:
    assert histogram(METRICS, "bridge_stage_seconds", "stage") == {"land": 3.5, "commit": 0.25}
    assert counted(METRICS, "bridge_records_read") == 12


def test_the_bridge_has_the_benchmarks_settings_and_the_agent(tmp_path: Path) -> None:
    workload = WORKLOADS[0]
    topic_set = TopicSet(workload, 10, "one", ())
    given = profiled_settings(topic_set, Place(tmp_path, "b:1", "http://r"), Path("/a/lib.so"), Path("/o/java"))

    assert given["spark"] == {
        "conf": {
            "spark.driver.extraJavaOptions": "-agentpath:/a/lib.so=start,event=ctimer,interval=5000us,threads,"
            "collapsed,file=/o/java"
        }
    }
    assert given["http"] == {"port": 0}
    assert given["trigger"] == {"max_offsets": workload.batch}
