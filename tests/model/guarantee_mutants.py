"""``python -m tests.model.guarantee_mutants``: break one guarantee after the other and see its tests fail.

:mod:`tests.model.mutants` does so for the commit protocol, by the model. Here are the promises of
``docs/guarantees.md``, each broken in a copy of the project by replacing one text (:mod:`tests.model.guarantees`);
every test that the mutant names has to fail in it, else the test does not prove what the page says.

Words choose the mutants in whose name they are. Those whose tests need Spark, Kafka or a database take minutes each;
they are tried with ``slow`` as the first word only, or if their name is given.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.model.guarantees.broken import Broken
from tests.model.guarantees.every import BROKEN
from tests.model.guarantees.page import promises
from tests.model.guarantees.running import ROOT, load_libraries, passed

SECONDS, SLOW_SECONDS = 300, 1_800
"""A run of tests that takes longer hangs in what was broken: that is noticed, too, and told as such."""


def chosen_by(words: Sequence[str]) -> list[Broken]:
    """The mutants that these words name; those whose tests are cheap, if there are no words."""
    slow, wanted = words[:1] == ["slow"], " ".join(words)
    if slow:
        wanted = " ".join(words[1:])
    return [broken for broken in BROKEN if wanted in broken.name and (slow or wanted or not broken.slow)]


def main(words: list[str]) -> int:
    """Returns 1 when a test did not notice what was broken, or does not pass in the code as it is."""
    chosen = chosen_by(words)
    if not chosen:
        print(f"no mutant has {' '.join(words)!r} in its name")
        return 1
    seconds = SLOW_SECONDS if any(broken.slow for broken in chosen) else SECONDS
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        for part in ("connectors", "streaming", "tests", "docs"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        load_libraries()
        if wrong := [test for test, well in passed(copy, _tests(chosen), seconds * len(chosen)).items() if not well]:
            print("the code as it is fails:", *wrong, sep="\n  ")
            return 1
        caught = sum(_is_caught(broken, copy, seconds) for broken in chosen)
    left = "" if words else f"; {sum(broken.slow for broken in BROKEN)} whose tests take minutes were not tried: SLOW=1"
    print(f"{caught} of {len(chosen)} caught{left}")
    return int(caught < len(chosen))


def _tests(chosen: Iterable[Broken]) -> list[str]:
    return list(dict.fromkeys(test for broken in chosen for test in broken.tests))


def _is_caught(broken: Broken, copy: Path, seconds: int) -> bool:
    place = copy / broken.file
    text = place.read_text(encoding="utf-8")
    if text.count(broken.old) != 1:
        _tell("NOT TRIED", broken, f"{text.count(broken.old)} places to change in {broken.file}")
        return False
    place.write_text(text.replace(broken.old, broken.new), encoding="utf-8")
    try:
        found = passed(copy, broken.tests, seconds)
    finally:
        place.write_text(text, encoding="utf-8")
    blind = [test.partition("::")[2] for test, well in found.items() if well]
    hung = all(well is None for well in found.values())
    _tell("SURVIVED" if blind else "hung" if hung else "caught", broken, ", ".join(blind or broken.functions))
    return not blind


def _tell(outcome: str, broken: Broken, tests: str) -> None:
    sentence = next(promise.sentence for promise in promises() if {*broken.functions} & {*promise.tests})
    shortened = sentence if len(sentence) <= 50 else f"{sentence[:47]}..."
    print(f"{outcome:<9} {shortened:<50}  {broken.name:<78}  {tests}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
