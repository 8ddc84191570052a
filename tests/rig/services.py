"""``make services``: Kafka and Kafka Connect with Debezium on this machine, in the foreground, for the tutorial.

Both come from pinned archives (:mod:`connectors.kafka.jars`), listen on the loopback interface at free ports, keep
everything in a temporary folder, and end with Ctrl-C. Where they answer is written to a file that a shell can read,
beside the settings of the PostgreSQL client (``PGHOST`` and so on) that were found in the environment: so
``pg_virtualenv make services`` hands its database on to another terminal.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from connectors.errors import BridgeError
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from tests.rig.server import RigError
from tests.rig.worker import ConnectWorker

POSTGRES_VARIABLES = ("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD")
READY = "Ready. Ctrl-C ends everything."


def addresses(bootstrap_servers: str, connect: str, environ: Mapping[str, str]) -> str:
    """Shell commands that export where the services are: ``KAFKA``, ``CONNECT`` and PostgreSQL's own variables."""
    postgres = {name: environ[name] for name in POSTGRES_VARIABLES if name in environ}
    found = {"KAFKA": bootstrap_servers, "CONNECT": connect, **postgres}
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in found.items())


def serve(file: Path) -> None:
    """Start both, write ``file``, wait to be interrupted, end both and remove the file.

    Raises:
        BridgeError, RigError: a server cannot be had or does not start.
    """
    _say("Kafka, Kafka Connect and Debezium: fetched once, 150 MB")
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-services-") as name:
        folder = Path(name)
        jars = resolve_jars(JarSet.BROKER, progress=_say)
        for jar_set in (JarSet.CONNECT, JarSet.DEBEZIUM, JarSet.AVRO_CONVERTER):
            resolve_jars(jar_set, progress=_say)
        _say("starting Kafka")
        with EmbeddedBroker(folder / "kafka", jars) as broker:
            worker = ConnectWorker(folder / "connect", broker.bootstrap_servers)
            try:
                _say("starting Kafka Connect: it looks for its plugins first, half a minute")
                worker.start()
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch(mode=0o600)  # it may hold the database's password
                file.write_text(addresses(broker.bootstrap_servers, worker.url, os.environ))
                _say(f"Kafka          {broker.bootstrap_servers}")
                _say(f"Kafka Connect  {worker.url}")
                if "PGHOST" in os.environ:
                    _say(f"PostgreSQL     {os.environ['PGHOST']}:{os.environ.get('PGPORT', '5432')}")
                _say(READY)
                signal.pause()
            finally:
                file.unlink(missing_ok=True)
                worker.stop()


def main(file: Path) -> int:
    """Exit code 0 when it was interrupted, 1 when something did not start; the reason goes to standard error."""
    # A shell that starts it in the background without job control lets it ignore the interrupt.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        serve(file)
    except KeyboardInterrupt:
        return 0
    except (BridgeError, RigError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
