"""One promise of ``docs/guarantees.md`` that is not kept."""

from __future__ import annotations

from dataclasses import dataclass

LANDING = "tests/unit/landing_zone"
STREAMING = "tests/unit/streaming"


@dataclass(frozen=True)
class Broken:
    """A change of the product that breaks one promise, and the tests of that promise that see it.

    Attributes:
        name: what is wrong; file: where; old, new: text that is in the file once, and what takes its place.
        tests: ``file::function`` of each test that has to fail.
        slow: they need Spark, Kafka or a database, and minutes.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    slow: bool = False

    @property
    def functions(self) -> tuple[str, ...]:
        """The tests as the page names them."""
        return tuple(test.partition("::")[2] for test in self.tests)
