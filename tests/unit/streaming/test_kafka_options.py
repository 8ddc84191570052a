"""What Spark's Kafka source is told."""

from __future__ import annotations

import re

from streaming.kafka_options import source_options, subscription
from tests.unit.streaming.settings_builder import settings


def test_a_pattern_has_to_match_a_topics_whole_name_wherever_it_is_looked_for() -> None:
    chosen = settings(kafka__topics=None, kafka__pattern=r"shop|shop\..*")
    pattern = source_options(chosen)["subscribePattern"]
    ours = subscription(chosen)
    assert isinstance(ours, re.Pattern)
    for topic, matches in (("shop", True), ("shop.public.orders", True), ("workshop", False), ("shop-letters", False)):
        assert (re.search(pattern, topic) is not None, ours.fullmatch(topic) is not None) == (matches, matches)
