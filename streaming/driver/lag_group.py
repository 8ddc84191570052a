"""The ledger's offsets as those of a consumer group, so that lag tools can show how far the bridge is behind.

For people only: the bridge never reads them back. They are set after the ledger's commit, so they never promise what is
not landed; where that fails, the lag that is shown is too high until a later batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from connectors.errors import BridgeError
from connectors.kafka.group_offsets import commit_group_offsets
from connectors.kafka.topics import Admin
from connectors.landing_zone.ledger.state import LedgerState


@dataclass
class LagGroup:
    """Keeps a consumer group at the ledger's offsets.

    Args:
        on_failure: told of each failure, which stops nothing.
    """

    admin: Admin
    group: str
    on_failure: Callable[[BridgeError], None]
    _committed: dict[str, dict[int, int]] = field(default_factory=dict)

    def follow(self, state: LedgerState) -> None:
        """Set the offsets that are others than those set last."""
        offsets = {topic: dict(known.partitions) for topic, known in state.topics.items()}
        moved = {
            topic: changed
            for topic, partitions in offsets.items()
            if (changed := dict(partitions.items() - self._committed.get(topic, {}).items()))
        }
        try:
            commit_group_offsets(self.admin, self.group, moved)
        except BridgeError as error:
            self.on_failure(error)
        else:
            self._committed = offsets
