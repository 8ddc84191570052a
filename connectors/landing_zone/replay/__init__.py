"""Reads a landing zone back: what the mirrored tables contain, and what is remarkable in their history.

It shares no code with what writes the zone, so that it can judge it.
"""

from connectors.landing_zone.replay.export import ExportError, ExportFormat, export
from connectors.landing_zone.replay.files import LandingFile
from connectors.landing_zone.replay.observations import Observation, ObservationKind, Place
from connectors.landing_zone.replay.replayed import Progress, ReplayedTable, Stage, replay, sequences_at
from connectors.landing_zone.replay.zone import Zone, ZoneTable, open_zone

__all__ = [
    "ExportError",
    "ExportFormat",
    "LandingFile",
    "Observation",
    "ObservationKind",
    "Place",
    "Progress",
    "ReplayedTable",
    "Stage",
    "Zone",
    "ZoneTable",
    "export",
    "open_zone",
    "replay",
    "sequences_at",
]
