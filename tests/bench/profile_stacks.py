"""Collapsed stacks, one a line with its number of samples, as py-spy and async-profiler leave them.

Frames become what a reader and a table of patterns can use: of Python ``streaming/task/decode.py decode_and_land``,
without lines and without the folder that something is installed in; of Java ``org/apache/kafka/.../Fetcher.collect``,
without the numbers of lambdas. The first frame of Java is its thread, in brackets.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

Stack = tuple[str, ...]
Stacks = Mapping[Stack, int]
"""Samples by stack, outermost frame first."""


class Kind(enum.StrEnum):
    """The processes of a run that are sampled."""

    JAVA = "Java"
    WORKER = "Python workers"
    DRIVER = "Python driver"


IMPORT = "import"
"""A stack's last frame where that is one of Python's own import; the others of these are left out."""
INTERPRETER = "interpreter"
"""The first frame of a Python process' stack without one of Python's own: it begins, or cleans up at its end."""
ROOT = Path(__file__).parents[2]
_PROCESS = re.compile(r'process \d+:"(.*)"?')
_PYTHON = re.compile(r"(?P<name>.+) \((?P<file>[^()]+?)(:\d+)?\)")
_INSTALLED = re.compile(rf"^(?:.*/(?:site-packages|python\d\.\d+|pyspark\.zip)|{re.escape(str(ROOT))})/")
_LAMBDA = re.compile(r"(\$\$Lambda)[$/][\w.$/]*?(?=\.\w+(?:\$\w+)*$)")
_THREAD_ENDS = re.compile(r" tid=| for | in |[-\s#]+\d| \[|\]")


def kind_of(command: str) -> Kind | None:
    """What a process of this command line is to a run; None for one that nobody samples, or the benchmark's own."""
    if "tests.bench.supervise" in command or "launcher.Main" in command:
        return None
    if "pyspark.daemon" in command:
        return Kind.WORKER
    if "org.apache.spark.deploy.SparkSubmit" in command:
        return Kind.JAVA
    return Kind.DRIVER if re.search(r"-m\sstreaming\srun\s", command) else None


def python_stacks(text: str) -> dict[Kind, Stacks]:
    """Of ``py-spy record --format raw --subprocesses --full-filenames``: each stack begins with its processes.

    Processes that belong to the benchmark are left out.
    """
    found: dict[Kind, Counter[Stack]] = {Kind.WORKER: Counter(), Kind.DRIVER: Counter()}
    for frames, samples in _lines(text):
        last = max((number for number, frame in enumerate(frames) if _PROCESS.match(frame)), default=-1)
        kind = kind_of(frames[last]) if last >= 0 else None
        if kind in found:
            named = [_python_frame(frame) for frame in frames[last + 1 :]]
            if not any(is_python(frame) for frame in named):
                named = [INTERPRETER, *named]
            within = (frame for frame in named[:-1] if frame != IMPORT)
            found[kind][(*within, named[-1])] += samples
    return dict(found)


def is_python(frame: str) -> bool:
    """Whether a frame is of Python's own code, and not of a compiled library."""
    return frame == IMPORT or frame.startswith("<") or ".py " in frame


def java_stacks(text: str) -> Stacks:
    """Of async-profiler with ``collapsed,threads``."""
    found: Counter[Stack] = Counter()
    for frames, samples in _lines(text):
        found[(_thread(frames[0]), *(_LAMBDA.sub(r"\1", frame) for frame in frames[1:]))] += samples
    return found


def collapsed(text: str) -> Stacks:
    """As :func:`text_of` writes them."""
    return {tuple(frames): samples for frames, samples in _lines(text)}


def text_of(stacks: Stacks) -> str:
    """One stack a line, its samples at the end."""
    return "".join(sorted(f"{';'.join(stack)} {samples}\n" for stack, samples in stacks.items()))


def _lines(text: str) -> list[tuple[list[str], int]]:
    split = (line.rpartition(" ") for line in text.splitlines() if line)
    return [(stack.split(";"), int(samples)) for stack, _, samples in split]


def _python_frame(frame: str) -> str:
    match = _PYTHON.fullmatch(frame)
    if match is None:
        return frame
    if match["file"].startswith(("<frozen importlib", "<frozen zipimport")):
        return IMPORT
    return f"{_INSTALLED.sub('', match['file'])} {match['name']}"


def _thread(frame: str) -> str:
    return f"[{_THREAD_ENDS.split(frame.removeprefix('['), maxsplit=1)[0]}]"
