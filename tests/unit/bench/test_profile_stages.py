"""A stack belongs to the stage of its innermost frame that a pattern knows."""

from __future__ import annotations

import pytest

from tests.bench.profile_stacks import ROOT, Kind
from tests.bench.profile_stages import ABOUT, Part, part_of, running, samples_by_part

TASK = (
    "pyspark/worker.py main",
    "pyspark/sql/pandas/serializers.py ArrowStreamUDFSerializer.dump_stream",
    "streaming/task/decode.py _decode_and_land",
)
LANDING = (*TASK, "streaming/landing/land.py TableLander.finish")
THREAD = ("threading.py Thread._bootstrap", "threading.py Thread.run")
BATCH = (*THREAD, "pyspark/sql/utils.py ForeachBatchFunction.call", "streaming/driver/query.py _Batches.run")
JAVA_TASK = (
    "[Executor task launch worker]",
    "java/lang/Thread.run",
    "org/apache/spark/executor/Executor$TaskRunner.run",
    "org/apache/spark/sql/execution/python/BatchedPythonArrowInput.writeNextBatchToArrowStream",
)
ROWS = (*JAVA_TASK, "org/apache/spark/sql/catalyst/expressions/GeneratedClass$GeneratedIterator.processNext")
STORAGE = "connectors/landing_zone/storage/local.py LocalStorage.put_if_absent"
RECORD_PATH = (
    "streaming/task",
    "streaming/landing",
    "streaming/driver",
    "connectors/debezium",
    "connectors/kafka/reading",
    "connectors/landing_zone",
)
BESIDE_IT = ("connectors/landing_zone/replay/", "connectors/landing_zone/verify/")


@pytest.mark.parametrize(
    ("stack", "part"),
    [
        (TASK, Part.DECODE),
        ((*TASK, "connectors/debezium/decoder.py Decoder.decode", "numpy/core.py nonzero"), Part.DECODE),
        ((*TASK, "connectors/debezium/merge_keys.py merge_keys", "numpy/lib/x.py stack"), Part.ORDER),
        ((*TASK, "streaming/task/worker.py Worker.read"), Part.READ),
        ((*TASK, "streaming/task/worker.py Worker.read", "connectors/kafka/reading/x.py NativeReader.read"), Part.READ),
        ((*TASK, "streaming/task/worker.py worker_for"), Part.START),
        ((*TASK, "streaming/task/results.py table_row"), Part.TRANSFER),
        ((*TASK, "pyspark/sql/pandas/serializers.py ArrowStreamSerializer.load_stream"), Part.TRANSFER),
        (LANDING, Part.ORDER),
        ((*LANDING, "streaming/landing/steps.py Steps.measured", "contextlib.py __enter__"), Part.ORDER),
        ((*LANDING, "connectors/landing_zone/parquet.py close", "pyarrow/parquet/core.py write_table"), Part.ENCODE),
        ((*TASK, "connectors/debezium/x.py y", "import"), Part.START),
        (("streaming/task/uploads.py Uploads._move", STORAGE), Part.STAGE),
        ((*BATCH, "connectors/landing_zone/ledger/log.py Ledger._put", STORAGE), Part.COMMIT),
        ((*BATCH, "connectors/landing_zone/publisher.py Publisher._publish", STORAGE), Part.PUBLISH),
        (BATCH, Part.PLAN),
        (("interpreter", "/lib/libpython3.11.so.1.0 gc_collect_main"), Part.START),
        (("streaming/__main__.py <module>", "streaming/cli.py main", "typer/main.py call"), Part.START),
        (("streaming/__main__.py <module>", "streaming/driver/session.py spark_session", "py4j/x.py f"), Part.START),
    ],
)
def test_what_python_does(stack: tuple[str, ...], part: Part) -> None:
    assert part_of(stack, Kind.WORKER) is part


@pytest.mark.parametrize(
    ("stack", "part"),
    [
        (JAVA_TASK, Part.TRANSFER),
        ((*JAVA_TASK, "sun/misc/Unsafe.copyMemory", "jlong_disjoint_arraycopy_avx3"), Part.TRANSFER),
        ((*ROWS, "org/apache/spark/sql/catalyst/expressions/UnsafeRow.getBinary"), Part.TRANSFER),
        (("[stream execution thread]", "org/apache/spark/sql/kafka010/KafkaOffsetReaderAdmin.fetch"), Part.PLAN),
        (("[kafka-admin-client-thread]", "org/apache/kafka/clients/NetworkClient.poll"), Part.PLAN),
        ((*ROWS, "java/lang/ClassLoader.loadClass", "inflate"), Part.START),
        ((*ROWS, "Verifier::verify", "ClassVerifier::verify_method", "SymbolTable::do_lookup"), Part.START),
        (JAVA_TASK[:3], Part.PLAN),
        (("[C2 CompilerThre]", "CompileBroker::compiler_thread_loop"), Part.COMPILE),
        (("[GC Thread]", "G1EvacuateRegionsTask::scan_roots"), Part.GARBAGE),
        (("[main]", "org/apache/spark/deploy/SparkSubmit.main"), Part.START),
        (("[Thread]", "py4j/commands/CallCommand.execute"), Part.UNMATCHED),
    ],
)
def test_what_java_does(stack: tuple[str, ...], part: Part) -> None:
    assert part_of(stack, Kind.JAVA) is part


def test_a_module_of_the_bridge_without_a_pattern_is_not_taken_for_its_caller() -> None:
    assert part_of((*TASK, "streaming/task/new_thing.py f", "numpy/x.py g"), Kind.WORKER) is Part.UNMATCHED


@pytest.mark.parametrize("folder", RECORD_PATH)
def test_every_module_on_a_records_way_has_a_stage(folder: str) -> None:
    modules = [str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")]
    caller = "streaming/driver/publishing.py publish"
    unknown = [
        module
        for module in modules
        if not module.startswith(BESIDE_IT) and part_of((caller, f"{module} f"), Kind.WORKER) is Part.UNMATCHED
    ]
    assert len(modules) > 5
    assert unknown == []


def test_a_thread_of_python_that_waits_is_left_out() -> None:
    waits = {
        (*THREAD, "selectors.py _PollLikeSelector.select"): 9,
        (
            *THREAD,
            "selectors.py _PollLikeSelector.select",
            "/x/Modules/selectmodule.c select_poll",
            "/libc.so.6 poll",
        ): 9,
        (*BATCH, "py4j/java_gateway.py GatewayClient.send_command", "socket.py SocketIO.readinto"): 8,
        (*THREAD, "py4j/clientserver.py FinalizerWorker.run"): 7,
        ("streaming/driver/query.py wait_for_end", "streaming/driver/query.py _Batches.do_chores"): 6,
    }
    works = {BATCH: 1, ("streaming/driver/query.py _Batches.do_chores", "streaming/lifecycle/chores.py run"): 2}

    assert running({**waits, **works}, Kind.DRIVER) == works
    assert running(waits, Kind.JAVA) == waits


def test_samples_are_added_up_by_stage() -> None:
    stacks = {LANDING: 3, (*LANDING, "numpy/x.py f"): 4, TASK: 5, ("unknown.py f",): 1}

    assert samples_by_part(stacks, Kind.WORKER) == {Part.ORDER: 7, Part.DECODE: 5, Part.UNMATCHED: 1}


def test_every_stage_is_described() -> None:
    assert set(ABOUT) == set(Part)
