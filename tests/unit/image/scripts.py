"""The Python programs of the image, which belong to no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docker"


def script(name: str) -> ModuleType:
    """A program of ``docker/`` as a module."""
    spec = importlib.util.spec_from_file_location(f"image_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
