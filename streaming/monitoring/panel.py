"""Grafana's panels, as far as the dashboard uses them: what each kind needs, and nothing of how it is stored twice."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from streaming.monitoring.promql import expression

Json = dict[str, Any]

DATASOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
OF_BRIDGE = 'job=~"$job", source=~"$source"'
"""The matchers of the dashboard's variables, written ``$of`` in an expression."""


class View(enum.StrEnum):
    """Kinds of panels, by Grafana's names."""

    STAT = "stat"
    LINES = "timeseries"
    TABLE = "table"
    HEATMAP = "heatmap"
    TEXT = "text"


class Tone(enum.StrEnum):
    """Colours of thresholds."""

    GOOD = "green"
    WARN = "orange"
    BAD = "red"
    CALM = "blue"


@dataclass(frozen=True)
class Query:
    """One expression; ``$of`` and ``$id`` in it as in :data:`OF_BRIDGE` and :mod:`streaming.monitoring.promql`.

    Attributes:
        legend: a template of Grafana's, ``{{table}}``.
    """

    expr: str
    legend: str = ""

    @property
    def text(self) -> str:
        """The expression as Grafana sends it, its variables aside.

        Raises:
            UnknownSeriesError: it reads what no process exposes.
        """
        return expression(self.expr.replace("$of", OF_BRIDGE))


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        tells: what it shows, and what is normal; for the panel's tooltip.
        unit: Grafana's id of it.
        width: of 24 columns; height in Grafana's rows.
        steps: colours from a value on, the first one from the beginning.
        names: what values are called, with a colour.
        stacked: lines above each other.
        columns: titles of a table's columns by label or ``Value #A``; others are hidden.
        text: Markdown of a text panel.
    """

    view: View
    title: str
    queries: tuple[Query, ...] = ()
    tells: str = ""
    unit: str = "short"
    width: int = 8
    height: int = 8
    steps: tuple[tuple[float, Tone], ...] = ((0, Tone.GOOD),)
    names: tuple[tuple[float, str, Tone], ...] = ()
    stacked: bool = False
    columns: dict[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Row:
    """Panels below one title."""

    title: str
    panels: tuple[Panel, ...]


def panel_json(panel: Panel, number: int, x: int, y: int) -> Json:
    """The panel as Grafana keeps it, at a place of the dashboard's grid."""
    place = {"x": x, "y": y, "w": panel.width, "h": panel.height}
    base: Json = {"id": number, "type": panel.view.value, "title": panel.title, "gridPos": place}
    if panel.view is View.TEXT:
        return base | {"options": {"mode": "markdown", "content": panel.text}, "transparent": True}
    base |= {
        "description": panel.tells,
        "datasource": DATASOURCE,
        "targets": [_target(panel, at, query) for at, query in enumerate(panel.queries)],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _OPTIONS[panel.view],
    }
    return base | ({"transformations": _columns(panel)} if panel.view is View.TABLE else {})


def _target(panel: Panel, at: int, query: Query) -> Json:
    form = {View.TABLE: "table", View.HEATMAP: "heatmap"}.get(panel.view, "time_series")
    instant = panel.view in (View.STAT, View.TABLE)
    return {
        "refId": chr(ord("A") + at),
        "datasource": DATASOURCE,
        "editorMode": "code",
        "expr": query.text,
        "legendFormat": query.legend or "__auto",
        "format": form,
        "instant": instant,
        "range": not instant,
    }


def _defaults(panel: Panel) -> Json:
    first, *later = panel.steps
    found: Json = {
        "unit": panel.unit,
        "color": {"mode": "thresholds" if panel.view is View.STAT else "palette-classic"},
        "thresholds": {
            "mode": "absolute",
            "steps": [
                {"color": first[1].value, "value": None},
                *({"color": tone.value, "value": value} for value, tone in later),
            ],
        },
    }
    if panel.names:
        options = {
            f"{value:g}": {"text": text, "color": tone.value, "index": at}
            for at, (value, text, tone) in enumerate(panel.names)
        }
        found["mappings"] = [{"type": "value", "options": options}]
    if panel.view is View.LINES:
        found["custom"] = {
            "drawStyle": "line",
            "lineWidth": 1,
            "fillOpacity": 20 if panel.stacked else 5,
            "showPoints": "never",
            "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
        }
    return found


def _columns(panel: Panel) -> list[Json]:
    """One row per series, with the named columns alone, in their order."""
    names = list(panel.columns)
    return [
        *([{"id": "merge", "options": {}}] if len(panel.queries) > 1 else []),
        {"id": "filterFieldsByName", "options": {"include": {"names": names}}},
        {
            "id": "organize",
            "options": {
                "indexByName": {name: at for at, name in enumerate(names)},
                "renameByName": panel.columns,
                "excludeByName": {},
            },
        },
    ]


_OPTIONS: dict[View, Json] = {
    View.STAT: {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "background",
        "graphMode": "none",
        "textMode": "auto",
        "justifyMode": "center",
        "orientation": "auto",
    },
    View.LINES: {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    View.TABLE: {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "fields": ""}},
    View.HEATMAP: {
        "calculate": False,
        "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "fill": "dark-orange", "exponent": 0.5},
        "yAxis": {"unit": "short", "axisPlacement": "left"},
        "cellGap": 1,
        "legend": {"show": True},
        "tooltip": {"mode": "single", "yHistogram": False},
    },
}
