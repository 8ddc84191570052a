"""PostGIS: geometries and geographies as well-known binary, where the extension is installed on the server.

It takes 170 MB of packages (``tests/rig/install.sh --postgis``), so only ``make types`` carries it, and only where it
is there.
"""

from __future__ import annotations

import math
from dataclasses import replace

from tests.rig.database import Database
from tests.rig.types_kinds import plain, unknown
from tests.rig.types_model import Column, TypedSource
from tests.rig.types_wkb import (
    COLLECTION,
    LINE,
    MULTIPOINT,
    MULTIPOLYGON,
    POINT,
    POLYGON,
    WGS84,
    M,
    Z,
    members,
    position,
    ring,
    shape,
)

_POLYGON = members(ring((0, 0), (4, 0), (4, 4), (0, 0)), ring((1, 1), (2, 1), (2, 2), (1, 1)))
_POLYGON_TEXT = "((0 0,4 0,4 4,0 0),(1 1,2 1,2 2,1 1))"
_BERLIN = position(13.4, 52.52)

COLUMNS: tuple[Column, ...] = (
    Column(
        "c_geometry",
        "geometry",
        plain("binary"),
        (
            ("'POINT(1.5 -2.25)'", shape(POINT, position(1.5, -2.25))),
            ("'SRID=4326;POINT(13.4 52.52)'", shape(POINT, _BERLIN, WGS84)),
            ("'POINT EMPTY'", shape(POINT, position(math.nan, math.nan))),
            ("'SRID=3857;LINESTRING(0 0,1 1)'", shape(LINE, ring((0, 0), (1, 1)), 3857)),
            (f"'POLYGON{_POLYGON_TEXT}'", shape(POLYGON, _POLYGON)),
            ("'POINT Z (1 2 3)'", shape(POINT | Z, position(1, 2, 3))),
            ("'SRID=4326;POINT ZM (1 2 3 4)'", shape(POINT | Z | M, position(1, 2, 3, 4), WGS84)),
            ("'MULTIPOINT(0 0)'", shape(MULTIPOINT, members(shape(POINT, position(0, 0))))),
            (f"'MULTIPOLYGON({_POLYGON_TEXT})'", shape(MULTIPOLYGON, members(shape(POLYGON, _POLYGON)))),
            (
                "'SRID=4326;GEOMETRYCOLLECTION(POINT(13.4 52.52))'",
                shape(COLLECTION, members(shape(POINT, _BERLIN)), WGS84),
            ),
        ),
    ),
    Column(
        "c_geometry_point",
        "geometry(Point,4326)",
        plain("binary"),
        (("'SRID=4326;POINT(13.4 52.52)'", shape(POINT, _BERLIN, WGS84)),),
    ),
    Column(
        "c_geography",
        "geography",
        plain("binary"),
        (
            ("'POINT(13.4 52.52)'", shape(POINT, _BERLIN, WGS84)),
            ("'POINT(180 90)'", shape(POINT, position(180, 90), WGS84)),
            ("'LINESTRING(0 0,1 1)'", shape(LINE, ring((0, 0), (1, 1)), WGS84)),
        ),
    ),
    Column("c_box2d", "box2d", unknown(), (("'BOX(0 0,1 1)'", "BOX(0 0,1 1)"),)),
)
"""Columns beside those of the server's own types."""

POSTGIS: tuple[str, ...] = tuple(column.name for column in COLUMNS)
"""Their names."""


def with_postgis(types: TypedSource, database: Database) -> TypedSource:
    """The types and PostGIS's, or the types alone where the server does not have the extension."""
    if not database.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'postgis'"):
        return types
    return replace(types, setup=(*types.setup, "CREATE EXTENSION postgis"), columns=(*types.columns, *COLUMNS))
