"""What two sources of one release may not share, and what they may."""

from __future__ import annotations

import pytest

from tests.helm.chart import Values, pod_templates, refusal, rendered, settings, the


def test_one_landing_zone_for_two_sources() -> None:
    values = {"sources": {"crm": {"settings": settings(1)}, "shop": {"settings": settings(1)}}}
    assert refusal(values) == [
        "sources.shop.settings.landing_zone.url is that of sources.crm, too: a landing zone has one bridge; give each"
        " its own mirrored database"
    ]


def test_one_ledger_for_two_sources() -> None:
    state = {"url": "abfss://workspace@onelake.dfs.fabric.microsoft.com/item/Files/state"}
    sources = {name: {"settings": settings(number)} for number, name in enumerate(("crm", "shop"), 1)}
    assert refusal({"sources": sources, "defaults": {"settings": {"state": state}}}) == [
        "sources.shop.settings.state.url is that of sources.crm, too: a ledger has one bridge; give each its own"
        " folder, or remove the key"
    ]
    assert rendered({"sources": sources})


def _two(**sources: Values) -> Values:
    """Values of sources with a landing zone each, and these keys of their own."""
    return {"sources": {name: {"settings": settings(zone), **own} for zone, (name, own) in enumerate(sources.items())}}


_CHECKPOINT = (
    "sources.shop.settings.state.checkpoint is in the claim {} and the folder {}, where that of sources.crm is, too:"
    " each start would set the other's aside; give each a claim of its own with persistence.existingClaim, or name two"
    " folders of which neither lies in the other"
)
_OLD_CLAIM: Values = {"existingClaim": "old"}


def _checkpoint(zone: int, folder: str) -> Values:
    return settings(zone, state={"checkpoint": folder})


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({**_two(crm={}, shop={}), "defaults": {"persistence": _OLD_CLAIM}}, ("old", "/var/lib/cdc-bridge/checkpoint")),
        (
            _two(crm={}, shop={"persistence": {"existingClaim": "prod-cdc-bridge-crm-checkpoint"}}),
            ("prod-cdc-bridge-crm-checkpoint", "/var/lib/cdc-bridge/checkpoint"),
        ),
        (
            {
                "sources": {
                    "crm": {"settings": _checkpoint(1, "/var/lib/cdc-bridge/a"), "persistence": _OLD_CLAIM},
                    "shop": {"settings": _checkpoint(2, "/var/lib/cdc-bridge//a/b/"), "persistence": _OLD_CLAIM},
                }
            },
            ("old", "/var/lib/cdc-bridge/a/b"),
        ),
        (
            {
                "sources": {
                    "crm": {"settings": _checkpoint(1, "/var/lib/cdc-bridge/a/b"), "persistence": _OLD_CLAIM},
                    "shop": {"settings": _checkpoint(2, "/var/lib/cdc-bridge/a"), "persistence": _OLD_CLAIM},
                }
            },
            ("old", "/var/lib/cdc-bridge/a"),
        ),
    ],
    ids=["by the defaults", "the claim that the chart makes", "a folder in the other", "a folder around the other"],
)
def test_one_checkpoint_for_two_sources(values: Values, place: tuple[str, str]) -> None:
    assert refusal(values) == [_CHECKPOINT.format(*place)]


def test_two_checkpoints_in_one_claim_are_taken() -> None:
    sources = {
        name: {"settings": _checkpoint(zone, f"/var/lib/cdc-bridge/{name}")}
        for zone, name in enumerate(("shop", "shop2"), 1)
    }
    assert rendered({"sources": sources, "defaults": {"persistence": _OLD_CLAIM}})
    by_variable = {"env": [{"name": "CDC_BRIDGE_STATE__CHECKPOINT", "value": "/var/lib/cdc-bridge/shop"}]}
    assert rendered({**_two(crm={}, shop=by_variable), "defaults": {"persistence": _OLD_CLAIM}})


_ACCOUNT = (
    "sources.shop.serviceAccount.name is {}, the account that sources.crm makes, too: leave the name out, so that each"
    " source has its own, or set serviceAccount.create to false in all of them but one"
)


def test_one_service_account_that_two_sources_make() -> None:
    shared = {**_two(crm={}, shop={}), "defaults": {"serviceAccount": {"name": "cdc"}}}
    assert refusal(shared) == [_ACCOUNT.format("cdc")]
    own = {"serviceAccount": {"name": "prod-cdc-bridge-crm"}}
    assert refusal(_two(crm={}, shop=own)) == [_ACCOUNT.format("prod-cdc-bridge-crm")]


def test_one_service_account_that_one_source_makes_is_taken_by_two() -> None:
    values = {
        **_two(crm={}, shop={"serviceAccount": {"create": False}}),
        "defaults": {"serviceAccount": {"name": "cdc"}},
    }
    manifests = rendered(values)
    assert the(manifests, "ServiceAccount")["metadata"]["name"] == "cdc"
    assert {pod["spec"]["serviceAccountName"] for pod in pod_templates(manifests)} == {"cdc"}
