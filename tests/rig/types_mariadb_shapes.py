"""MariaDB's shapes: geometries as well-known binary."""

from __future__ import annotations

import struct

from tests.rig.types_kinds import (
    plain,
)
from tests.rig.types_model import Column

_WGS84 = 4326


def _ring(points: tuple[tuple[float, float], ...]) -> bytes:
    return struct.pack("<I", len(points)) + b"".join(struct.pack("<dd", *point) for point in points)


def _shape(kind: int, body: bytes, srid: int = 0) -> bytes:
    """Well-known binary, little-endian; with an SRID the extended form."""
    if srid:
        return struct.pack("<BIi", 1, kind | 0x2000_0000, srid) + body
    return struct.pack("<BI", 1, kind) + body


def _members(*shapes: bytes) -> bytes:
    return struct.pack("<I", len(shapes)) + b"".join(shapes)


def _geometry(text: str, shape: bytes, srid: int = 0) -> tuple[str, bytes]:
    return f"ST_GeomFromText('{text}'{f', {srid}' if srid else ''})", shape


_LINE = _ring(((0, 0), (1, 1)))
_POLYGON = struct.pack("<I", 1) + _ring(((0, 0), (1, 0), (1, 1), (0, 0)))
_POLYGON_TEXT = "((0 0,1 0,1 1,0 0))"

SHAPES: tuple[Column, ...] = (
    Column(
        "c_point",
        "point",
        plain("binary"),
        (
            _geometry("POINT(1.5 -2.25)", _shape(1, struct.pack("<dd", 1.5, -2.25))),
            _geometry("POINT(1 2)", _shape(1, struct.pack("<dd", 1, 2), _WGS84), _WGS84),
        ),
    ),
    Column(
        "c_geometry",
        "geometry",
        plain("binary"),
        (
            _geometry(f"POLYGON{_POLYGON_TEXT}", _shape(3, _POLYGON)),
            _geometry("LINESTRING(0 0,1 1)", _shape(2, _LINE, _WGS84), _WGS84),
        ),
    ),
    Column("c_linestring", "linestring", plain("binary"), (_geometry("LINESTRING(0 0,1 1)", _shape(2, _LINE)),)),
    Column("c_polygon", "polygon", plain("binary"), (_geometry(f"POLYGON{_POLYGON_TEXT}", _shape(3, _POLYGON)),)),
    Column(
        "c_multipoint",
        "multipoint",
        plain("binary"),
        (_geometry("MULTIPOINT(0 0)", _shape(4, _members(_shape(1, struct.pack("<dd", 0, 0))))),),
    ),
    Column(
        "c_multilinestring",
        "multilinestring",
        plain("binary"),
        (_geometry("MULTILINESTRING((0 0,1 1))", _shape(5, _members(_shape(2, _LINE)))),),
    ),
    Column(
        "c_multipolygon",
        "multipolygon",
        plain("binary"),
        (_geometry(f"MULTIPOLYGON({_POLYGON_TEXT})", _shape(6, _members(_shape(3, _POLYGON)))),),
    ),
    Column(
        "c_geometrycollection",
        "geometrycollection",
        plain("binary"),
        (_geometry("GEOMETRYCOLLECTION(LINESTRING(0 0,1 1))", _shape(7, _members(_shape(2, _LINE)))),),
    ),
)
