"""What an error that ends a command tells to do ends with a command: the one that mends it, or the one that met it.

Where a setting is to be corrected, or something outside of the bridge, the error itself names no command. Only here
is it known which command line it came from, so that is the one to be given again.
"""

from __future__ import annotations

from collections.abc import Sequence

from connectors.command_lines import PROGRAM, typed
from connectors.errors import BridgeError, Transient


def with_command(error: BridgeError, arguments: Sequence[str]) -> BridgeError:
    """The error, its remedy naming a command of the bridge's if a person has to act.

    Args:
        error: that ended the command; its remedy is changed where it names none.
        arguments: of the command line, behind the program's name. A URL may hold a secret that it should not, or be
            what is wrong, so ``URL`` stands for it.
    """
    if not isinstance(error, Transient) and not names_command(error.remedy):
        error.remedy = f"{error.remedy} (to try again: {typed([_shown(word) for word in arguments])})"
    return error


def _shown(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{option}{equals}URL" if "://" in value else word


def names_command(remedy: str) -> bool:
    """Whether a command of the bridge's is in the sentence, between backticks or, where it redirects, quotes."""
    return any(f"{mark}{PROGRAM} " in remedy for mark in "`'")
