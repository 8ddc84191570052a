"""The C compiler of this machine, for tests of the bridge's C: it compiles strictly, and with sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

COMPILER = shutil.which(os.environ.get("CC", "cc"))
WITHOUT = "there is no C compiler; on Debian or Ubuntu: apt-get install gcc libc6-dev"
_STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
_SANITIZERS = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def shared_object(target: Path, source: str, *options: str) -> Path:
    """A library of a C source."""
    written = target.with_suffix(".c")
    written.write_text(source)
    _run("-shared", "-fPIC", str(written), "-o", str(target), *options)
    return target


def sanitized(target: Path, sources: Sequence[Path], headers: Path, *options: str) -> Path:
    """A program that ends where it reads or writes out of bounds, leaks, or does what C leaves undefined.

    Raises:
        subprocess.CalledProcessError: a warning or an error; the compiler has said which.
    """
    _run(*_STRICT, *_SANITIZERS, *options, f"-I{headers}", *map(str, sources), "-o", str(target))
    return target


def run(program: Path, given: bytes, *arguments: str) -> bytes:
    """What a sanitized program says.

    Raises:
        AssertionError: a sanitizer has ended it.
    """
    done = subprocess.run([str(program), *arguments], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    return done.stdout


def _run(*arguments: str) -> None:
    assert COMPILER is not None, WITHOUT
    subprocess.run([COMPILER, *arguments], check=True)
