"""What lands: rows, files and their size."""

from __future__ import annotations

from streaming.metrics.metric import Combine, Kind, Metric, Unit

_ROWS = (1, 10, 100, 1_000, 10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 5_000_000)
_BYTES = tuple(float(1 << power) for power in range(10, 33, 2))

ROWS_LANDED = Metric(
    "bridge_rows_landed_total",
    Kind.COUNTER,
    Unit.ROWS,
    "Rows in published files, by row marker: 0, 1, 2, 4, or none for rows of a load.",
    ("table", "marker"),
    Combine.SUM,
)
FILES_LANDED = Metric(
    "bridge_files_landed_total", Kind.COUNTER, Unit.FILES, "Published files.", ("table",), Combine.SUM
)
BYTES_LANDED = Metric(
    "bridge_bytes_landed_total", Kind.COUNTER, Unit.BYTES, "Size of published files.", ("table",), Combine.SUM
)
FILE_ROWS = Metric("bridge_file_rows", Kind.HISTOGRAM, Unit.ROWS, "Rows per file.", buckets=_ROWS)
FILE_BYTES = Metric("bridge_file_bytes", Kind.HISTOGRAM, Unit.BYTES, "Size per file.", buckets=_BYTES)
PENDING_FILES = Metric(
    "bridge_pending_files", Kind.GAUGE, Unit.FILES, "Committed files that have not got their number yet."
)

METRICS = (
    ROWS_LANDED,
    FILES_LANDED,
    BYTES_LANDED,
    FILE_ROWS,
    FILE_BYTES,
    PENDING_FILES,
)
