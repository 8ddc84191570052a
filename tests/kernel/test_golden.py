"""All golden traffic says the same with the kernel and without."""

from __future__ import annotations

from connectors.debezium.decoder import Decoder
from tests.fuzz.corpus import seeds
from tests.golden.traffic import KnownSchemas, raw_records
from tests.support.decoded import told
from tests.support.json_kernel import built

KERNEL = built()


def test_the_golden_traffic_says_the_same_with_and_without_the_kernel() -> None:
    for seed in seeds():
        raw = raw_records(seed.records)
        decoders = [Decoder(seed.options, KnownSchemas(seed.schemas), kernel) for kernel in (KERNEL, None)]
        # Twice: what a decoder has remembered lets it read whole batches.
        for _ in range(2):
            quick, slow = (told(decoder.decode(raw)) for decoder in decoders)
            assert quick == slow, seed.name
