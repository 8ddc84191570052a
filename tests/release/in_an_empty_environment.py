"""``make release-test``: the wheel, installed by pip into an empty environment, runs the demo from an empty folder.

Apart from the other tests, since pip fetches pyspark and what else the wheel asks for: not the locked versions, but the
newest that its metadata allow, which is what a user gets.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.release.packages import build, time_of_commit, version_of_clone


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment with nothing but the wheel and what pip fetches for it."""
    built = build(tmp_path_factory.mktemp("dist"), version=version_of_clone(), epoch=time_of_commit())
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, str(built.wheel)], env=_clean(), check=True)
    return folder


def test_the_demo_runs_from_an_empty_folder(environment: Path, tmp_path: Path) -> None:
    done = _cdc_bridge(environment, tmp_path, "demo", "--rows", "60", "--changes", "400", "--json")
    assert done.returncode == 0, done.stderr[-4000:]
    outcome = json.loads(done.stdout)
    assert outcome["equal"] is True
    assert all(table["replayed"] == table["expected"] > 0 for table in outcome["tables"])
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_that_of_the_wheel(environment: Path, tmp_path: Path) -> None:
    done = _cdc_bridge(environment, tmp_path, "version", "--json")
    assert json.loads(done.stdout)["cdc-bridge"] == version_of_clone()


def test_an_option_that_needs_an_extra_says_so(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "bridge.yaml").write_text(
        "name: shop\n"
        "kafka: {bootstrap_servers: 'localhost:9', topics: [shop.public.orders]}\n"
        f"landing_zone: {{url: 'file://{tmp_path}/zone'}}\n"
        "lineage: {url: 'http://127.0.0.1:9'}\n"
    )
    done = _cdc_bridge(environment, tmp_path, "run", "bridge.yaml", "--once")
    assert done.returncode == 1
    assert "pip install openlineage-python" in done.stderr


def _cdc_bridge(environment: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(environment / "bin" / "cdc-bridge"), *arguments],
        cwd=folder,
        env=_clean(),
        capture_output=True,
        text=True,
        check=False,
    )


def _clean() -> dict[str, str]:
    """The environment without what points at this clone or its own environment."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME", "SPARK_HOME")
    return {name: value for name, value in os.environ.items() if name not in ours}
