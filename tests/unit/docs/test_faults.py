"""docs/faults.md has every fault that the bridge has to live with, each with tests."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "faults.md"

# By section of the page: words that the first column of each row has to hold, one row for each, in this order.
CASES = {
    "The process": (
        "dies after a rename, before the ledger",
        "dies after the ledger's version, before Spark commits",
        "leaves a gap in the numbers",
        "Two writers are started",
        "Two drivers",
        "zombie wakes up after ten minutes",
        "SIGTERM comes during an upload",
        "configuration changes between an attempt and its replay",
        "library's version changes between a crash and the replay",
    ),
    "The landing zone": (
        "answer to a rename is lost",
        "rename meets a file of that number",
        "foreign file lies in a table's folder",
        "listing is empty after the replicator's cleanup of seven days",
        "`_metadata.json` is edited by hand",
        "folder is deleted under a running job",
        "error for a table, answers 429 with `Retry-After`, or a token ends in the middle of an upload",
        "capacity is paused",
    ),
    "Disk, clock and ledger": (
        "disk is full",
        "state can only be read",
        "clock jumps back",
        "version of the ledger is half written",
        "snapshot of the ledger is corrupt",
        "An older ledger is put back",
        "The ledger is deleted",
        "Ledger and checkpoint are deleted",
    ),
    "Kafka, registry and checkpoint": (
        "Offsets are rewound: a partition ends below",
        "Offsets are rewound, and the partition grows past them",
        "leader of a partition changes, and nothing is lost",
        "topic is deleted and created again",
        "retention has passed the ledger",
        "Partitions are added",
        "broker is restarted in the middle of a batch",
        "disk of the broker's damages records",
        "No broker answers when the process starts",
        "registry is down",
        "registry refuses one schema id",
        "registry fails at one schema id",
        "Apicurio holds under an id is no Avro schema",
        "The checkpoint is deleted",
        "last `commits/N` or `offsets/N` is deleted",
        "file of the checkpoint has lost its content",
        "checkpoint is that of another query",
        "table is idle",
    ),
    "Events": (
        "created and deleted in one batch",
        "updated, deleted and created in one batch",
        "delete has zeros in `before`",
        "delete has its key alone",
        "delete has no tombstone, or a tombstone no delete",
        "key changes across batches or partitions",
        "not sent (TOAST): in the first event of its key, inside an array or map, or in both images",
        "Schema ids are mixed in one batch",
        "column is added while the job is down",
        "column is all NULL in the first batch",
        "an integer, then a decimal, then a text",
        "Timestamps come in s, ms, µs and ns, beyond the year 9999, before Christ, or infinite",
        "decimal has more than 38 digits, is NaN, or has a scale of its own",
        "JSON's null, another row SQL's NULL",
        "schema change, a heartbeat or a signal comes on a data topic",
        "table is deleted and made again at the source",
        "record in the middle of a batch is poison",
    ),
}


def rows() -> dict[str, list[tuple[str, str, str]]]:
    """Per section of the page, what its rows say: case, answer, tests."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    section = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("| ") and not line.startswith("| what happens |"):
            case, answer, tests = (cell.strip() for cell in line.strip("| ").split(" | "))
            found.setdefault(section, []).append((case, answer, tests))
    return found


def test_every_case_has_its_row_and_every_row_is_one_of_the_cases() -> None:
    written = {section: [case for case, _, _ in of] for section, of in rows().items()}
    assert written.keys() == CASES.keys()
    assert {section: len(of) for section, of in written.items()} == {name: len(of) for name, of in CASES.items()}
    wrong = [
        (words, case)
        for section, of in CASES.items()
        for words, case in zip(of, written[section], strict=True)
        if words not in case
    ]
    assert wrong == []


def test_every_row_says_what_the_bridge_does_and_names_tests() -> None:
    every = [row for of in rows().values() for row in of]
    assert [case for case, answer, _ in every if not answer] == []
    named = {case: re.findall(r"`(test_\w+)`", tests) for case, _, tests in every}
    assert [case for case, tests in named.items() if not tests] == []
