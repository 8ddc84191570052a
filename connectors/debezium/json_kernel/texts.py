"""Records as the kernel takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from connectors.debezium.json_kernel.native import Kernel

Given = TypeVar("Given")


class InOneBuffer(Protocol):
    """Texts of which each is a part of ``content``."""

    @property
    def content(self) -> npt.NDArray[np.uint8]: ...

    @property
    def starts(self) -> npt.NDArray[np.int64]: ...

    @property
    def ends(self) -> npt.NDArray[np.int64]: ...


@dataclass(frozen=True)
class Texts:
    """A ``json_texts``, and what it points to."""

    pointer: Any
    held: tuple[Any, ...]

    def call(self, function: Callable[..., Given], *arguments: object) -> Given:
        """What a function of the kernel says of these texts, which live until it has."""
        return function(self.pointer, *arguments)


def texts_of(bodies: InOneBuffer, kernel: Kernel) -> Texts:
    """The texts for the kernel, which live as long as what this gives."""
    starts, ends = np.ascontiguousarray(bodies.starts), np.ascontiguousarray(bodies.ends)
    buffer = kernel.ffi.from_buffer
    held = (buffer("uint8_t[]", bodies.content), buffer("int64_t[]", starts), buffer("int64_t[]", ends))
    pointer = kernel.ffi.new("json_texts *", (held[0], len(bodies.content), held[1], held[2], len(starts)))
    return Texts(pointer, held)
