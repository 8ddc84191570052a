"""MariaDB's shapes: geometries as well-known binary."""

from __future__ import annotations

from tests.rig.types_kinds import plain
from tests.rig.types_model import Column
from tests.rig.types_wkb import (
    COLLECTION,
    LINE,
    MULTILINE,
    MULTIPOINT,
    MULTIPOLYGON,
    POINT,
    POLYGON,
    WGS84,
    members,
    position,
    ring,
    shape,
)


def _geometry(text: str, landed: bytes, srid: int = 0) -> tuple[str, bytes]:
    return f"ST_GeomFromText('{text}'{f', {srid}' if srid else ''})", landed


_LINE = ring((0, 0), (1, 1))
_POLYGON = members(ring((0, 0), (1, 0), (1, 1), (0, 0)))
_POLYGON_TEXT = "((0 0,1 0,1 1,0 0))"

SHAPES: tuple[Column, ...] = (
    Column(
        "c_point",
        "point",
        plain("binary"),
        (
            _geometry("POINT(1.5 -2.25)", shape(POINT, position(1.5, -2.25))),
            _geometry("POINT(1 2)", shape(POINT, position(1, 2), WGS84), WGS84),
        ),
    ),
    Column(
        "c_geometry",
        "geometry",
        plain("binary"),
        (
            _geometry(f"POLYGON{_POLYGON_TEXT}", shape(POLYGON, _POLYGON)),
            _geometry("LINESTRING(0 0,1 1)", shape(LINE, _LINE, WGS84), WGS84),
        ),
    ),
    Column("c_linestring", "linestring", plain("binary"), (_geometry("LINESTRING(0 0,1 1)", shape(LINE, _LINE)),)),
    Column("c_polygon", "polygon", plain("binary"), (_geometry(f"POLYGON{_POLYGON_TEXT}", shape(POLYGON, _POLYGON)),)),
    Column(
        "c_multipoint",
        "multipoint",
        plain("binary"),
        (_geometry("MULTIPOINT(0 0)", shape(MULTIPOINT, members(shape(POINT, position(0, 0))))),),
    ),
    Column(
        "c_multilinestring",
        "multilinestring",
        plain("binary"),
        (_geometry("MULTILINESTRING((0 0,1 1))", shape(MULTILINE, members(shape(LINE, _LINE)))),),
    ),
    Column(
        "c_multipolygon",
        "multipolygon",
        plain("binary"),
        (_geometry(f"MULTIPOLYGON({_POLYGON_TEXT})", shape(MULTIPOLYGON, members(shape(POLYGON, _POLYGON)))),),
    ),
    Column(
        "c_geometrycollection",
        "geometrycollection",
        plain("binary"),
        (_geometry("GEOMETRYCOLLECTION(LINESTRING(0 0,1 1))", shape(COLLECTION, members(shape(LINE, _LINE)))),),
    ),
)
