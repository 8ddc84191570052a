"""The Grafana dashboard: rows of panels on a grid of 24 columns, for whatever Prometheus and source are chosen."""

from __future__ import annotations

import json
from collections.abc import Iterator

from streaming.monitoring.panel import DATASOURCE, Json, Panel, Row, panel_json
from streaming.monitoring.rows import ROWS

COLUMNS = 24
_ANY = {"allValue": ".*"}
"""All of them includes series without the label."""
SCHEMA_VERSION = 39
"""Of Grafana 10.4 and later, which bring older ones up to date themselves."""


def dashboard() -> Json:
    """The dashboard as Grafana takes it.

    Raises:
        UnknownSeriesError: a query reads what no process exposes.
    """
    return {
        "uid": "cdc-bridge",
        "title": "cdc-bridge",
        "description": "Debezium's change events on their way into Fabric's landing zone.",
        "tags": ["cdc-bridge", "kafka", "fabric"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "fiscalYearStartMonth": 0,
        "liveNow": False,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timepicker": {},
        "timezone": "browser",
        "weekStart": "",
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": _variables()},
        "panels": list(_panels(ROWS)),
    }


def dashboard_text() -> str:
    """Text of ``helm/cdc-bridge/files/dashboard.json``."""
    return json.dumps(dashboard(), indent=2) + "\n"


def lines_of(panels: tuple[Panel, ...]) -> Iterator[list[Panel]]:
    """The panels of a row, line by line: as many side by side as there is room for."""
    line: list[Panel] = []
    for panel in panels:
        if sum(each.width for each in line) + panel.width > COLUMNS:
            yield line
            line = []
        line.append(panel)
    if line:
        yield line


def _panels(rows: tuple[Row, ...]) -> Iterator[Json]:
    number, y = 0, 0
    for row in rows:
        number += 1
        place = {"x": 0, "y": y, "w": COLUMNS, "h": 1}
        yield {"id": number, "type": "row", "title": row.title, "collapsed": False, "gridPos": place, "panels": []}
        y += 1
        for line in lines_of(row.panels):
            x = 0
            for panel in line:
                number += 1
                yield panel_json(panel, number, x, y)
                x += panel.width
            y += max(panel.height for panel in line)


def _variables() -> list[Json]:
    return [
        {
            "type": "datasource",
            "name": "datasource",
            "label": "Prometheus",
            "query": "prometheus",
            "regex": "",
            "current": {},
            "hide": 0,
            "includeAll": False,
            "multi": False,
            "refresh": 1,
        },
        # Jobs that have a bridge, and no others: process_* are everybody's.
        _variable("job", "Job", "bridge_live"),
        _variable("source", "Source", 'bridge_live{job=~"$job"}') | _ANY,
        _variable("table", "Table", 'bridge_table_state{job=~"$job", source=~"$source"}') | _ANY,
    ]


def _variable(label: str, title: str, series: str) -> Json:
    """Values of a label, from which several may be chosen; all of them to begin with."""
    query = f"label_values({series}, {label})"
    return {
        "type": "query",
        "name": label,
        "label": title,
        "datasource": DATASOURCE,
        "definition": query,
        "query": {"query": query, "refId": f"{label}-values"},
        "current": {"text": "All", "value": "$__all"},
        "includeAll": True,
        "multi": True,
        "hide": 0,
        "options": [],
        "refresh": 2,
        "regex": "",
        "skipUrlSync": False,
        "sort": 1,
    }
