"""Spark's Python workers need not look into archives before each task.

Spark has each task begin with :func:`importlib.invalidate_caches`. A worker's path has ``pyspark.zip`` and Spark's own
jar on it (`PythonUtils.sparkPythonPath`), and every package that was imported from one of them has a finder, each of
which then reads that archive's whole directory: 75 ms of the processor's time a task with pyspark 4.0, a fifth of a
micro-batch of one record.
"""

from __future__ import annotations

import sys
from zipimport import zipimporter


def forget_archives() -> None:
    """Drop the finders of archives, which hold nothing that an imported module needs: the next import makes its own."""
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]
