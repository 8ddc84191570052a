"""A server that the tests start: one process on this machine, which does not outlive the process that started it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_POLL_SECONDS = 0.03
STOP_SECONDS = 20.0
_TAIL_LINES = 40
# Reads until the pipe ends, which is when the starting process is gone; then ends the server, first politely.
_WATCH = 'while read -r _; do :; done; kill -TERM "$0" 2>/dev/null && sleep 10 && kill -KILL "$0" 2>/dev/null'


class RigError(Exception):
    """A part of the rig is not there, did not start, or did not do in time what a test waits for."""


def until(condition: Callable[[], bool], what: str, *, seconds: float = 180.0, poll: float = _POLL_SECONDS) -> None:
    """Return once ``condition`` holds.

    Raises:
        RigError: it did not within ``seconds``; the message says what was waited for.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RigError(f"{what}: not within {seconds:.0f} s")
        time.sleep(poll)


class Server:
    """A child process that is ready once a condition says so.

    Args:
        name: in errors.
        command: program and arguments.
        log: file that takes its output.
        ready: whether it answers.
        stop_signal: asks it to end in an orderly way.
        environment: variables beside this process's own.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        ready: Callable[[], bool],
        stop_signal: signal.Signals = signal.SIGTERM,
        environment: Mapping[str, str] | None = None,
        start_timeout: float = 240.0,
    ) -> None:
        self.name = name
        self.log = log
        self._command = list(command)
        self._ready = ready
        self._stop_signal = stop_signal
        self._environment = {**os.environ, **(environment or {})}
        self._start_timeout = start_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def start(self, environment: Mapping[str, str] | None = None) -> None:
        """Start it and wait until it is ready.

        Args:
            environment: more variables, for this start only.

        Raises:
            RigError: it ended, or was not ready in time; the message holds the end of its log.
        """
        if self.pid is not None:
            return
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._environment, **(environment or {})},
                start_new_session=True,
            )
        self._watch = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH, str(self._process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            until(self._is_ready, f"{self.name} is ready", seconds=self._start_timeout)
        except RigError as problem:
            self.kill()
            raise RigError(f"{problem}. The end of its log:\n{self.tail()}") from problem

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """End it in an orderly way, or by force after ``timeout`` seconds. Harmless when it does not run."""
        self._end(self._stop_signal, timeout)

    def kill(self) -> None:
        """End it as a crash would (SIGKILL)."""
        self._end(signal.SIGKILL, 20.0)

    def tail(self, lines: int = _TAIL_LINES) -> str:
        """The end of its log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _is_ready(self) -> bool:
        if self.pid is None:
            code = None if self._process is None else self._process.returncode
            raise RigError(f"{self.name} ended with code {code}")
        return self._ready()

    def _end(self, how: signal.Signals, timeout: float) -> None:
        process, watch, self._process, self._watch = self._process, self._watch, None, None
        # The watch goes first: once the server is reaped its pid may be somebody else's.
        if watch is not None:
            watch.kill()
            watch.communicate()
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def find_program(name: str, folders: Sequence[str]) -> Path:
    """The executable on ``PATH`` or in one of the folders (patterns; of several the last by name).

    Raises:
        RigError: it is nowhere.
    """
    for pattern in folders:
        found = sorted(Path("/").glob(f"{pattern.lstrip('/')}/{name}"))
        if found:
            return found[-1]
    if on_path := shutil.which(name):
        return Path(on_path)
    raise RigError(
        f"{name} is not installed: say `make install-rig`, or install PostgreSQL and MariaDB server packages"
    )


class Account:
    """The user that a database server runs as: none of them starts as root.

    Args:
        names: users to try, where this process is root; otherwise it is this process's own.
    """

    def __init__(self, *names: str) -> None:
        self._entry = next(filter(None, map(_entry, names)), None) if os.geteuid() == 0 else None
        if os.geteuid() == 0 and self._entry is None:
            raise RigError(f"none of the users {', '.join(names)} exists, and databases do not start as root")

    def command(self, *words: str) -> list[str]:
        """The command, as this user."""
        if self._entry is None:
            return list(words)
        ids = [f"--reuid={self._entry.pw_uid}", f"--regid={self._entry.pw_gid}", "--clear-groups"]
        return ["setpriv", *ids, *words]

    def run(self, program: Path, *words: str, folder: Path) -> None:
        """Run a program to its end in the folder, as this user.

        Raises:
            RigError: it failed; the message holds what it said.
        """
        command = self.command(str(program), *words)
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        if done.returncode != 0:
            raise RigError(f"{program.name} failed: {done.stdout}{done.stderr}")

    def folder(self, name: str) -> Path:
        """A new folder outside of pytest's (which only this process's user may enter), owned by the user."""
        path = Path(tempfile.mkdtemp(prefix=f"cdc-bridge-{name}-"))
        if self._entry is not None:
            os.chown(path, self._entry.pw_uid, self._entry.pw_gid)
        return path


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None
