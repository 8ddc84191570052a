"""How a source table's place in the landing zone is named."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from streaming.settings.section import Section

_PLACEHOLDERS = frozenset({"database", "schema", "table"})


def _template(text: str) -> str:
    names = re.findall(r"\{([^{}]*)\}", text)
    unknown = sorted(set(names) - _PLACEHOLDERS)
    if unknown or re.sub(r"\{[^{}]*\}", "", text).strip("{}") != re.sub(r"\{[^{}]*\}", "", text):
        raise ValueError("is not a name template: the placeholders are {database}, {schema} and {table}")
    return text


NameTemplate = Annotated[str, AfterValidator(_template)]


class Naming(Section):
    """How a source table's place in the landing zone is named; each key is a template."""

    schema_template: NameTemplate = Field(default="{schema}", alias="schema")
    """Schema in the mirrored database; when it comes out empty the table lands without one."""
    table_template: NameTemplate = Field(default="{table}", alias="table", min_length=1)
    """Table in the mirrored database; an override may leave {table} out, so that all of its tables have one name."""

    def names_each(self) -> bool:
        """Whether different tables of one schema get different names."""
        return "{table}" in self.table_template

    def may_be_empty(self) -> bool:
        """Whether the table's name has nothing but what a source may lack."""
        return not self.names_each() and not re.sub(r"\{[^{}]*\}", "", self.table_template)
