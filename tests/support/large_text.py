"""Text that a batch of a thousandth of its size can hold."""

from __future__ import annotations

_LINES = "".join(f"{number * 7919 % 1_000_000:06d} the quick brown fox jumps over\n" for number in range(700))


def large_text(size: int) -> str:
    """So many letters, varied enough that zstd's output, of which librdkafka guesses what comes out, is not tiny."""
    return (_LINES * (size // len(_LINES) + 1))[:size]
