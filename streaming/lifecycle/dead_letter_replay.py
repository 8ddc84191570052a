"""Landing dead letters after all: ``dead-letters replay``.

A letter holds the bytes of a record that was left out. The driver decodes them with its present settings and registry,
and lands the event as its table's next file, in a version that leaves the offsets alone. That keeps the order only if
no newer event of the same row has landed since, so Kafka is read from the record on to where the ledger ends.

In this order: what the letters are; what each would do by itself; what has come since; one file per table. Each step
refuses letters with a reason, and the rest go on. The version that lands letters also remembers them: a driver that
dies before it could answer finds them landed when the request is read again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
from msgspec.structs import replace

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import RawRecords
from connectors.errors import BridgeError, Terminal, Transient
from connectors.kafka.dead_letters import DeadLetter
from connectors.landing_zone.ledger.replayed import has_replayed, with_replayed
from connectors.landing_zone.ledger.state import LedgerState, PlannedTopic, TableState, TableStatus
from connectors.landing_zone.requests import Answer, Part, Request
from connectors.landing_zone.storage.local import LocalStorage
from streaming.dead_letters.coordinates import Coordinates
from streaming.dead_letters.decoding import DecodedLetter, decode_letter, letters_batch
from streaming.explaining.trial import Trial
from streaming.generation import Beginning
from streaming.lifecycle.answers import refused
from streaming.lifecycle.later_events import LaterEvents, LeftOut
from streaming.lifecycle.left_out import proven_left_out
from streaming.lifecycle.letter_refusals import REBUILT_COVERS, landed_already, newer_landed, no_letter
from streaming.lifecycle.letter_topics import LetterTopics
from streaming.lifecycle.outside import Ranges
from streaming.lifecycle.side import Landed, land_beside, land_records
