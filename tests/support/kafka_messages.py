"""What reads Kafka by librdkafka's functions, for tests: it has to be there, or nothing tests it."""

from __future__ import annotations

from connectors.kafka.reading.library import LIBRARY, Library
from tests.support.c_compiler import COMPILER, WITHOUT


def built() -> Library:
    """librdkafka with the extension module.

    Raises:
        AssertionError: there is no C compiler; or there is, and no module, or one of other sources, or no librdkafka.
    """
    assert COMPILER is not None, WITHOUT
    assert LIBRARY is not None, "make extensions builds the module, or says why not"
    return LIBRARY
