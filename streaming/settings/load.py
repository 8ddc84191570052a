"""Reading a settings file: the YAML file, the environment over it, and every problem at once."""

from __future__ import annotations

import json
import os
from difflib import get_close_matches
from pathlib import Path

from pydantic import ValidationError

from streaming.settings.bridge import ENVIRONMENT_DELIMITER, ENVIRONMENT_PREFIX, BridgeSettings
from streaming.settings.errors import Problem, SettingsError
from streaming.settings.explain import explained, json_shape, keys_of, section_at
from streaming.settings.hidden_rules import error_hides_rules, hidden_rules
from streaming.settings.section import KeyPath, path_text
from streaming.settings.yaml_document import YamlDocument, parse_yaml


def load_settings(path: Path) -> BridgeSettings:
    """The settings of a YAML file, with the environment's ``CDC_BRIDGE_<SECTION>__<KEY>`` winning over it.

    Raises:
        SettingsError: the file can't be read, is not YAML, or holds keys or values that are not allowed; the error
            lists every problem with its path, and never a secret.
    """
    return settings_of(_read(path), str(path))


def settings_of(text: str, file: str) -> BridgeSettings:
    """As :func:`load_settings`, from the file's content; ``file`` is its name in messages."""
    document = parse_yaml(text)
    if document.problems:
        raise SettingsError.of(file, document.problems)
    variables = _environment()
    unreadable = _unreadable_variables(variables)
    if unreadable:
        raise SettingsError.of(file, tuple(unreadable))
    problems = _unknown_variables(variables)
    try:
        settings = BridgeSettings.model_validate(document.values)
    except ValidationError as error:
        problems += _problems(error, document, variables)
    else:
        if not problems:
            return settings
    raise SettingsError.of(file, tuple(problems)) from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        message, remedy = (
            "There is no such settings file",
            "check the path, or write one with 'cdc-bridge config example > bridge.yaml'",
        )
    except UnicodeDecodeError:
        message, remedy = "The settings file is not UTF-8 text", "save it as UTF-8"
    except OSError as error:
        message = f"The settings file can't be read: {error.strerror}"
        remedy = "make it a file that this process may read"
    raise SettingsError(message, remedy=remedy, file=path)


def _environment() -> dict[KeyPath, str]:
    """Path in lower case of each variable with the bridge's prefix."""
    return {
        tuple(name[len(ENVIRONMENT_PREFIX) :].lower().split(ENVIRONMENT_DELIMITER)): name
        for name in os.environ
        if name.upper().startswith(ENVIRONMENT_PREFIX)
    }


def _unknown_variables(variables: dict[KeyPath, str]) -> list[Problem]:
    """Variables that would silently do nothing.

    Below a known section pydantic finds them itself. A variable without ``__`` may be somebody else's (Kubernetes sets
    ``CDC_BRIDGE_PORT`` for a service of that name), so only a near miss counts.
    """
    known = list(keys_of(BridgeSettings))
    problems = []
    for path, name in variables.items():
        nearest = get_close_matches(str(path[0]), known, n=1, cutoff=0.6 if len(path) > 1 else 0.8)
        if path[0] in known or (len(path) == 1 and not nearest):
            continue
        meant = f"; did you mean {ENVIRONMENT_PREFIX}{nearest[0].upper()}?" if nearest else ""
        problems.append(Problem(path_text(path), f"is not a known key{meant}", source=f"environment {name}"))
    return problems


def _problems(error: ValidationError, document: YamlDocument, variables: dict[KeyPath, str]) -> list[Problem]:
    problems = []
    found = [each for details in error.errors(include_url=False) for each in explained(details, BridgeSettings)]
    if error_hides_rules(error):
        told = {path for path, _, _ in found}
        found += [each for each in hidden_rules(error, document.values) if each[0] not in told]
    for path, message, value in found:
        line = document.line_of(path)
        variable = next((variables[path[:n]] for n in range(len(path), 0, -1) if path[:n] in variables), None)
        source = f"environment {variable}" if variable else f"line {line}" if line is not None else ""
        problems.append((line or 0, Problem(path_text(path), message, value, source)))
    return [problem for _, problem in sorted(problems, key=lambda each: each[0])]


def _unreadable_variables(variables: dict[KeyPath, str]) -> list[Problem]:
    """Variables for a list, a map or a whole section that are not JSON."""
    problems = []
    for path, name in variables.items():
        parent = section_at(BridgeSettings, path[:-1])
        field = keys_of(parent).get(str(path[-1])) if parent is not None else None
        shape = json_shape(field) if field is not None else None
        if shape is None or not os.environ[name]:
            continue
        try:
            json.loads(os.environ[name])
        except ValueError:
            message = f"must be JSON in the environment, such as {shape}"
            problems.append(Problem(path_text(path), message, source=f"environment {name}"))
    return problems
