"""How C becomes extension modules, which setup.py names: the kernels that read JSON and Avro, and what copies Kafka's
messages.

They keep to CPython's stable interface, so that one serves every version that the bridge runs on. They are optional:
where there is no C compiler, or no headers of Python's, records are decoded and Kafka is read without them. Nothing
of the folder that they are built in gets into them, and each says which sources it was built of: others make other
columns.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from cffi import FFI


def _digest(sources: bytes) -> int:
    """As connectors/extension.py has it, which cannot be imported before its packages are installed."""
    return int.from_bytes(hashlib.sha256(sources).digest()[:7], "big")


def _extension(folder: str, name: str) -> FFI:
    header, source = (Path(folder, f"{name}.{suffix}") for suffix in ("h", "c"))
    ffi = FFI()
    ffi.cdef(header.read_text() + "\n#define SOURCES ...\n")
    ffi.set_source(
        f"{folder.replace('/', '.')}._{name}",
        f'#include <stdint.h>\n#include <stddef.h>\n#include "{name}.h"\n'
        f"#define SOURCES INT64_C({_digest(header.read_bytes() + source.read_bytes())})",
        sources=[str(source)],
        depends=[str(header)],
        include_dirs=[folder],
        extra_compile_args=["-std=c99", "-O3", "-g0", "-fno-strict-aliasing"],
        # Only the GNU linker writes a build id, and only it knows the option.
        extra_link_args=["-Wl,--build-id=none"] if sys.platform == "linux" else [],
        optional=True,
        py_limited_api=True,
    )
    return ffi


json_kernel = _extension("connectors/debezium/json_kernel", "kernel")
avro_kernel = _extension("connectors/debezium/avro_kernel", "kernel")
messages = _extension("connectors/kafka/reading", "messages")
