"""Errors of the settings: all that is wrong with a file at once, each with its place."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.errors import Terminal


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        path: the key, as ``tables.overrides[2].policies.on_truncate``; empty for the file as a whole.
        message: what is wrong and what is allowed; continues the path as a sentence.
        value: the value as written, shortened; empty where it is missing, long, or could be a secret.
        source: ``line 12`` of the file, or the environment variable that set the value.
    """

    path: str
    message: str
    value: str = ""
    source: str = ""

    def __str__(self) -> str:
        value = f" (is {self.value})" if self.value else ""
        source = f" [{self.source}]" if self.source else ""
        return f"{self.path} {self.message}{value}{source}".strip()


class SettingsError(Terminal):
    """The settings can't be used.

    Attributes:
        problems: everything that is wrong, in the order of the file; empty when the file could not be read at all.
    """

    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, file: object, problems: tuple[Problem, ...]) -> SettingsError:
        """The error of a file with these problems; its message lists them one a line."""
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "\n".join(f"  - {problem}" for problem in problems)
        error = cls(
            f"The settings have {count}:\n{lines}",
            remedy="mend what is listed; 'cdc-bridge config example' shows every key",
            file=file,
        )
        error.problems = problems
        return error
