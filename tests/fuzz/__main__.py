"""``python -m tests.fuzz --seconds 3600``: look for inputs that break a reader, and print each one found once.

The cases run in a process of their own, which may hang, be killed or take all memory: the next one goes on behind the
case that it died of. A case is told by its run and number, so ``--run R --case N`` makes it again.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.contract import BrokenPromiseError, check_decoding
from tests.fuzz.cuts import check_cuts
from tests.fuzz.documents import check_documents
from tests.fuzz.landing import MOST_LANDED, check_landing
from tests.fuzz.mutation import case

HANGS_AFTER_SECONDS = 120
MEMORY_BYTES = 6 * 1024**3
_OWN = ("/connectors/", "/streaming/")


def check(run: int, number: int) -> None:
    """One case: most are decoded, a third cut in several ways, every tenth landed; every seventh is a document instead.

    Raises:
        Exception: a finding.
    """
    if number % 7 == 6:
        check_documents(run, number)
    elif number % 10 == 0:
        check_landing(case(run, number, MOST_LANDED))
    elif number % 3 == 0:
        check_cuts(case(run, number))
    else:
        check_decoding(case(run, number))


def main(arguments: list[str]) -> int:
    """Look for so many seconds; 0 where nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--run", type=int, default=int(time.time()))
    parser.add_argument("--case", type=int, help="one case only, in this process")
    parser.add_argument("--from", type=int, dest="start", help="the cases from this one on, in this process")
    chosen = parser.parse_args(arguments)
    if chosen.case is not None:
        check(chosen.run, chosen.case)
        return 0
    if chosen.start is not None:
        _look(chosen.run, chosen.start, chosen.seconds)
        return 0
    return _supervise(chosen.run, chosen.seconds)


def _look(run: int, start: int, seconds: float) -> None:
    """Check case after case; each finding is a line of JSON, and the number of each case is told before it begins."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    until = time.monotonic() + seconds
    number = start
    while time.monotonic() < until:
        faulthandler.dump_traceback_later(HANGS_AFTER_SECONDS, exit=True)
        _tell({"case": number})
        found = failure(lambda number=number: check(run, number))
        if found is not None:
            _tell({"case": number, "finding": found})
        number += 1


def failure(attempt: Callable[[], None]) -> str | None:
    """What an attempt ends with: the error's class, its place, and what it says."""
    try:
        attempt()
    except Exception as error:
        return f"{type(error).__name__} at {_place(error)}: {str(error)[:200]}"
    return None


def _place(error: Exception) -> str:
    """The innermost line of the product's, else of all, so that one mistake is one finding, and two are two."""
    if isinstance(error, BrokenPromiseError):
        return error.kind
    own, innermost = "", "nowhere"
    frame = error.__traceback__
    while frame is not None:
        path = frame.tb_frame.f_code.co_filename
        innermost = f"{Path(path).name}:{frame.tb_lineno}"
        if any(part in path for part in _OWN):
            own = innermost
        frame = frame.tb_next
    return own or innermost


def _tell(line: object) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


def _supervise(run: int, seconds: float) -> int:
    began = time.monotonic()
    found: dict[str, int] = {}
    number, count = 0, 0
    while (left := seconds - (time.monotonic() - began)) > 0:
        options = ["--run", str(run), "--from", str(number), "--seconds", str(left)]
        with subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            for line in process.stdout or ():
                told = json.loads(line)
                number = told["case"]
                if "finding" in told:
                    _note(found, told["finding"], run, number)
                else:
                    count += 1
                    if count % 10_000 == 0:
                        print(f"{count} cases after {time.monotonic() - began:.0f} s", flush=True)
        if process.returncode:
            _note(found, f"the process ended with {process.returncode}", run, number)
        number += 1
    print(f"{count} cases in {time.monotonic() - began:.0f} s, {len(found)} findings")
    return 1 if found else 0


def _note(found: dict[str, int], finding: str, run: int, number: int) -> None:
    place = finding.partition(": ")[0]
    if place not in found:
        found[place] = number
        print(f"{finding}\n    again: python -m tests.fuzz --run {run} --case {number}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
