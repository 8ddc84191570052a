"""Series of tests for every alert."""

from __future__ import annotations

from tests.monitoring.cases.case import Case
from tests.monitoring.cases.fabric import FABRIC
from tests.monitoring.cases.lag import LAG
from tests.monitoring.cases.ledger import LEDGER
from tests.monitoring.cases.liveness import LIVENESS
from tests.monitoring.cases.records import RECORDS
from tests.monitoring.cases.retention import RETENTION
from tests.monitoring.cases.source import SOURCE
from tests.monitoring.cases.tables import TABLES

CASES: tuple[Case, ...] = (*LIVENESS, *LAG, *SOURCE, *RETENTION, *TABLES, *RECORDS, *LEDGER, *FABRIC)
