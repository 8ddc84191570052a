"""The tutorial is for Debian and Ubuntu: elsewhere there is no ``pg_virtualenv``, and its test is not collected."""

from __future__ import annotations

import shutil

collect_ignore = [] if shutil.which("pg_virtualenv") else ["test_tutorial.py"]
