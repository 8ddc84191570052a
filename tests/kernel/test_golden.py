"""All golden traffic says the same with the kernels and without."""

from __future__ import annotations

from connectors.debezium.decoder import Decoder
from connectors.debezium.kernels import Kernels
from tests.fuzz.corpus import seeds
from tests.golden.traffic import KnownSchemas, raw_records
from tests.support.decoded import told
from tests.support.kernels import built

KERNELS = built()


def test_the_golden_traffic_says_the_same_with_and_without_the_kernels() -> None:
    for seed in seeds():
        raw = raw_records(seed.records)
        decoders = [Decoder(seed.options, KnownSchemas(seed.schemas), kernels) for kernels in (KERNELS, Kernels())]
        # Twice: what a decoder has remembered lets it read whole batches.
        for _ in range(2):
            quick, slow = (told(decoder.decode(raw)) for decoder in decoders)
            assert quick == slow, seed.name
