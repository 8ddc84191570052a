"""The kernel's extension module, where it has been built."""

from __future__ import annotations

from pathlib import Path

from connectors.extension import Extension, load

Kernel = Extension
"""The functions of ``kernel.h``."""

KERNEL: Kernel | None = load(
    f"{__package__}._kernel",
    Path(__file__).parent,
    "kernel",
    "Avro is decoded without its kernel, at a fiftieth of the speed",
)
"""``None`` where there is no extension module, or none for this version: it was installed without a C compiler."""
