"""``python -m streaming``: the same as ``cdc-bridge``."""

from __future__ import annotations

import sys

from streaming.cli import main

if __name__ == "__main__":
    sys.exit(main())
