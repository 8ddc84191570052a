"""Rules across keys are reported beside the other problems of a file."""

from __future__ import annotations

import pytest

from tests.unit.streaming.settings_builder import broken

GUID = "11111111-2222-3333-4444-555555555555"
ONELAKE = f"abfss://{GUID}@onelake.dfs.fabric.microsoft.com/{GUID}/Files/LandingZone"
BOTH_SET = "kafka.pattern can't be set together with topics: keep one of the two"
NO_CHECKPOINT = "state.checkpoint is required: the state is not a local folder that could hold it"


def test_a_rule_within_a_section_beside_an_unknown_key_of_it() -> None:
    assert broken(kafka__pattern="x.*", kafka__clinet={"a": "b"}) == [
        BOTH_SET,
        "kafka.clinet is not a known key; did you mean kafka.client?",
    ]


def test_a_rule_across_sections_beside_a_wrong_value_elsewhere() -> None:
    assert set(broken(markers="saf", landing_zone__url=ONELAKE)) == {
        NO_CHECKPOINT,
        "markers must be one of safe, natural; did you mean safe?",
    }


def test_a_rule_across_sections_beside_a_rule_within_another() -> None:
    assert set(broken(kafka__pattern="x.*", landing_zone__url=ONELAKE)) == {NO_CHECKPOINT, BOTH_SET}


def test_a_rule_that_concerns_an_invalid_section_waits_for_it() -> None:
    assert broken(landing_zone__url=ONELAKE, state={"url": "s3://x"}) == [
        "state.url is not a storage URL: write file:///absolute/path or abfss://workspace@host/item/Files/LandingZone"
    ]


def test_a_key_that_may_be_there_misspelt_is_not_missed() -> None:
    assert broken(landing_zone__url=ONELAKE, state={"checkpont": "/x"}) == [
        "state.checkpont is not a known key; did you mean state.checkpoint?"
    ]


def test_the_environment_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDC_BRIDGE_KAFKA__PATTERN", "x.*")
    monkeypatch.setenv("CDC_BRIDGE_KAFKA__CLINET", "3")
    monkeypatch.setenv("CDC_BRIDGE_STATE__CHECKPOINT", "/var/lib/checkpoint")
    assert set(broken(landing_zone__url=ONELAKE)) == {
        BOTH_SET,
        "kafka.clinet is not a known key; did you mean kafka.client?",
    }
