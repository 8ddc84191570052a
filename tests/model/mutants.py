"""``python -m tests.model.mutants``: break the product in one place after the other and see the model notice it.

Each mutant is a copy of the project with one text replaced; the model runs in it, the short explorations first. It has
to report a broken promise, else the mutant has survived and the model does not see what it should.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LEDGER = "connectors/landing_zone/ledger"


@dataclass(frozen=True)
class Mutant:
    """One defect.

    Attributes:
        name: what is wrong; file: where; old, new: text that is in the file once, and what takes its place.
        exploration: the first one that sees it: ``short`` or ``long`` as in :mod:`tests.model`, and words of its name.
    """

    name: str
    file: str
    old: str
    new: str
    exploration: tuple[str, str] = ("short", "")


_INTERRUPTED = ("long", "two drivers, two interruptions")
_SLEEPER = ("long", "a lost ledger while a driver sleeps")

MUTANTS = (
    Mutant(
        "a version is written over what is there",
        f"{_LEDGER}/log.py",
        "return persist(lambda: self._storage.put_if_absent(path, body), sleep=self._sleep)",
        "return persist(lambda: self._storage.put(path, body), sleep=self._sleep) is None",
    ),
    Mutant(
        "a lost race for a version counts as won",
        f"{_LEDGER}/log.py",
        "written = version if self._put(version) else self._found(version.version)",
        "written = (self._put(version), version)[1]",
        _INTERRUPTED,
    ),
    Mutant(
        "a claim keeps the epoch",
        f"{_LEDGER}/apply.py",
        "epoch=state.epoch + 1,",
        "epoch=state.epoch,",
    ),
    Mutant(
        "a claim forgets what is pending",
        f"{_LEDGER}/apply.py",
        "        commits=state.commits,\n        pending=state.pending,",
        "        commits=state.commits,",
    ),
    Mutant(
        "offsets are not recorded",
        f"{_LEDGER}/apply.py",
        "topics={**state.topics, **_offsets_after(state, version.planned)},",
        "topics=state.topics or _offsets_after(state, version.planned),",
    ),
    Mutant(
        "a number is given twice",
        f"{_LEDGER}/apply.py",
        "after[table] = replace(before, sequence=file.sequence, sha256=file.sha256)",
        "after[table] = replace(before, sequence=file.sequence - 1, sha256=file.sha256)",
    ),
    Mutant(
        "a version does not bind the digest",
        f"{_LEDGER}/apply.py",
        "files={**_numbered(state, draft), ",
        "files={**{table: replace(file, sha256='') for table, file in _numbered(state, draft).items()}, ",
    ),
    Mutant(
        "files are published before they are committed",
        "streaming/driver/batch.py",
        "            state = ledger.commit(draft)",
        "            publisher._publisher.publish({t: f for t, f in draft.files.items() if f.sequence > 1}, {})\n"
        "            state = ledger.commit(draft)",
    ),
    Mutant(
        "recovery is left out",
        "streaming/driver/startup.py",
        "    if pending:\n",
        "    if not pending:\n",
    ),
    Mutant(
        "one of several files is not published",
        "connectors/landing_zone/redo.py",
        "    tables = list(files)\n",
        "    tables = list(files)[:1]\n",
    ),
    Mutant(
        "a file becomes visible without metadata",
        "connectors/landing_zone/redo.py",
        "        _prepare_folder(zone, file, metadata)\n",
        "",
    ),
    Mutant(
        "a file that is published takes its predecessor away",
        "connectors/landing_zone/publisher.py",
        "        return whole and self._zone.stat(path_before(file.target)) is not None and rename(self._zone, file)\n",
        "        done = whole and self._zone.stat(path_before(file.target)) is not None and rename(self._zone, file)\n"
        "        if done:\n"
        "            self._zone.delete(path_before(file.target))\n"
        "        return done\n",
    ),
    Mutant(
        "a file that is published is not recognised",
        "connectors/landing_zone/redo.py",
        "        if _is_published(zone, file):\n",
        "        if False:\n",
    ),
    Mutant(
        "cleanup folders are not looked into",
        "connectors/landing_zone/published.py",
        "    for cleanup in cleanup_folders(folder):\n        entries += zone.list(cleanup)\n",
        "",
        ("long", "one driver, a fault, the replicator takes each file"),
    ),
    Mutant(
        "vacuum empties the folders of every epoch",
        "connectors/landing_zone/vacuum.py",
        "removed = _delete_all_but(named, zone, left_behind)",
        "removed = _delete_all_but((), zone, left_behind)",
        ("long", "a lost ledger and a fault"),
    ),
    Mutant(
        "vacuum empties the present epoch, too",
        "connectors/landing_zone/vacuum.py",
        "if _epoch(folder) < head.epoch]",
        "]",
        _INTERRUPTED,
    ),
    Mutant(
        "a slot that was pruned may be written",
        f"{_LEDGER}/log.py",
        "            before = self._predecessor(number)\n",
        "            return\n",
    ),
    Mutant(
        "a driver leaves its version where the ledger has gone",
        f"{_LEDGER}/log.py",
        "            self._storage.delete(path_of(number))\n            raise _gone(self._storage, number - 1)\n",
        "            raise self._fenced()\n",
        _SLEEPER,
    ),
    Mutant(
        "a fence does not look for its own version",
        f"{_LEDGER}/log.py",
        "        if version == 0:\n            return bool(all_version_numbers(self._storage))\n",
        "        if version == 0:\n            return False\n",
    ),
    Mutant(
        "files of a rival that began first are taken for foreign ones",
        "streaming/driver/startup.py",
        "        ledger.check_fence()\n        raise\n",
        "        raise\n",
    ),
    Mutant(
        "a version that is pruned while it is read is taken for damage",
        f"{_LEDGER}/version_file.py",
        "    if kept and number < kept[0]:\n        return None\n",
        "",
        _INTERRUPTED,
    ),
    Mutant(
        "a driver begins a ledger in a zone that has lost one",
        "streaming/driver/startup.py",
        "        if not ledger.state.version:\n            ensure_unowned(zone)\n",
        "",
        ("long", "a lost ledger and a fault"),
    ),
    Mutant(
        "a ledger made again takes nothing from the footers",
        f"{_LEDGER}/lost_table.py",
        "        landed_to=_landed_to(footer, same),\n",
        "",
    ),
    Mutant(
        "the copy does not follow",
        f"{_LEDGER}/log.py",
        "if late or changes_ground(version, before, self._state):",
        "if late:",
    ),
    Mutant(
        "a ledger made again leaves staged files to a sleeper",
        "connectors/landing_zone/vacuum.py",
        "    for path in removed:\n        zone.delete(path)\n",
        "",
        _SLEEPER,
    ),
    Mutant(
        "a ledger made again goes on with the next version",
        f"{_LEDGER}/version_file.py",
        "VERSIONS_AHEAD = 1_000_000",
        "VERSIONS_AHEAD = 0",
        _SLEEPER,
    ),
)


def caught_by(mutant: Mutant | None, explorations: Iterable[tuple[str, str]]) -> str | None:
    """The broken promise that the model reports of this mutant, or of the code as it is; None if it finds none.

    Raises:
        ValueError: the text to replace is not in the file, or more than once, or the model itself failed.
    """
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        for part in ("connectors", "streaming", "tests/model", "tests/unit/landing_zone"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        for package in ("tests", "tests/unit"):
            shutil.copy(ROOT / package / "__init__.py", copy / package / "__init__.py")
        if mutant is not None:
            place = copy / mutant.file
            text = place.read_text()
            if text.count(mutant.old) != 1:
                raise ValueError(f"{mutant.name}: {text.count(mutant.old)} places to change in {mutant.file}")
            place.write_text(text.replace(mutant.old, mutant.new))
        for exploration in explorations:
            done = subprocess.run(
                [sys.executable, "-m", "tests.model", *exploration],
                cwd=copy,
                env={**os.environ, "PYTHONPATH": str(copy)},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                return _reported(done.stdout, done.stderr)
    return None


def main(words: list[str]) -> int:
    """Returns 1 when a mutant survived, or the code as it is does not keep its promises."""
    chosen = [mutant for mutant in MUTANTS if " ".join(words) in mutant.name]
    explorations = dict.fromkeys([("short", ""), *(mutant.exploration for mutant in chosen)])
    if finding := caught_by(None, explorations):
        print(f"{'the code as it is':<62} {finding}")
        return 1
    survived = 0
    for mutant in chosen:
        try:
            caught = caught_by(mutant, dict.fromkeys([("short", ""), mutant.exploration]))
        except ValueError as error:
            caught, survived = f"NOT TRIED: {error}", survived + 1
        survived += caught is None
        print(f"{mutant.name:<62} {caught or 'SURVIVED'}", flush=True)
    return int(survived > 0)


def _reported(output: str, errors: str) -> str:
    for exploration, reason in itertools.pairwise(output.splitlines()):
        if exploration.endswith("BROKEN"):
            return f"{exploration[:58].strip()}: {reason[:150]}"
    raise ValueError(f"the model failed: {errors.strip().rpartition(chr(10))[2][:200]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
