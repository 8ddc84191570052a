"""No failpoint without a test that dies there."""

from __future__ import annotations

import re
from pathlib import Path

from connectors.failpoints import Failpoint


def test_every_failpoint_is_met() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*kill*.py"))
    assert set(re.findall(r"\bFailpoint\.([A-Z_]+)", tests)) == set(Failpoint.__members__)
