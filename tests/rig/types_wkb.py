"""Well-known binary, as geometries land: little-endian, and with an SRID in the extended form of PostGIS."""

from __future__ import annotations

import struct

WGS84 = 4326
POINT, LINE, POLYGON, MULTIPOINT, MULTILINE, MULTIPOLYGON, COLLECTION = range(1, 8)
Z, M = 0x8000_0000, 0x4000_0000
_SRID = 0x2000_0000


def position(*coordinates: float) -> bytes:
    """A point's coordinates."""
    return struct.pack(f"<{len(coordinates)}d", *coordinates)


def ring(*points: tuple[float, ...]) -> bytes:
    """A line, or an edge of a polygon."""
    return struct.pack("<I", len(points)) + b"".join(position(*point) for point in points)


def members(*parts: bytes) -> bytes:
    """The parts of a collection, or the rings of a polygon."""
    return struct.pack("<I", len(parts)) + b"".join(parts)


def shape(kind: int, body: bytes, srid: int = 0) -> bytes:
    """A geometry; ``kind`` with :data:`Z` or :data:`M` where its points have more than two coordinates."""
    if srid:
        return struct.pack("<BIi", 1, kind | _SRID, srid) + body
    return struct.pack("<BI", 1, kind) + body
