"""The commit path under SIGKILL: at each failpoint, request, file operation, HTTP request, and at any moment."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from connectors.failpoints import Failpoint
from tests.crash.chains import Calm, Chains
from tests.crash.kills import AtFailpoint, AtFileOperation, AtHttpRequest, AtMoment, AtRequest, Kill
from tests.crash.places import local_place, remote_place
from tests.crash.tally import Tally, shared_out
from tests.crash.zygote import Zygote
from tests.emulators.dfs_server import DfsServer

POINTS = (
    Failpoint.CLAIM_BEFORE,
    Failpoint.CLAIM_AFTER,
    Failpoint.STAGE_BEFORE,
    Failpoint.STAGE_AFTER,
    Failpoint.COMMIT_BEFORE,
    Failpoint.COMMIT_AFTER,
    Failpoint.METADATA_AFTER,
    Failpoint.RENAME_BEFORE,
    Failpoint.RENAME_AFTER,
    Failpoint.PUBLISH_AFTER,
    Failpoint.BATCH_END,
)
"""Those of a batch; the chores' are met in ``tests/fault``."""

_MOST_KILLS = 4
_LATEST = 1.05

Draw = Callable[[random.Random], Kill]


@dataclass(frozen=True)
class Kind:
    """A kind of kill.

    Attributes:
        first: the first kill of each run, in turn, until all such moments were met; then any.
        share: of the runs.
    """

    name: str
    first: Iterator[Kill]
    draw: Draw
    share: float


def campaign(seed: int, runs: int, folder: Path, tallies: dict[str, Tally], progress: Callable[[str], None]) -> None:
    """Kill, start again and compare, so many times.

    Args:
        seed: of the records, the moments, and what else differs from start to start.
        folder: of the zones; those of runs with differences stay.
        tallies: get what it comes to, by kind, run by run.
    """
    source = random.Random(seed)
    with Zygote(seed) as zygote, DfsServer() as server:
        local = Chains(zygote, folder / "local", local_place)
        remote = Chains(zygote, folder / "remote", lambda own: remote_place(server, own), server)
        calms = [(local, local.calm(), _local_kinds), (remote, remote.calm(), _remote_kinds)]
        kinds = [(chains, calm, kind) for chains, calm, kinds in calms for kind in kinds(calm, source)]
        shares = shared_out(runs, [kind.share for _, _, kind in kinds])
        for (chains, calm, kind), share in zip(kinds, shares, strict=True):
            tally = tallies[kind.name] = Tally()
            _run_kind(chains, calm, kind, share, source, tally, progress)


def _run_kind(
    chains: Chains,
    calm: Calm,
    kind: Kind,
    runs: int,
    source: random.Random,
    tally: Tally,
    progress: Callable[[str], None],
) -> None:
    for number in range(1, 6 * runs + 1):
        if tally.runs == runs:
            break
        kill = next(kind.first, None) or kind.draw(source)
        more = [kind.draw(source) for _ in range(source.randrange(_MOST_KILLS))]
        chains.run([kill, *more], calm, source, f"{kind.name}, run {number}", tally)
        if tally.runs % 25 == 0 or tally.runs == runs:
            progress(
                f"{kind.name}: {tally.runs} of {runs} runs, {tally.kills.total()} kills, {len(tally.failed)} wrong"
            )


def _local_kinds(calm: Calm, source: random.Random) -> list[Kind]:
    requests, operations = calm.ended.requests, calm.ended.file_operations
    return [
        _failpoints("disk: at a failpoint", 0.15),
        Kind(
            "disk: at a storage request",
            iter(_shuffled([AtRequest(n, after) for n in range(1, requests + 1) for after in (False, True)], source)),
            lambda drawn: AtRequest(drawn.randint(1, requests), drawn.random() < 0.5),
            0.2,
        ),
        Kind(
            "disk: at a file operation",
            iter(_shuffled([AtFileOperation(number) for number in range(1, operations + 1)], source)),
            lambda drawn: AtFileOperation(drawn.randint(1, operations)),
            0.2,
        ),
        _moments("disk: at a random moment", calm, 0.25),
    ]


def _remote_kinds(calm: Calm, source: random.Random) -> list[Kind]:
    requests = calm.http_requests
    return [
        _failpoints("OneLake: at a failpoint", 0.04),
        Kind(
            "OneLake: in an HTTP request",
            iter(
                _shuffled([AtHttpRequest(n, after) for n in range(1, requests + 1) for after in (False, True)], source)
            ),
            lambda drawn: AtHttpRequest(drawn.randint(1, requests), drawn.random() < 0.5),
            0.11,
        ),
        _moments("OneLake: at a random moment", calm, 0.05),
    ]


def _failpoints(name: str, share: float) -> Kind:
    passages = (AtFailpoint(point, passage) for passage in itertools.count(1) for point in POINTS)
    return Kind(
        name,
        itertools.islice(passages, 4 * len(POINTS)),
        lambda drawn: AtFailpoint(drawn.choice(POINTS), 1 + int(drawn.expovariate(0.4))),
        share,
    )


def _moments(name: str, calm: Calm, share: float) -> Kind:
    return Kind(name, iter(()), lambda drawn: AtMoment(drawn.uniform(0.0, _LATEST * calm.ended.seconds)), share)


def _shuffled(kills: list[Kill], source: random.Random) -> list[Kill]:
    source.shuffle(kills)
    return kills
