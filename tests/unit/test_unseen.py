"""What counts as unseen is what Unicode says of each character."""

from __future__ import annotations

import re
import sys
import unicodedata

from connectors.unseen import CONTROLS, UNSEEN

_ANY = re.compile(f"[{CONTROLS}{UNSEEN}]")
_SEEN = "\t\n\r"

# Default_Ignorable_Code_Point but for category Cf (Unicode Character Database, DerivedCoreProperties.txt), which Python
# does not tell; then the blank of Braille.
IGNORED = (
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2065, 0x3164, *range(0xFE00, 0xFE10), 0xFFA0),
    *(*range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000), 0x2800),
)
# Of category Cf since Unicode 15, which is younger than Python 3.11.
YOUNG = range(0x13439, 0x13440)


def test_controls_formats_halves_and_separators_are_unseen_and_no_other_category_is() -> None:
    every = {chr(code) for code in range(sys.maxunicode + 1)}
    unseen = {character for character in every if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}

    assert {character for character in every if _ANY.match(character)} == (
        unseen | {chr(code) for code in (*IGNORED, *YOUNG)}
    ) - set(_SEEN)


def test_no_letter_that_anybody_writes_is_unseen() -> None:
    for name in (
        "größer",
        "日本",
        "नमस्ते",
        "العربية",
        "नाम",
        "한국어",
        "🦩",
        "Order Details",
        "naïve\u00a0x",
        "e\u0301",
    ):
        assert not _ANY.search(name), name
