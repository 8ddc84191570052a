"""To which stage of the bridge a stack belongs: one table of patterns for Java's frames and one for Python's.

The innermost frame that a pattern knows decides, so what a stage calls of Arrow, of numpy or of Java counts for that
stage. A frame of the bridge itself that no pattern knows ends the search: the stack counts as unmatched, and not for
whatever called the bridge.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from tests.bench.profile_stacks import IMPORT, INTERPRETER, Kind, Stack, Stacks, is_python


class Part(enum.StrEnum):
    """What the processor's time goes to, in the order of a record's way; then what is no record's."""

    READ = "read"
    TRANSFER = "transfer"
    DECODE = "decode"
    ORDER = "order"
    ENCODE = "encode"
    STAGE = "stage"
    COMMIT = "commit"
    PUBLISH = "publish"
    PLAN = "plan, schedule, chores"
    COMPILE = "Java compiles"
    GARBAGE = "Java collects garbage"
    START = "start-up"
    UNMATCHED = "matched by no pattern"
    UNSAMPLED = "of no process that was sampled"


ABOUT: Mapping[Part, str] = {
    Part.READ: "records of Kafka to Arrow columns in the worker (`connectors/kafka/reading`)",
    Part.TRANSFER: "what Spark carries between driver and tasks: plans, results, rows to be merged",
    Part.DECODE: "keys and values to columns (`connectors/debezium`)",
    Part.ORDER: "order, generations, row markers, shape (`streaming/landing`)",
    Part.ENCODE: "row groups, digest, Parquet",
    Part.STAGE: "files to the storage",
    Part.COMMIT: "the ledger",
    Part.PUBLISH: "files get their numbers",
    Part.PLAN: "micro-batches of Spark and of the bridge, Spark's plans and tasks, chores, metrics",
    Part.COMPILE: "C1 and C2, and what Spark generates",
    Part.GARBAGE: "",
    Part.START: "imports, loading of classes, settings, Spark's context, forks of workers; the processes' ends",
    Part.UNMATCHED: "",
    Part.UNSAMPLED: "Spark's launcher, and each process' last moments",
}

Pattern = tuple[str, Part | None]
"""A regular expression for the beginning of a frame; None passes the frame over, whatever comes later in the table."""

JAVA: Sequence[Pattern] = (
    (r"\[C[12] Compiler|\[Sweeper", Part.COMPILE),
    (r"\[GC Thread|\[G1 |\[VM Thread|G1ConcurrentRefineThread", Part.GARBAGE),
    (r"(ClassVerifier|Verifier|LinkResolver|SystemDictionary|ClassFileParser)::", Part.START),
    (r"java/lang/ClassLoader|jdk/internal/loader/|java/lang/invoke/|Threads::create_vm", Part.START),
    (r"org/apache/spark/api/python/PythonWorkerFactory", Part.START),
    (r"org/apache/spark/api/python/", Part.TRANSFER),
    (r"org/apache/spark/sql/execution/(arrow|python)/|org/apache/arrow/", Part.TRANSFER),
    (r"org/apache/spark/sql/catalyst/expressions/(GeneratedClass\$|UnsafeRow|codegen/Unsafe)", Part.TRANSFER),
    (r"org/codehaus/|org/apache/spark/sql/catalyst/expressions/codegen/", Part.COMPILE),
    (r"org/apache/spark/sql/execution/BufferedRowIterator", None),
    (r"org/apache/spark/(SparkContext|SparkEnv|SparkConf|deploy/)|org/apache/spark/sql/SparkSession\.<", Part.START),
    (r"org/apache/spark/(sql|scheduler|executor|storage|rpc|status|memory|rdd)/", Part.PLAN),
    (r"org/apache/kafka/clients/|\[kafka-admin-client", Part.PLAN),
    (r"\[(main|shutdown-hook|Service Thread)", Part.START),
    (r"\[(dispatcher|rpc|dag-scheduler|spark-listener|driver-heartbeater|executor-heartbeater|stream exec)", Part.PLAN),
)
PYTHON: Sequence[Pattern] = (
    (rf"{IMPORT}$|{INTERPRETER}$|.* <module>$", Part.START),
    (r"pyspark/(sql/pandas/)?serializers\.py|streaming/task/(results|blobs|run_files)\.py", Part.TRANSFER),
    (r"pyspark/(daemon|worker|worker_util|java_gateway|core/context|conf)\.py", Part.START),
    (r"streaming/task/(worker\.py Worker\.read|ahead\.py)", Part.READ),
    (r"streaming/task/(worker|archives|__init__)\.py|connectors/debezium/options\.py", Part.START),
    (r"streaming/task/uploads\.py|connectors/landing_zone/(staging|work)\.py", Part.STAGE),
    # Which stage writes to the storage is for its caller to say.
    (r"connectors/landing_zone/(storage/|requests|backoff|side_by_side|layout|errors|partner|__init__)", None),
    (r"connectors/landing_zone/ledger/", Part.COMMIT),
    (
        r"connectors/landing_zone/(publisher|published|numbering|recovery|redo|vacuum|removal|metadata)\.py",
        Part.PUBLISH,
    ),
    (r"streaming/driver/publishing\.py", Part.PUBLISH),
    (r"connectors/landing_zone/(row_marker|evolution|casting|schema)\.py", Part.ORDER),
    (r"connectors/landing_zone/(parquet|row_groups|behind|digest|encoding|footer)\.py", Part.ENCODE),
    (r"connectors/landing_zone/(landing_file|naming)\.py", Part.ENCODE),
    (r"connectors/landing_zone/(delimited\w*|text_encoding|canonical_text|disputed)\.py", Part.ENCODE),
    (r"connectors/kafka/(reading/|raw\.py)", Part.READ),
    (r"connectors/debezium/merge_keys\.py", Part.ORDER),
    (r"connectors/debezium/", Part.DECODE),
    (r"streaming/landing/files\.py", Part.ENCODE),
    (r"streaming/landing/steps\.py", None),
    (r"streaming/landing/|streaming/task/(merge|merging|guarded|tables|table_room)\.py", Part.ORDER),
    (r"streaming/task/(decode|bad_records)\.py", Part.DECODE),
    (r"streaming/driver/session\.py|streaming/(settings|commands)/|connectors/(java|kafka/jars)\.py", Part.START),
    (r"streaming/(cli|console|running|logs|log_context|service|job_options|kafka_options)\.py", Part.START),
    (r"streaming/(driver|lifecycle|metrics|health|checks|lineage|mirroring)/", Part.PLAN),
    # The command itself, around everything, and what all of it uses.
    (r"streaming/(__main__|printable|wording|policies|doubt)\.py|connectors/\w+\.py", None),
    (r"streaming/(plan|listener|watch|run_summary|sources)\.py|connectors/(kafka|source_database|fabric)/", Part.PLAN),
)
_OURS = re.compile(r"(streaming|connectors)/")
_WAITS = re.compile(
    r"threading\.py (Condition\.wait|Thread\.join)|selectors\.py |subprocess\.py Popen\._(try_)?wait"
    r"|py4j/(clientserver\.py FinalizerWorker|java_gateway\.py CallbackServer)\S*run$|socket\.py SocketIO\.readinto"
    r"|pyspark/(accumulators\.py .*poll|java_gateway\.py launch_gateway|daemon\.py manager)$"
    r"|streaming/(driver/query\.py (_Batches\.do_chores|_Batches\.between))"
)
"""Innermost frames of Python that only wait. py-spy takes a thread that it has just woken up for one that runs."""
_TABLES = {kind: JAVA if kind is Kind.JAVA else PYTHON for kind in Kind}
_COMPILED = {kind: [(re.compile(pattern), part) for pattern, part in table] for kind, table in _TABLES.items()}


def waits(stack: Stack) -> bool:
    """Whether a stack of Python is of a thread that waits, and so uses no processor."""
    last = next((frame for frame in reversed(stack) if is_python(frame)), stack[-1])
    return _WAITS.match(last) is not None


def part_of(stack: Stack, kind: Kind) -> Part:
    """The stage that a stack belongs to."""
    for frame in reversed(stack):
        matched = next((entry for entry in _COMPILED[kind] if entry[0].match(frame)), None)
        if matched is None and _OURS.match(frame):
            return Part.UNMATCHED
        if matched is not None and matched[1] is not None:
            return matched[1]
    return Part.UNMATCHED


def running(stacks: Stacks, kind: Kind) -> dict[Stack, int]:
    """Without the stacks that wait; async-profiler counts the processor's time, so of Java there are none."""
    return {stack: samples for stack, samples in stacks.items() if kind is Kind.JAVA or not waits(stack)}


def samples_by_part(stacks: Stacks, kind: Kind) -> dict[Part, int]:
    """How many samples each stage has."""
    found: Counter[Part] = Counter()
    for stack, samples in stacks.items():
        found[part_of(stack, kind)] += samples
    return dict(found)
