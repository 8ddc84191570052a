"""The dashboard's rows, from what is looked at first to what explains it."""

from __future__ import annotations

from streaming.monitoring.panel import Row
from streaming.monitoring.rows.fabric import FABRIC
from streaming.monitoring.rows.kafka import KAFKA
from streaming.monitoring.rows.ledger import LEDGER
from streaming.monitoring.rows.overview import OVERVIEW
from streaming.monitoring.rows.source import SOURCE
from streaming.monitoring.rows.stages import STAGES
from streaming.monitoring.rows.tables import TABLES
from streaming.monitoring.rows.throughput import THROUGHPUT

ROWS: tuple[Row, ...] = (OVERVIEW, TABLES, SOURCE, KAFKA, THROUGHPUT, STAGES, LEDGER, FABRIC)
