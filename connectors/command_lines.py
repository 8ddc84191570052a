r"""Command lines of the bridge, as a message tells a person to type them: what comes from outside is one word.

A table, a topic or a path is named by somebody else (SECURITY.md): ``x;touch y`` is a table's name, and would be two
commands in the shell that a remedy is pasted into. So no sentence joins a command and a name by itself; tests hold all
of ``connectors`` and ``streaming`` to it (``tests/unit/streaming/test_named_commands.py``).

- A name of safe characters stays as it is, any other is quoted as :func:`shlex.quote` does.
- A name with what nobody sees (:mod:`connectors.unseen`) is written as GNU's ``ls`` writes it, ``$'a\nb'``:
  terminals, logs and the status page spell such characters out, and what they would make of a quoted one, typed, is
  another name. Bash, zsh, ksh and busybox read it. Dash takes it for one other word, which begins with ``$``: no quote
  within ends it too early.
- No argument can hold a NUL, or what UTF-8 does not encode: ``TABLE`` is in its place, as where the name is not
  known. Such a table can only be left out (``tables.exclude``).
- The frame is Markdown's: backticks, one more at each end than the longest run of them within. A command never ends
  with one, so what is between the frame's two ends is to be copied as it stands.
- A name that begins with a dash is no option: it is behind ``--``, or joined to its option by ``=``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from connectors.unseen import is_seen

PROGRAM = "cdc-bridge"
"""The name that every command line begins with."""

PLACE = "{}"
"""Where an argument belongs in a template."""

_UNNAMED = "CONFIG TABLE"
"""How a text names a table that its writer does not know; see :func:`with_table`."""
_UNNAMED_COMMAND = re.compile(rf"(?<!`)`cdc-bridge ((?:[a-z-]+ )+){_UNNAMED}((?: --[a-z-]+)*)`(?!`)")
_BACKTICKS = re.compile("`+")
_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\047"}


def command(template: str, *outside: object) -> str:
    """A command within a sentence, framed, such as ``cdc-bridge resync CONFIG 'my orders'`` between backticks.

    Args:
        template: what the project says itself, behind ``cdc-bridge``: ``resync CONFIG {} --restart``. Words that are
            ``{}`` are filled; those of a flag stand behind them.
        outside: what fills them.
    """
    return _framed(command_line(template, *outside))


def command_line(template: str, *outside: object) -> str:
    """As :func:`command`, without a frame, for a line of its own."""
    values = iter(outside)
    words, behind = [PROGRAM], list[str]()
    for word in template.split():
        if word != PLACE:
            words.append(word)
            continue
        value = str(next(values))
        if value.startswith("-") and words[-1].startswith("--"):
            words[-1] += f"={argument(value)}"
        elif value.startswith("-") or behind:
            behind.append(argument(value))
        else:
            words.append(argument(value))
    return " ".join([*words, "--", *behind] if behind else words)


def typed(arguments: Sequence[str]) -> str:
    """The command that somebody typed, with these words behind the program's name, framed as :func:`command` does."""
    return _framed(" ".join([PROGRAM, *map(argument, arguments)]))


def argument(value: object) -> str:
    """The value as one word of a shell's command line."""
    text = str(value)
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        return "TABLE"
    if is_seen(text):
        # An empty text in between keeps :func:`with_table` away from a name that looks like what it fills.
        return shlex.quote(text).replace(_UNNAMED, "CONFIG'' TABLE")
    return f"$'{''.join(map(_escaped, text))}'".replace(_UNNAMED, "CONFIG\\040TABLE")


def with_table(text: str, table: str) -> str:
    """The text, its commands about a TABLE being about this one."""
    return _UNNAMED_COMMAND.sub(lambda found: command(f"{found[1]}CONFIG {PLACE}{found[2]}", table), text)


def _framed(line: str) -> str:
    frame = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    return f"{frame}{line}{frame}"


def _escaped(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if is_seen(character):
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode())
