"""Kafka keys that all have the same members."""

from __future__ import annotations

from collections.abc import Sequence

from connectors.debezium.bodies import Bodies
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_kernel.scan import Program, Scan, Wanted
from connectors.debezium.json_members import is_plain_name

_MOST_NAMES = 256
"""A name is looked for among all of them; keys of more members, which nobody has, are not looked at here."""


class KeyCheck:
    """Tells keys with certain members.

    Args:
        names: the members.
        closed: True where a key with any other member is none of these.
    """

    def __init__(self, kernel: Kernel, names: Sequence[str], *, closed: bool) -> None:
        self._program = Program(kernel, [Wanted(name) for name in names], closed=closed)

    @classmethod
    def of(cls, kernel: Kernel | None, names: Sequence[str], *, closed: bool) -> KeyCheck | None:
        """``None`` where there is no kernel, a name that it does not find, or very many names."""
        if kernel is None or len(names) > _MOST_NAMES or not all(map(is_plain_name, names)):
            return None
        return cls(kernel, names, closed=closed)

    def holds(self, keys: Bodies) -> bool:
        """True where all keys are JSON objects with these members; False also where that is not sure."""
        return all(self._holds(part) for _, part in self._program.parts(keys))

    def _holds(self, keys: Bodies) -> bool:
        scan = Scan(self._program, keys)
        return not scan.status.any() and bool(scan.kinds.all())
