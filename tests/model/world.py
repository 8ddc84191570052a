"""What outlives every process: two disks, requests that are still on their way, and what may yet go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.ledger.owner import OWNER_FILE
from connectors.landing_zone.ledger.version_file import FOLDER
from tests.model.disks import BareStorage, Files, WatchedDisk
from tests.model.promises import LedgerWitness, Seen, ZoneWitness
from tests.model.shop import CUTS, TABLES, Cut, folder_of

READS = frozenset({"read", "stat", "list"})
ANY = 1 << 30
"""A bound that is not used up."""


class Call(NamedTuple):
    """One request of the storage protocol.

    Attributes:
        disk: ``zone`` or ``state``.
        arguments: the path last but for content, as in the protocol.
    """

    disk: str
    method: str
    arguments: tuple[Any, ...]

    @property
    def writes(self) -> bool:
        return self.method not in READS

    def __str__(self) -> str:
        shown = [argument for argument in self.arguments if isinstance(argument, str)]
        return f"{self.disk}.{self.method}({' -> '.join(shown)})"


class Bounds(NamedTuple):
    """What may still happen on the way; every part is used up one by one.

    Attributes:
        faults: crashes, errors, lost answers and late requests.
        preemptions: times that another process goes on although the one in hand could.
        drivers: that are alive at the same time; rivals: that start while another one is alive.
        consumed: moves of the replicator: a file to its cleanup folder, or that folder emptied.
        losses: of the ledger: all of it, or its newest version damaged.
        recuts: processes whose source cuts the batches differently.
        takes_last: 1 where the replicator also takes each table's last file; it empties no folder then, as one that
            keeps what it has read for days.
        cuts: how a source may plan the events, all to the same end; the first is the usual one.
    """

    faults: int = 0
    preemptions: int = 0
    drivers: int = 1
    consumed: int = 0
    losses: int = 0
    recuts: int = 0
    takes_last: int = 0
    rivals: int = ANY
    cuts: tuple[Cut, ...] = CUTS

    def without(self, part: str) -> Bounds:
        had = getattr(self, part)
        return self if had == ANY else self._replace(**{part: had - 1})


@dataclass
class World:
    """Both disks, watched.

    Attributes:
        late: requests whose sender has given them up or died, and that may still take effect, with the sender's name.
        settled: the last process that ran to its end had nothing left to do, and nothing has happened since.
        lost: the ledger is lost and not made again yet; losses: how often it was lost.
        not_lost: a person who wanted to make it again was told that there is none, or that it is whole; woken: a driver
            of the lost ledger, whose doing that was, has gone on since: it has made the zone its ledger's, or taken its
            version back. If the zone has an owner and the state storage no version then, the ledger is lost still.
        squatted: what a driver of the lost ledger has written is where that was, so that another may have begun there.
        refused: a driver has stopped because of that, so that no other one starts before it is made again.
        troubled: more than the loss of a ledger may happen to it.
        told: how this moment was reached, for a person.
    """

    left: Bounds
    state_files: Files = field(default_factory=Files)
    zone_files: Files = field(default_factory=Files)
    seen: Seen = field(default_factory=Seen)
    late: tuple[tuple[str, Call], ...] = ()
    settled: bool = False
    lost: bool = False
    not_lost: bool = False
    woken: bool = False
    losses: int = 0
    squatted: bool = False
    refused: bool = False
    troubled: bool = False
    told: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._ledger_witness = LedgerWitness(self.seen, self.state_files, self.zone_files)
        self.state_files.witness = self._ledger_witness
        self._zone_witness = ZoneWitness(self.seen, self.zone_files)
        self.zone_files.witness = self._zone_witness
        self._bare = {
            "state": BareStorage(WatchedDisk(self.state_files)),
            "zone": BareStorage(WatchedDisk(self.zone_files)),
        }

    def copied(self) -> World:
        return replace(
            self, state_files=self.state_files.copied(), zone_files=self.zone_files.copied(), seen=self.seen.copied()
        )

    def key(self) -> tuple[object, ...]:
        """Equal for two moments that no process can tell apart, whatever is yet to happen."""
        late = tuple(sorted((sender, hash(call)) for sender, call in self.late))
        return (
            self.state_files.digest,
            self.zone_files.digest,
            self.seen.key(),
            late,
            self.settled,
            self.lost,
            self.not_lost,
            self.woken,
            self.losses,
            self.squatted,
            self.refused,
        )

    def apply(self, call: Call, *, of_lost: bool = False) -> Any:
        """The effect of a request, and its answer.

        Args:
            of_lost: its sender began before the ledger was lost.
        """
        answer = getattr(self._bare[call.disk], call.method)(*call.arguments)
        if call.disk == "state" and call.writes:
            self.squatted = self.newest() > 0 and (self.squatted or (self.lost and of_lost))
        self.woken = self.woken or (self.not_lost and of_lost and call.writes)
        if self.woken and OWNER_FILE in self.zone_files and not self.newest():
            self.lost, self.refused, self.not_lost, self.woken = True, False, False, False
        return answer

    def deliver(self, index: int) -> None:
        """A late request takes effect; nobody hears the answer."""
        _, call = self.late[index]
        self.late = (*self.late[:index], *self.late[index + 1 :])
        try:
            self.apply(call)
        except PathNotFoundError:
            return

    def newest(self) -> int:
        """The highest number of a version file; 0 without any."""
        numbers = [path for path in self.state_files if path.startswith(f"{FOLDER}/")]
        return int(max(numbers).rpartition("/")[2].removesuffix(".json")) if numbers else 0

    def replicator_moves(self) -> dict[str, Callable[[], None]]:
        """What the replicator may do next: it takes files in order."""
        moves: dict[str, Callable[[], None]] = {}
        for table in TABLES:
            folder = folder_of(table)
            lying = sorted(path for path in self.zone_files if path.startswith(f"{folder}/0"))
            if len(lying) > (0 if self.left.takes_last else 1):
                moves[f"the replicator moves {lying[0]}"] = lambda path=lying[0]: self._consume(path)
            done = [path for path in self.zone_files if path.startswith(f"{folder}/_ProcessedFiles/")]
            if done and not self.left.takes_last:
                moves[f"the replicator cleans up {folder}"] = lambda done=done: self._clean(done)
        return moves

    def ledger_losses(self) -> dict[str, Callable[[], None]]:
        """How the ledger may be lost now."""
        versions = sorted(path for path in self.state_files if path.startswith(f"{FOLDER}/"))
        if not versions:
            return {}
        return {
            "the whole ledger is lost": lambda: self._lose(versions, damaged=False),
            "the newest version of the ledger is damaged": lambda: self._lose(versions[-1:], damaged=True),
        }

    def made_again(self) -> None:
        """The ledger is made again."""
        self.lost = self.not_lost = self.woken = self.squatted = False
        self._forget_late_writes_to_the_ledger()

    def none_is_lost(self) -> None:
        """A person is told that no ledger is lost."""
        self.lost, self.not_lost = False, True

    def empty_state(self) -> None:
        """A person empties the state storage of a zone that nobody has ever filled."""
        self._ledger_witness.lossy = True
        for path in list(self.state_files):
            del self.state_files[path]
        self._ledger_witness.lossy = False
        self.seen.forget_ledger()
        self.late = ()
        self.refused = self.squatted = False
        self.none_is_lost()

    def start_over(self) -> None:
        """A person takes an empty zone instead of one that a lost ledger owns and that shows no file yet."""
        self.seen.bound.clear()
        with self._given_away():
            for path in list(self.zone_files):
                del self.zone_files[path]
        self.empty_state()

    def _forget_late_writes_to_the_ledger(self) -> None:
        self.late = tuple((sender, call) for sender, call in self.late if call.disk == "zone")

    def _consume(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        body = self.zone_files[path]
        with self._given_away():
            self.zone_files[f"{folder}/_ProcessedFiles/{name}"] = body
            del self.zone_files[path]

    def _clean(self, paths: list[str]) -> None:
        with self._given_away():
            for path in paths:
                del self.zone_files[path]

    @contextmanager
    def _given_away(self) -> Iterator[None]:
        self._zone_witness.given_away = True
        yield
        self._zone_witness.given_away = False

    def _lose(self, paths: list[str], *, damaged: bool) -> None:
        self.seen.lost = self.lost = True
        self.not_lost = self.woken = self.squatted = False
        self.seen.may_stand = self.troubled
        self.settled = False
        self.losses += 1
        self.refused = False
        self._forget_late_writes_to_the_ledger()
        self._ledger_witness.lossy = True
        for path in paths:
            if damaged:
                self.state_files[path] = self.state_files[path][: len(self.state_files[path]) // 2]
            else:
                del self.state_files[path]
        self._ledger_witness.lossy = False
