"""Differences between a mirrored table and its database that arise before the bridge: Debezium makes them.

They are the only ones that the comparisons tolerate. ``docs/types.md`` prints them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Source(enum.StrEnum):
    """Databases of the rig."""

    POSTGRESQL = "PostgreSQL"
    MARIADB = "MariaDB"
    BOTH = "PostgreSQL and MariaDB"


@dataclass(frozen=True)
class Difference:
    """A tolerated difference.

    Attributes:
        id: short and stable; comparisons name it where they apply it.
        source: the database whose events show it.
        where: types, tables or settings that it concerns.
        what: what the mirror has instead of the database's value.
        reason: why it cannot be mended behind Debezium.
    """

    id: str
    source: Source
    where: str
    what: str
    reason: str


AVRO_NAMES = Difference(
    "avro-names",
    Source.BOTH,
    "Avro, names of columns with signs other than A-Z, a-z, 0-9 and _, or with a digit in front",
    "the column lands under the adjusted name: each such sign is an underscore, and one stands before the digit, as in "
    "`Gr__e` for `Größe` and `_1st` for `1st`",
    "Avro allows no other signs in field names, so the connector needs field.name.adjustment.mode=avro, and its "
    "events no longer contain the real name. With avro_unicode the name contains the signs' codes instead",
)
UNMARKED_DEFAULT = Difference(
    "added-default",
    Source.BOTH,
    "ADD COLUMN with DEFAULT, on rows that existed before",
    "NULL in such rows until each is changed for the first time",
    "the database changes all rows at once without writing them to its log, so no events are sent",
)

TOLERATED: tuple[Difference, ...] = (AVRO_NAMES, UNMARKED_DEFAULT)
