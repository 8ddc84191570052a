"""How many tables may begin: whoever can write to one topic can name as many as they like."""

from __future__ import annotations

from connectors.debezium.schema import SourceTable
from streaming.plan import BatchPlan
from streaming.task.tables import TableDirectory

_LONGEST_NAME = 100


class TableRoom:
    """The tables that one partition's records may begin: as many as the ledger has room for.

    So what is refused depends on the ledger and on the partition's records alone, and a batch that runs again refuses
    the same ones, however Spark cuts it into tasks.
    """

    def __init__(self, plan: BatchPlan, directory: TableDirectory) -> None:
        self._directory = directory
        self._known = plan.places_taken
        self._most = plan.job.most_tables
        self._begun: set[str] = set()

    def has(self, source: SourceTable) -> bool:
        """Whether the table is known, or may be begun, and then is."""
        if not self._directory.is_new(source):
            return True
        table = self._directory.merge_name(source)
        if table not in self._begun and len(self._begun) >= self._most - self._known:
            return False
        self._begun.add(table)
        return True

    def refusal(self, source: SourceTable) -> str:
        """Why there is none."""
        return (
            f"the table {str(source)[:_LONGEST_NAME]} is not begun: {self._known:,} were known before the batch, "
            f"and tables.most is {self._most:,}"
        )
