"""The command lines of all programs below a process, written down by the programs themselves when they start.

So none is missed, however short it lives. It takes a C compiler, and programs that are linked dynamically.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.c_compiler import COMPILER, WITHOUT, shared_object

_PLACE = "STARTED_PROGRAMS"
_SOURCE = f"""
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void write_down(void) {{
    static char line[1 << 20];
    const char *place = getenv("{_PLACE}");
    int from = open("/proc/self/cmdline", O_RDONLY), to = place ? open(place, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    ssize_t length = 0, more;
    while (length < (ssize_t)sizeof line - 1 && (more = read(from, line + length, sizeof line - 1 - length)) > 0)
        length += more;
    line[length] = '\\n';
    if (to >= 0 && write(to, line, length + 1) < 0)
        abort();
    close(from);
    close(to);
}}
"""


class StartedPrograms:
    """Where they are written down, in a folder of its own.

    Attributes:
        environment: variables for the process.
    """

    def __init__(self, folder: Path) -> None:
        assert COMPILER is not None, WITHOUT
        self._place = folder / "started"
        library = shared_object(folder / "started.so", _SOURCE)
        self.environment = {"LD_PRELOAD": str(library), _PLACE: str(self._place)}

    def lines(self) -> bytes:
        """A line for each, with NUL between its words."""
        return self._place.read_bytes() if self._place.exists() else b""
