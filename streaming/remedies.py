"""What an error that ends a command tells to do ends with a command: the one that mends it, or the one that met it.

Where a setting is to be corrected, or something outside of the bridge, the error itself names no command. Only here
is it known which command line it came from, so that is the one to be given again.
"""

from __future__ import annotations

from collections.abc import Sequence

from connectors.command_lines import PROGRAM, typed
from connectors.errors import BridgeError, Terminal


def with_command(error: BridgeError, arguments: Sequence[str]) -> BridgeError:
    """The error, its remedy naming a command of the bridge's if a person has to act.

    Args:
        error: that ended the command; its remedy is changed where it names none.
        arguments: of the command line, behind the program's name. They hold no secret: none is taken from there.
    """
    if isinstance(error, Terminal) and not names_command(error.remedy):
        error.remedy = f"{error.remedy}. To try again: {typed(arguments)}"
    return error


def names_command(remedy: str) -> bool:
    """Whether a command of the bridge's is in the sentence, between backticks or, where it redirects, quotes."""
    return any(f"{mark}{PROGRAM} " in remedy for mark in "`'")
