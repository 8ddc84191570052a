"""Characters that nobody sees, or that steer what shows them.

Those of the categories Cc, Cf, Cs, Zl and Zp (Unicode Standard, chapter 4.5): controls, marks of writing direction,
zero width blanks and joiners, soft hyphens, tags, halves of characters, separators of lines. And those that a font may
leave out (``Default_Ignorable_Code_Point``): selectors of variants, fillers of Hangul; and the blank of Braille. With
any of them one name looks like another (Unicode Technical Report 36).

Some are rightly part of a name: joiners (U+200C, U+200D) in Persian and in Indic scripts, selectors of variants behind
an emoji or a Mongolian letter. A few of category Cf are seen: Arabic number signs, which begin a number. No letter that
is seen is among them, nor a blank that has a width, but for that of Braille.

They are written down, not asked of :mod:`unicodedata`: so they are the same in every Python, and found by one regular
expression. A test compares them with the categories.
"""

from __future__ import annotations

import re

CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
"""Category Cc but for tab, line feed and carriage return, as the inner part of a character class."""

UNSEEN = (
    r"\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""All others, in the same form."""

_ANY = re.compile(f"[{CONTROLS}{UNSEEN}]")


def is_seen(text: str) -> bool:
    """Whether the text looks like what it is wherever it is shown: printable, and nothing in it that nobody sees."""
    return text.isprintable() and _ANY.search(text) is None
