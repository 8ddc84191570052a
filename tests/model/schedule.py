"""One run of the model: processes on threads of which one moves at a time, and a choice before each of its requests.

Whoever makes a request first chooses what happens now: the request is carried out, fails, is lost on the way there or
back, kills its process; another process goes on; the replicator moves a file; a request of long ago arrives. What is
chosen comes from the explorer. A run ends when no process is alive any more; what the disks hold then is a world from
which other runs begin.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from connectors.errors import BridgeError, Transient
from connectors.landing_zone.errors import (
    FencedError,
    InvalidZoneError,
    LedgerBehindError,
    LedgerCorruptError,
    LedgerWholeError,
    PathNotFoundError,
    StorageError,
    ZoneOwnedError,
)
from connectors.landing_zone.ledger.owner import OWNER_FILE
from tests.model.moves import CARRY_ON, END, FAULTS, Crash, Option, Outcome, Process, Stop, let_go, locked
from tests.model.order import commute
from tests.model.process import drive, rebuild
from tests.model.promises import PromiseBroken
from tests.model.world import ANY, Call, World

LOST_LEDGER_ERRORS = (LedgerCorruptError, LedgerBehindError, ZoneOwnedError)
"""What a driver may end with while the ledger is lost."""


class Run:
    """A run from a world, under the choices of an explorer.

    Attributes:
        told: what was chosen, for a person; broken: the promise that was broken.
        stopped: it was given up; ended: it came to where nothing was left to do.

    Args:
        world: where it begins; changed by the run.
        choose: told the key of this moment, who sleeps, and how many options there are, says which is taken; may raise
            :class:`Stop`.
    """

    def __init__(self, world: World, choose: Callable[[tuple[object, ...], frozenset[str], int], int]) -> None:
        self.world = world
        self.told: list[str] = []
        self.broken: BaseException | None = None
        self.stopped = False
        self.ended = False
        self._choose = choose
        self._alive: list[Process] = []
        self._current: Process | None = None
        self._names: set[str] = set()
        self._over = locked()
        self._threads: list[threading.Thread] = []

    def go(self) -> None:
        """Run until no process is alive; ``broken`` says which promise was, if any."""
        try:
            first = self._decide(None)
        except Stop:
            return
        except PromiseBroken as error:
            self.broken, self.stopped = error, True
            return
        if not isinstance(first, Process):
            return
        # Where one process is alive at a time, nothing is handed over from thread to thread.
        self._run(first)
        if self._threads:
            self._over.acquire()
            self._wake_all()
            for thread in self._threads:
                thread.join()

    def _wake_all(self) -> None:
        for process in list(self._alive):
            let_go(process.turn)

    # What a process does.

    def _run(self, process: Process) -> None:
        process.turn.acquire()
        try:
            if self.stopped:
                return
            self._live(process)
        except (Stop, Crash):
            pass
        except BaseException as error:
            self.broken, self.stopped = self.broken or error, True
        finally:
            self._end(process)

    def _live(self, process: Process) -> None:
        def send(call: Call) -> Any:
            return self._request(process, call)

        def at_rest(memory: object) -> None:
            process.heard = hash(memory)

        try:
            if process.kind == "driver":
                drive(process.name, self.world.left.cuts[process.cut], send, at_rest)
                self._settle(process)
            else:
                rebuild(send)
                self.world.made_again()
        except Transient as error:
            self._tell(f"{process.name} gives up: {type(error).__name__}")
            if not process.hindered:
                raise PromiseBroken(f"{process.name} gives up, although nothing hinders it: {error}") from error
        except BridgeError as error:
            self._tell(f"{process.name} stops: {type(error).__name__}")
            self._require_right(process, error)

    def _settle(self, process: Process) -> None:
        self._tell(f"{process.name} has landed everything")
        if not self.world.seen.complete(self.world.left.cuts[0][-1]):
            raise PromiseBroken(f"{process.name} has nothing left to land, but {self.world.seen} is seen")
        self.world.settled = True

    def _require_right(self, process: Process, error: BridgeError) -> None:
        world = self.world
        if isinstance(error, FencedError):
            others = world.seen.writer.partition("/")[0] != process.name
            if others or world.lost or world.losses:
                return
        elif process.kind == "operator" and isinstance(error, LedgerWholeError):
            world.none_is_lost()
            return
        elif process.kind == "operator" and isinstance(error, InvalidZoneError) and OWNER_FILE not in world.zone_files:
            world.empty_state()
            return
        elif process.kind == "operator" and isinstance(error, ZoneOwnedError):
            if world.squatted and not any(world.seen.last.values()):
                world.start_over()
                return
        elif process.kind == "driver" and self._knows_lost(process) and isinstance(error, LOST_LEDGER_ERRORS):
            world.refused = True
            return
        raise PromiseBroken(f"{process.name} stops with {type(error).__name__}: {error}") from error

    def _knows_lost(self, process: Process) -> bool:
        """Whether the ledger is lost, or was while the process was alive already."""
        return self.world.lost or process.losses < self.world.losses

    def _request(self, process: Process, call: Call) -> Any:
        process.asking = call
        chosen = self._decide(process)
        assert isinstance(chosen, Outcome)
        process.hindered |= chosen is not CARRY_ON
        world = self.world
        if chosen.late and not (world.lost and call.disk == "state"):
            world.late = (*world.late, (process.name, call))
        answer: Any = None
        refused: PathNotFoundError | None = None
        if chosen.effect:
            world.settled = world.settled and not call.writes
            if call.writes:
                self._hinder(process)
            for other in self._alive:
                other.asleep = other.asleep and other.asking is not None and commute(other.asking, call)
            try:
                answer = world.apply(call, of_lost=process.losses < world.losses)
            except PathNotFoundError as error:
                refused = error
        if chosen.dies:
            raise Crash
        if not chosen.answer:
            process.heard = hash((process.heard, "error"))
            error = StorageError("The storage did not answer", file=str(call), remedy="try again")
            error.retry_after = 0.0
            raise error
        process.heard = hash((process.heard, call.method, _plain(answer), refused is None))
        if refused is not None:
            raise refused
        return answer

    # Who goes on.

    def _decide(self, process: Process | None) -> object:
        """Let what is chosen happen until it is the turn of this process; None when there is none in hand."""
        while True:
            if self.stopped:
                raise Stop
            options = self._options(process)
            self._current = process
            try:
                asleep = frozenset(one.name for one in self._alive if one.asleep)
                chosen = options[self._choose(self._key(), asleep, len(options))]
            except Stop:
                self.stopped = True
                raise
            if chosen.told:
                self._tell(chosen.told if isinstance(chosen.told, str) else chosen.told())
            result = chosen.apply()
            if result is END:
                self.ended = True
                return None
            if isinstance(result, Process):
                if process is not None:
                    process.asleep = self._may_sleep() and result.asking is not None
                result.turn.release()
                if process is None:
                    return result
                process.turn.acquire()
            elif result is not None:
                return result

    def _end(self, process: Process) -> None:
        self._alive.remove(process)
        if not self.stopped and self._alive:
            try:
                self._decide(None)
            except Stop:
                self.stopped = True
            except PromiseBroken as error:
                self.broken, self.stopped = error, True
            else:
                return
        if self.stopped:
            self._wake_all()
        let_go(self._over)

    def _start(self, kind: str, cut: int = 0) -> Process:
        world = self.world
        if kind == "driver" and self._alive:
            self._spend("rivals")
        taken = self._names | {sender for sender, _ in world.late}
        place = f"{kind}-{world.losses}-{world.newest()}"
        name = next(name for count in range(1000) if (name := f"{place}-{count}") not in taken)
        self._names.add(name)
        world.settled = False
        process = Process(name, kind, cut, world.losses)
        self._alive.append(process)
        if len(self._alive) > 1:
            thread = threading.Thread(target=self._run, args=(process,), daemon=True)
            self._threads.append(thread)
            thread.start()
        return process

    def _options(self, process: Process | None) -> list[Option]:
        world = self.world
        operating = any(one.kind == "operator" for one in self._alive)
        options = self._own(process) if process is not None else []
        may_leave = process is None or (world.left.preemptions > 0 and process.kind != "operator")
        if may_leave:
            spend = (lambda: None) if process is None else (lambda: self._spend("preemptions"))
            for other in self._alive:
                if other is not process and not other.asleep and not (operating and other.kind != "operator"):
                    options.append(Option(f"{other.name} goes on", lambda other=other: (spend(), other)[1]))
            if not operating:
                options += self._starts(process, spend)
        if process is None and not self._alive and world.settled:
            options.append(Option("", lambda: END))
        return options + self._happenings()

    def _own(self, process: Process) -> list[Option]:
        call = process.asking
        assert call is not None
        options = [Option("", lambda: CARRY_ON)]
        if self.world.left.faults > 0:
            for told, fault in FAULTS.items():
                if call.writes or told == "fails":
                    say = partial("{}: {} {}".format, process.name, call, told)
                    options.append(Option(say, lambda fault=fault: (self._spend("faults"), fault)[1]))
        return options

    def _starts(self, process: Process | None, spend: Callable[[], None]) -> list[Option]:
        world = self.world
        if world.settled or len(self._alive) >= world.left.drivers or (self._alive and not world.left.rivals):
            return []
        again = Option("somebody makes the ledger again", lambda: (spend(), self._start("operator"))[1])
        cuts = range(len(world.left.cuts) if world.left.recuts > 0 else 1)
        if world.lost and world.refused:
            return [again]
        return [again] * world.lost + [
            Option(
                f"a driver starts, its source cuts {world.left.cuts[cut]}",
                lambda cut=cut: (spend(), cut and self._spend("recuts"), self._start("driver", cut))[2],
            )
            for cut in cuts
        ]

    def _happenings(self) -> list[Option]:
        world = self.world
        options = []
        for index, (sender, call) in enumerate(world.late):
            say = partial("{} of {} arrives".format, call, sender)
            options.append(Option(say, lambda index=index: self._unsettle(world.deliver(index))))
        if world.left.consumed > 0:
            for told, move in world.replicator_moves().items():
                options.append(Option(told, lambda move=move: self._unsettle(self._spend("consumed"), move())))
        if world.left.losses > 0 and not world.lost:
            for told, lose in world.ledger_losses().items():
                options.append(Option(told, lambda lose=lose: self._unsettle(self._spend("losses"), lose())))
        return options

    def _may_sleep(self) -> bool:
        """Where leaving costs nothing and a request has one outcome, its order with another is all that there is."""
        return self.world.left.preemptions == ANY and not self.world.left.faults

    def _unsettle(self, *done: object) -> None:
        self.world.settled = False
        self._hinder(None)
        for process in self._alive:
            process.asleep = False

    def _hinder(self, by: Process | None) -> None:
        for process in self._alive:
            process.hindered |= process is not by

    def _spend(self, part: str) -> None:
        self.world.left = self.world.left.without(part)

    def _key(self) -> tuple[object, ...]:
        current = None if self._current is None else self._current.name
        return (current, tuple(sorted(one.key() for one in self._alive)), self.world.key())

    def _tell(self, what: str) -> None:
        self.told.append(what)


def _plain(answer: object) -> object:
    return tuple(answer) if isinstance(answer, list) else answer
