"""Every place in the code at which a terminal error is made, with what it tells to do there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import connectors
from connectors.errors import Terminal
from streaming.errors_docs import errors

ROOT = Path(connectors.__file__).parents[1]
KINDS = frozenset(kind.__name__ for kind in errors() if issubclass(kind, Terminal))


@dataclass(frozen=True)
class RaiseSite:
    """One remedy of one error.

    Attributes:
        kind: the error's class; where: file and function.
        text: the remedy's words without what is filled in; where they are handed over from elsewhere, as ``where``.
    """

    kind: str
    where: str
    text: str


@cache
def raise_sites() -> frozenset[RaiseSite]:
    """All of them; one whose remedy is chosen among several counts as often, and a function's same one counts once."""
    found: list[RaiseSite] = []
    for package in ("connectors", "streaming"):
        for path in sorted((ROOT / package).rglob("*.py")):
            found += _of_module(str(path.relative_to(ROOT)))
    return frozenset(found)


def _of_module(path: str) -> Iterator[RaiseSite]:
    tree = _parsed(path)
    for function, call in _calls(tree, tree):
        match call.func:
            case ast.Name(id=kind) if kind in KINDS:
                for value in (each.value for each in call.keywords if each.arg == "remedy"):
                    where = f"{path}::{function.name if isinstance(function, ast.FunctionDef) else ''}"
                    yield from (RaiseSite(kind, where, text or where) for text in _texts(value, path, function))


def _calls(node: ast.AST, function: ast.AST) -> Iterator[tuple[ast.AST, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        inside = child if isinstance(child, ast.FunctionDef) else function
        if isinstance(child, ast.Call):
            yield inside, child
        yield from _calls(child, inside)


def _texts(value: ast.expr, path: str, function: ast.AST) -> Iterator[str]:
    """What the expression may say; a name says what was assigned to it, in the function or in its module."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            yield from _texts(one, path, function)
            yield from _texts(other, path, function)
        case ast.Name(id=name):
            assigned = list(_assigned(function, name)) or list(_assigned_in(path, name))
            if not assigned:
                yield ""
            for each in assigned:
                yield from _texts(each, path, function)
        case _:
            yield written(value)


def _assigned(function: ast.AST, name: str) -> Iterator[ast.expr]:
    for part in ast.walk(function):
        match part:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                yield value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=True)
                yield from (value for target, value in pairs if isinstance(target, ast.Name) and target.id == name)


def _assigned_in(path: str, name: str) -> Iterator[ast.expr]:
    """In the module, or in the one that it takes the name from."""
    for part in _parsed(path).body:
        match part:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                yield value
            case ast.ImportFrom(module=str(module)) if any(each.name == name for each in part.names):
                yield from _assigned_in(f"{module.replace('.', '/')}.py", name)


@cache
def _parsed(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def written(value: ast.expr) -> str:
    """The texts of an expression; a command's template is that command (:mod:`connectors.command_lines`)."""
    words: list[str] = []
    for part in _in_order(value):
        match part:
            case ast.Call(func=ast.Name(id="command" | "command_line")):
                words.append("cdc-bridge ")
            case ast.Constant(value=str(word)):
                words.append(word)
    return "".join(words)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
