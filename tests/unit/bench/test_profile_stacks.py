"""Collapsed stacks of both profilers become frames without lines, folders and numbers of this run."""

from __future__ import annotations

import pytest

from tests.bench.profile_stacks import ROOT, Kind, collapsed, java_stacks, kind_of, python_stacks, text_of

PYTHON = f'"{ROOT}/.venv/bin/python'
BENCH = f'process 1:{PYTHON} -m tests.bench.supervise use.json python -m streaming run b.yaml --once"'
DRIVER = f'{BENCH};process 2:{PYTHON} -m streaming run b.yaml --once"'
JAVA = 'process 3:"bash spark-class org.apache.spark.deploy.SparkSubmit --conf a=b pyspark-shell"'
WORKER = f'{DRIVER};{JAVA};process 4:{PYTHON} -m pyspark.daemon pyspark.worker"'
PACKAGES = f"{ROOT}/.venv/lib/python3.11/site-packages"
IMPORTS = "_find_and_load (<frozen importlib._bootstrap>:1165);_load (<frozen importlib._bootstrap>:9)"


def test_stacks_of_python_are_told_apart_by_their_process() -> None:
    text = f"""{BENCH};supervised (/x/tests/bench/supervise.py:48) 7
{DRIVER};main ({ROOT}/streaming/cli.py:86) 3
{WORKER};decode ({ROOT}/connectors/debezium/decoder.py:56);cast (/usr/lib/python3.11/numbers.py:5) 2
{WORKER} 5
"""
    assert python_stacks(text) == {
        Kind.DRIVER: {("streaming/cli.py main",): 3},
        Kind.WORKER: {("connectors/debezium/decoder.py decode", "numbers.py cast"): 2, ("interpreter",): 5},
    }


def test_compiled_frames_without_one_of_python_are_the_interpreters_own() -> None:
    text = f"""{DRIVER};0x7f (/lib/libc.so.6);gc_collect_main (/lib/libpython3.11.so.1.0) 4
{DRIVER};0x7f (/lib/libc.so.6);main ({ROOT}/streaming/cli.py:86);poll (/lib/libc.so.6) 2
"""
    assert python_stacks(text)[Kind.DRIVER] == {
        ("interpreter", "/lib/libc.so.6 0x7f", "/lib/libpython3.11.so.1.0 gc_collect_main"): 4,
        ("/lib/libc.so.6 0x7f", "streaming/cli.py main", "/lib/libc.so.6 poll"): 2,
    }


def test_a_package_keeps_its_folders_and_loses_the_one_it_is_installed_in() -> None:
    text = f"""{DRIVER};isActive ({PACKAGES}/pyspark/python/lib/pyspark.zip/pyspark/sql/streaming/query.py:1) 1
{DRIVER};write_table ({PACKAGES}/pyarrow/parquet/core.py:1200) 1
"""
    assert list(python_stacks(text)[Kind.DRIVER]) == [
        ("pyspark/sql/streaming/query.py isActive",),
        ("pyarrow/parquet/core.py write_table",),
    ]


def test_an_import_is_a_frame_only_where_it_is_the_last_one() -> None:
    text = f"""{DRIVER};{IMPORTS};<module> ({ROOT}/streaming/plan.py:1) 1
{DRIVER};{IMPORTS};<module> ({ROOT}/streaming/plan.py:1);{IMPORTS} 2
"""
    assert python_stacks(text)[Kind.DRIVER] == {
        ("streaming/plan.py <module>",): 1,
        ("streaming/plan.py <module>", "import"): 2,
    }


def test_stacks_of_java_that_differ_in_numbers_of_this_run_are_one() -> None:
    text = """[Executor task launch worker for task 0.0 in stage 0.0 (TID 0) tid=1];A$$Lambda$3530.0x00007f.apply;A.b 2
[Executor task launch worker for task 1.0 in stage 3.0 (TID 9) tid=12];A$$Lambda$7.0x00007f048d0b.apply;A.b 3
[C2 CompilerThre tid=10987];Compile::Compile 4
[GC Thread#0 tid=7];G1 1
[GC Thread#1 tid=8];G1 1
"""
    assert java_stacks(text) == {
        ("[Executor task launch worker]", "A$$Lambda.apply", "A.b"): 5,
        ("[C2 CompilerThre]", "Compile::Compile"): 4,
        ("[GC Thread]", "G1"): 2,
    }


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("python -m streaming run bridge.yaml --once", Kind.DRIVER),
        ("python -m pyspark.daemon pyspark.worker", Kind.WORKER),
        ("/usr/bin/java -cp x org.apache.spark.deploy.SparkSubmit pyspark-shell", Kind.JAVA),
        ("java org.apache.spark.launcher.Main org.apache.spark.deploy.SparkSubmit", None),
        ("python -m tests.bench.supervise use.json python -m streaming run bridge.yaml --once", None),
        ("java kafka.Kafka", None),
    ],
)
def test_a_process_is_known_by_its_command(command: str, kind: Kind | None) -> None:
    assert kind_of(command) is kind


def test_stacks_that_are_written_are_read_again() -> None:
    stacks = {("[main]", "a b.py c"): 3, ("x",): 1}

    assert text_of(stacks) == "[main];a b.py c 3\nx 1\n"
    assert collapsed(text_of(stacks)) == stacks
