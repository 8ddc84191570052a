"""JSON texts of many records, left where Arrow keeps them; bytes are made only of those that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.events import Int64s
from connectors.debezium.json_kernel.native import Kernel
from connectors.debezium.json_kernel.texts import texts_of


class Bodies:
    """n texts, each a part of one buffer.

    Args:
        content: the buffer.
        starts, ends: of each text in it.
    """

    def __init__(self, content: npt.NDArray[np.uint8], starts: Int64s, ends: Int64s) -> None:
        self.content = content
        self.starts = starts
        self.ends = ends
        self._listed: list[bytes] | None = None

    @classmethod
    def of_array(cls, payloads: pa.BinaryArray, rows: Int64s) -> Bodies:
        """The payloads at ``rows``, ascending, none of which is null."""
        _, offsets_buffer, bytes_buffer = payloads.buffers()
        offsets = np.frombuffer(offsets_buffer, np.int32, len(payloads) + 1, payloads.offset * 4).astype(np.int64)
        content = np.frombuffer(bytes_buffer or b"", np.uint8)
        if len(rows) == len(payloads):
            return cls(content, offsets[:-1], offsets[1:])
        return cls(content, offsets[rows], offsets[rows + 1])

    @classmethod
    def of_texts(cls, texts: Sequence[bytes]) -> Bodies:
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
        starts = np.concatenate([np.zeros(1, dtype=np.int64), ends])[: len(texts)]
        return cls(np.frombuffer(b"".join(texts), np.uint8), starts, ends)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, place: int) -> bytes:
        if self._listed is not None:
            return self._listed[place]
        return self.content[self.starts[place] : self.ends[place]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return map(self.__getitem__, range(len(self)))

    def listed(self) -> list[bytes]:
        """All texts."""
        if self._listed is None:
            view = self.content.data
            spans = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
            self._listed = [view[start:end].tobytes() for start, end in spans]
        return self._listed

    def select(self, places: Int64s) -> Bodies:
        """The texts at ``places``."""
        return Bodies(self.content, self.starts[places], self.ends[places])

    def part(self, start: int, stop: int) -> Bodies:
        """The texts from ``start`` up to ``stop``."""
        return Bodies(self.content, self.starts[start:stop], self.ends[start:stop])

    def are_framed(self, prefix: bytes, suffix: bytes, kernel: Kernel | None) -> bool:
        """Whether all texts start with the prefix and end, behind it, with the suffix."""
        if kernel is None:
            return (
                bool((self.ends - self.starts >= len(prefix) + len(suffix)).all())
                and all(map(bytes.startswith, self.listed(), repeat(prefix)))
                and (not suffix or all(map(bytes.endswith, self.listed(), repeat(suffix))))
            )
        texts = texts_of(self, kernel)
        return bool(texts.call(kernel.lib.json_framed, prefix, len(prefix), suffix, len(suffix)))

    def without(self, prefix: int, suffix: int) -> Bodies:
        """The texts without so many bytes at their starts and ends."""
        return Bodies(self.content, self.starts + prefix, self.ends - suffix)
