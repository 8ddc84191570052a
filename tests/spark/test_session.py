"""The session of a real Spark: the properties reach it, secrets don't reach its command line, one pool of workers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.bridge import QUICK_START
from tests.support.class_archive import keep_classes

pytestmark = pytest.mark.spark

[[_JAVA_OPTIONS, _QUICK]] = QUICK_START.items()
_SETTINGS = f"""\
name: shop
kafka: {{bootstrap_servers: "localhost:9092", topics: [a]}}
landing_zone: {{url: "file:///zones/shop"}}
spark:
  master: local[1]
  driver_memory: 600MiB
  conf:
    spark.hadoop.fs.azure.account.key.x: hunter2
    spark.note: password-hunter2
    {_JAVA_OPTIONS}: '{_QUICK}'
"""

# In a process of its own: Java starts once in a process, and other tests have started theirs with other properties.
_PROGRAM = """
import json, os, subprocess, sys
from streaming.driver.session import spark_session
from streaming.settings import settings_of

def worker(batches):
    import pyarrow as pa
    for _ in batches:
        told = {"python": sys.executable, "threads": os.environ["POLARS_MAX_THREADS"], "pid": os.getpid()}
        yield pa.RecordBatch.from_pylist([told])

settings = settings_of(sys.argv[1], "bridge.yaml")
session = spark_session(settings, [])
rows = session.range(1).coalesce(1).mapInArrow(worker, "python string, threads string, pid long").collect()
conf = session.sparkContext.getConf()
answer = {
    "arguments": subprocess.run(["ps", "axww", "-o", "ppid,args"], capture_output=True, text=True).stdout,
    "pid": os.getpid(),
    "worker": rows[0].asDict(),
    "workers_pid": session.sparkContext.parallelize([0], 1).map(lambda _: os.getpid()).collect(),
    "same": spark_session(settings, []) is session,
    "conf": {key: conf.get(key) for key in ("spark.note", "spark.hadoop.fs.azure.account.key.x", "spark.speculation")},
    "zone": session.conf.get("spark.sql.session.timeZone"),
}
session.stop()
again = spark_session(settings, [])
answer["again"] = again.range(3).count()
again.stop()
print(json.dumps(answer))
"""


@pytest.fixture(scope="module", autouse=True)
def classes() -> None:
    keep_classes()


def test_a_session_has_its_properties_and_keeps_secrets_out_of_every_command_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, _SETTINGS], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    [java] = [
        line for line in answer["arguments"].splitlines() if line.split()[0] == str(answer["pid"]) and "-Xmx" in line
    ]
    assert "-Xmx600m -Xss16m" in java
    assert "hunter2" not in java
    [pid] = answer["workers_pid"]
    assert answer["worker"] == {"python": sys.executable, "threads": "1", "pid": pid}
    assert answer["same"] is True
    assert answer["again"] == 3
    assert answer["conf"] == {
        "spark.note": "password-hunter2",
        "spark.hadoop.fs.azure.account.key.x": "hunter2",
        "spark.speculation": "false",
    }
    assert answer["zone"] == "UTC"
    assert [line for line in done.stderr.splitlines() if " WARN " in line or " INFO " in line] == []
    assert list(tmp_path.iterdir()) == []


_REFUSED = """
import sys
from streaming.driver.session import spark_session
from streaming.settings import settings_of
from streaming.driver.spark_errors import SparkStartError

try:
    spark_session(settings_of(sys.argv[1], "bridge.yaml"), [])
except SparkStartError as error:
    print(error.message, error.facts, error.remedy, sep="\\n")
"""


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        (
            "{spark.driver.extraJavaOptions: '-XX:MaxMetaspaceSize=little'}",
            "[JAVA_GATEWAY_EXITED] Java gateway process exited",
        ),
        (
            f"{{spark.memory.fraction: '9', {_JAVA_OPTIONS}: '{_QUICK}'}}",
            "spark.memory.fraction should be between 0 and 1 (was '9.0').",
        ),
    ],
)
def test_java_or_spark_that_does_not_start_says_where_its_properties_come_from(conf: str, said: str) -> None:
    text = _SETTINGS[: _SETTINGS.index("  conf:")] + f"  conf: {conf}\n"
    done = subprocess.run([sys.executable, "-c", _REFUSED, text], capture_output=True, text=True, check=True)
    message, facts, remedy = done.stdout.splitlines()
    assert message.startswith("Spark did not start: ")
    assert said in message
    assert facts == "{'master': 'local[1]'}"
    assert remedy == (
        "look at the lines above for Java's own report; the settings spark.master, spark.driver_memory and spark.conf "
        "say how it is started. If somebody ended the process meanwhile, start it again"
    )
