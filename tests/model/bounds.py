"""How far the model is explored: in every run of the tests, and by ``make model``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tests.model.world import ANY, Bounds

SHORT: Mapping[str, Bounds] = MappingProxyType(
    {
        "one driver, a fault anywhere": Bounds(faults=1),
        "one driver, the replicator meanwhile": Bounds(consumed=2),
        "two drivers, one is interrupted anywhere": Bounds(preemptions=1, drivers=2, recuts=1),
        "a ledger lost anywhere": Bounds(losses=1),
    }
)
"""Seconds."""

LONG: Mapping[str, Bounds] = MappingProxyType(
    {
        "one driver, two faults": Bounds(faults=2),
        "one driver, a fault, batches cut anew, the replicator": Bounds(faults=1, recuts=1, consumed=1),
        "one driver, a fault, the replicator takes each file": Bounds(faults=1, consumed=1, takes_last=1),
        "one driver, the replicator at any time": Bounds(consumed=9),
        "two drivers, two interruptions": Bounds(preemptions=2, drivers=2),
        "two drivers, batches cut anew, two interruptions": Bounds(preemptions=2, drivers=2, recuts=1),
        "three drivers, two interruptions": Bounds(preemptions=2, drivers=3),
        "two drivers, an interruption, the replicator": Bounds(preemptions=1, drivers=2, consumed=2),
        "two drivers, an interruption and a fault": Bounds(preemptions=1, drivers=2, faults=1),
        "a lost ledger and the replicator": Bounds(losses=1, consumed=2, recuts=1),
        "a lost ledger and a fault": Bounds(losses=1, faults=1),
        "a lost ledger while a driver sleeps": Bounds(losses=1, preemptions=1, drivers=2),
        "two drivers, every interleaving of a batch": Bounds(preemptions=ANY, drivers=2, rivals=1, cuts=((1,),)),
    }
)
"""Minutes of one core."""
