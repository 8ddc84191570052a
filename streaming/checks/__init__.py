"""Everything about a bridge that can be known before it runs, each thing with its verdict and its remedy."""

from streaming.checks.check import Check, Verdict
from streaming.checks.every import check_all

__all__ = ["Check", "Verdict", "check_all"]
