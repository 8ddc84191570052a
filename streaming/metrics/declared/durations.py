"""How long it takes: a micro-batch, its stages and steps, and calls to storage."""

from __future__ import annotations

from streaming.metrics.metric import Kind, Metric, Unit

_SHORT = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_LONG = (0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 21600, 86400)

BATCH_SECONDS = Metric(
    "bridge_batch_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "A micro-batch, from its plan to its last published file.",
    buckets=_SHORT,
)
STAGE_SECONDS = Metric(
    "bridge_stage_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "One stage of a micro-batch: plan, land (all that tasks do: read, decode, order, encode, upload), merge (the same "
    "where partitions have to merge), commit, publish; or the chores between two batches.",
    ("stage",),
    buckets=_SHORT,
)
STEP_SECONDS = Metric(
    "bridge_task_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "One step of all tasks of a micro-batch together: read (waiting for records of Kafka's), decode, order (and "
    "decide, and shape), encode, stage (upload). Where tasks run side by side, more than the batch takes.",
    ("step",),
    buckets=_SHORT,
)
STORAGE_SECONDS = Metric(
    "bridge_storage_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "A call of the driver to the storage of the landing zone or of the state, repeats included, by method: publishing "
    "is a stat (verify) and a rename_if_absent (rename) per file, a commit a put_if_absent of the state.",
    ("storage", "method"),
    buckets=_SHORT,
)
RECORD_TO_FILE_SECONDS = Metric(
    "bridge_record_to_file_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "Age of a micro-batch's oldest record, by Kafka's timestamp, when its files were published.",
    buckets=_LONG,
)
BATCH_IN_HAND_SECONDS = Metric(
    "bridge_batch_in_hand_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "How long the micro-batch that runs now has run; 0 between two of them.",
)

METRICS = (
    BATCH_SECONDS,
    STAGE_SECONDS,
    STEP_SECONDS,
    STORAGE_SECONDS,
    RECORD_TO_FILE_SECONDS,
    BATCH_IN_HAND_SECONDS,
)
