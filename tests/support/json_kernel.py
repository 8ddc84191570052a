"""The JSON kernel for tests: it has to be there, or what is compared with it is nothing."""

from __future__ import annotations

from connectors.debezium.json_kernel.native import KERNEL, Kernel
from tests.support.c_compiler import COMPILER, WITHOUT


def built() -> Kernel:
    """The kernel.

    Raises:
        AssertionError: there is no C compiler; or there is, and no kernel, or one of another version of its sources.
    """
    assert COMPILER is not None, WITHOUT
    assert KERNEL is not None, "make extensions builds it, or says why not"
    return KERNEL
