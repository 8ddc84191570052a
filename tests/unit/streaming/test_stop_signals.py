"""The first signal asks for an orderly end, the second one ends at once."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from streaming.stop_signals import SIGNALS, StopOnSignals, installed


class Process:
    """What a process that gets signals has done."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.told = threading.Event()
        self.names: list[str] = []
        self.ended: list[int] = []
        self.signals = StopOnSignals(self.stopped.set, self.tell, self.ended.append)

    def tell(self, name: str) -> None:
        self.names.append(name)
        self.told.set()


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_asks_to_stop_and_says_so(number: signal.Signals) -> None:
    process = Process()
    with installed(process.signals):
        os.kill(os.getpid(), number)
        assert process.told.wait(120)
    assert process.stopped.is_set()
    assert process.names == [number.name]
    assert process.ended == []


def test_the_second_signal_ends_at_once() -> None:
    process = Process()
    with installed(process.signals):
        os.kill(os.getpid(), signal.SIGTERM)
        assert process.told.wait(120)
        os.kill(os.getpid(), signal.SIGINT)
        signal.sigpending()
    assert process.ended == [128 + signal.SIGINT]


def test_afterwards_signals_do_what_they_did() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with installed(Process().signals):
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_whoever_takes_a_signal_meanwhile_loses_it_again() -> None:
    process = Process()
    with installed(process.signals) as signals:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signals.install()
        os.kill(os.getpid(), signal.SIGINT)
        assert process.told.wait(120)
    assert process.names == ["SIGINT"]
