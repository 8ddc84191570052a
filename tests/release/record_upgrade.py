"""``python -m tests.release.record_upgrade v0.2.0``: what a tagged release leaves behind, for the test of upgrades.

The tag's own code runs the bridge, by its command line, in a process that sees nothing of this clone; its dependencies
are this environment's. Broker, records and registry are the tests' own. What is kept, as one archive per tag: Kafka's
folder (a broker that starts on a copy of it has the same topics with the same ids and offsets), zone, ledger,
checkpoint, the schemas of the registry and the rows that a mirror must have.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from connectors.failpoints import VARIABLE, Failpoint
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from tests.release.story import CHAPTERS, PARTITIONS, PAUSED, PREFIX, SETTINGS, Story
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

ROOT = Path(__file__).parents[2]
ARCHIVES = ROOT / "tests" / "golden" / "upgrade"
SIGKILLED = -9
_SECONDS = 300
# Of the last run: killed when it has renamed one file of those that the version names.
_KILL = {VARIABLE: f"{Failpoint.RENAME_BEFORE}:2"}


def record(tag: str, folder: Path) -> Path:
    """Run the tag's code in ``folder`` and pack what it leaves; returns the archive."""
    code = folder / "code"
    _check_out(tag, code)
    made = folder / "kept"
    with EmbeddedBroker(made / "broker", resolve_jars(JarSet.BROKER)) as broker, EmbeddedRegistry() as registry:
        _tell(code, made, Cluster(broker.bootstrap_servers), registry)
    return _pack(made, ARCHIVES / f"{tag}.tar.xz")


def _tell(code: Path, made: Path, cluster: Cluster, registry: EmbeddedRegistry) -> None:
    schemas: list[tuple[str, str]] = []

    def register(subject: str, schema: dict[str, Any]) -> int:
        text = json.dumps(schema, sort_keys=True)
        if (subject, text) not in schemas:
            schemas.append((subject, text))
        return registry.register(subject, text)

    story = Story(register)
    cluster.prefix = PREFIX
    for name, partitions in PARTITIONS.items():
        cluster.topic(name, partitions)
    bridge = Bridge(
        made / "bridge",
        None,
        **SETTINGS,
        kafka__bootstrap_servers=cluster.bootstrap_servers,
        registry__url=registry.url,
    )
    settings = bridge.write_settings(spark__conf={})
    load, change, pass_by = CHAPTERS
    load(story)
    cluster.send(*story.take())
    _run(code, settings)
    change(story)
    cluster.send(*story.take())
    _run(code, settings)
    _command(code, "pause", str(settings), PAUSED, "--no-wait")
    _run(code, settings)
    pass_by(story)
    cluster.send(*story.take())
    _run(code, settings, _KILL, wanted=SIGKILLED)
    (made / "story.json").write_text(story.to_json())
    (made / "schemas.json").write_text(json.dumps(schemas, indent=1))


def _check_out(tag: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", tag], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)


def _run(code: Path, settings: Path, environment: Mapping[str, str] | None = None, wanted: int = 0) -> None:
    _command(code, "run", str(settings), "--once", environment=environment, wanted=wanted)


def _command(code: Path, *arguments: str, environment: Mapping[str, str] | None = None, wanted: int = 0) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "streaming", *arguments],
        cwd=code,
        env={**os.environ, "PYTHONPATH": str(code), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != wanted:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}, not {wanted}:\n{done.stderr[-4000:]}")


def _pack(made: Path, archive: Path) -> Path:
    # Of Kafka only what a broker starts from; of this machine neither settings nor log.
    for name in ("server.properties", "broker.log"):
        (made / "broker" / name).unlink(missing_ok=True)
    (made / "bridge" / "bridge.yaml").unlink()
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz") as packed:
        for path in sorted(made.rglob("*")):
            if path.name not in (".lock", "cleaner-offset-checkpoint"):
                packed.add(path, str(path.relative_to(made)), recursive=False, filter=_nobody)
    return archive


def _nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main() -> None:
    """Record the release that the command line names; prints the archive and its size."""
    [tag] = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-upgrade-"))
    try:
        archive = record(tag, folder)
    finally:
        shutil.rmtree(folder)
    print(f"{archive.relative_to(ROOT)}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
