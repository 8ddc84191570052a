"""What Spark's Kafka source is told."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from streaming.kafka_options import source_options, subscription
from tests.unit.streaming.settings_builder import settings


def test_a_pattern_has_to_match_a_topics_whole_name_wherever_it_is_looked_for() -> None:
    chosen = settings(kafka__topics=None, kafka__pattern=r"shop|shop\..*")
    pattern = source_options(chosen)["subscribePattern"]
    ours = subscription(chosen)
    assert isinstance(ours, re.Pattern)
    for topic, matches in (("shop", True), ("shop.public.orders", True), ("workshop", False), ("shop-letters", False)):
        assert (re.search(pattern, topic) is not None, ours.fullmatch(topic) is not None) == (matches, matches)


class TestPace:
    """When Spark begins a micro-batch."""

    def test_a_long_interval_is_a_rest_between_looks_that_find_something(self) -> None:
        chosen = settings(trigger={"interval": "30s", "max_offsets": 500})
        assert chosen.trigger.tick == timedelta(seconds=1)
        assert chosen.trigger.rest == timedelta(seconds=30)
        assert pace(source_options(chosen)) == (None, None)

    def test_a_short_interval_is_sparks_own(self) -> None:
        chosen = settings(trigger={"interval": "4s"})
        assert (chosen.trigger.tick, chosen.trigger.rest) == (timedelta(seconds=4), timedelta(0))
        assert pace(source_options(chosen)) == (None, None)

    def test_whoever_says_what_to_wait_for_gets_that(self) -> None:
        chosen = settings(trigger={"interval": "30s", "min_offsets": 7})
        assert (chosen.trigger.tick, chosen.trigger.rest) == (timedelta(seconds=30), timedelta(0))
        assert pace(source_options(chosen)) == ("7", None)

    @pytest.mark.parametrize("trigger", [{"interval": "30s"}, {"interval": "30s", "min_offsets": 7, "max_delay": "1h"}])
    def test_a_run_that_drains_waits_for_nothing(self, trigger: dict[str, object]) -> None:
        assert pace(source_options(settings(trigger=trigger), once=True)) == (None, None)


def pace(options: dict[str, str]) -> tuple[str | None, str | None]:
    return options.get("minOffsetsPerTrigger"), options.get("maxTriggerDelay")
