"""The decoder's kernels for tests: they have to be there, or what is compared with them is nothing."""

from __future__ import annotations

from connectors.debezium.kernels import Kernels
from tests.support import avro_kernel, json_kernel


def built() -> Kernels:
    """All of them.

    Raises:
        AssertionError: one is not there.
    """
    return Kernels(json_kernel.built(), avro_kernel.built())
