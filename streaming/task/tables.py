"""Which landing-zone table a source table is, and what the ledger knows of it."""

from __future__ import annotations

import json

import msgspec

from connectors.debezium.schema import SourceTable
from connectors.landing_zone.layout import TableFolder, table_of_folder
from connectors.landing_zone.ledger.state import TableState
from connectors.landing_zone.naming import TableNaming, by_the_rule, folder_of
from streaming.landing.files import column_separator, file_extension
from streaming.plan import BatchPlan
from streaming.sources import source_of

_REMEMBERED = 10_000
"""Source tables that are found at once the second time: records name as many as they like."""


class TableDirectory:
    """Finds tables by their source's name: the ledger's first, else by the naming templates."""

    def __init__(self, plan: BatchPlan) -> None:
        self._plan = plan
        self._by_source = plan.by_source
        self._found: dict[SourceTable, tuple[str, TableState]] = {}

    def find(self, source: SourceTable) -> tuple[str, TableState]:
        """The landing zone's name of the table and its state; a new table's state has sequence 0."""
        known = self._found.get(source)
        if known is None:
            known = self._look_up(source)
            if len(self._found) < _REMEMBERED:
                self._found[source] = known
        return known

    def is_new(self, source: SourceTable) -> bool:
        """Whether the ledger knows no table that the source's events land in."""
        name, state = self.find(source)
        return source_of(source) not in self._by_source and not (state.sources and name in self._plan.tables)

    def merge_name(self, source: SourceTable) -> str:
        """What keeps a table's rows together on their way to its file, and apart from those of all others.

        Two source tables of one name must not mix, unless the settings say that they land together. It is JSON, since
        names hold whatever would stand between them: ``a.b`` and ``c`` joined by a dot are ``a`` and ``b.c``, too.
        """
        name, state = self.find(source)
        return json.dumps([name] if state.sources else [name, *source_of(source)])

    def _look_up(self, source: SourceTable) -> tuple[str, TableState]:
        identity = source_of(source)
        options = self._plan.job.options_for(source)
        extension, separator = file_extension(options), column_separator(options)
        name = self._by_source.get(identity)
        if name is not None:
            known = self._plan.tables[name]
            # Without a file, nobody has been told of a format yet.
            if known.sequence:
                return name, known
            return name, msgspec.structs.replace(known, extension=extension, column_separator=separator)
        naming = TableNaming(options.schema_template, options.table_template)
        folder = folder_of(naming, source.database, source.schema, source.name)
        name = self._merged_in(folder) if options.merge_sources else table_of_folder(folder)
        shared = self._plan.tables.get(name)
        if options.merge_sources and shared is not None and shared.sources:
            return name, shared
        return name, TableState(
            source=identity,
            folder=folder,
            extension=extension,
            column_separator=separator,
            sources=(identity,) if options.merge_sources else (),
        )

    def _merged_in(self, folder: TableFolder) -> str:
        """The table of merged sources whose folder this is, or was by the rule of an earlier release."""
        name = table_of_folder(folder)
        tables = self._plan.tables
        if name in tables:
            return name
        merged = ((known, state.folder) for known, state in tables.items() if state.sources)
        return next((known for known, landed in merged if by_the_rule(landed) == folder), name)
