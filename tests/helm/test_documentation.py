"""What docs/kubernetes.md shows is taken by the chart."""

from __future__ import annotations

import re
from datetime import timedelta

import yaml

from streaming.health.probes import started
from streaming.health.state import HealthState, Work
from streaming.settings import settings_of
from tests.helm.chart import CHART, ROOT, Values, changed, one_source, refusal, rendered, run, settings, the

PAGE = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
EXAMPLES = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def _over(under: Values, over: Values) -> Values:
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = _over(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def test_every_example_renders_over_the_first_one() -> None:
    assert len(EXAMPLES) == 4
    for example in EXAMPLES:
        assert rendered(_over(EXAMPLES[0], example), release="bridges")


def test_names_in_the_commands_are_those_of_the_objects() -> None:
    manifests = rendered(EXAMPLES[0], release="bridges")
    assert f"rollout restart statefulset {the(manifests, 'StatefulSet')['metadata']['name']}`" in PAGE
    assert f"delete persistentvolumeclaim {the(manifests, 'PersistentVolumeClaim')['metadata']['name']}\n" in PAGE


def test_the_chart_adds_what_the_page_says() -> None:
    manifests = rendered(EXAMPLES[0], release="bridges")
    text = the(manifests, "ConfigMap")["data"]["bridge.yaml"]
    added = yaml.safe_load(text)
    assert added["http"]["port"] == 8080
    assert f"`{added['state']['checkpoint']}`" in PAGE
    # The bridge takes them, but for the file, which is only in the pod.
    without_file = text.replace("/run/secrets/cdc-bridge/kafka/password", str(CHART / "Chart.yaml"))
    taken = settings_of(without_file, "bridge.yaml")
    assert taken.kafka.pattern is not None
    assert re.fullmatch(taken.kafka.pattern, "shop.public.orders")
    assert taken.trigger.interval == timedelta(minutes=1)


def test_values_in_the_tables_are_there() -> None:
    for row in re.findall(r"^\| (`.+?) \|", PAGE.split("## Values")[1].split("**Memory.**")[0], re.MULTILINE):
        first = ""
        for name in re.findall(r"`([^`]+)`", row):
            path = name.split(".")
            if path[0] == "":
                path = [*first.split(".")[:-1], *path[1:]]
            first = first if name.startswith(".") else name
            place = DEFAULTS if path[0] == "monitoring" else DEFAULTS["defaults"]
            for part in path:
                assert part in place, name
                place = place[part]


def test_every_key_of_a_source_is_in_the_table() -> None:
    table = PAGE.split("## Values")[1].split("**Memory.**")[0]
    rows = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    named = {name.split(".")[0] for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert DEFAULTS["defaults"].keys() - named == set()


def test_the_startup_probe_waits_as_long_as_the_pages_say() -> None:
    probe = DEFAULTS["defaults"]["probes"]["startup"]
    assert probe["periodSeconds"] * probe["failureThreshold"] == 5 * 60
    runbook = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
    section = runbook.split("### BridgeNotReady\n")[1].split("\n### ")[0]
    for text in (PAGE, section):
        (larger,) = re.findall(r"failureThreshold[`: (]+(?:60; )?(\d{3})\b", text)
        assert probe["periodSeconds"] * int(larger) == 60 * 60
    # What a start answers that claims the zone and rolls forward.
    assert not started(HealthState(started=0, started_ms=0, work=Work.START)).ok


def test_the_larger_batches_of_the_guide_are_taken_with_what_it_says_beside_them() -> None:
    guide = (ROOT / "docs" / "how-to" / "scale.md").read_text(encoding="utf-8")
    (trigger,) = (yaml.safe_load(block)["trigger"] for block in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL))
    (grace,) = re.findall(r"`terminationGracePeriodSeconds: (\d+)`", guide)
    source = one_source(settings=settings(trigger=trigger))
    (refused,) = refusal(source)
    assert f"may take {grace} seconds" in refused
    assert rendered(changed(source, "sources.shop.terminationGracePeriodSeconds", int(grace)))


def test_a_user_id_can_be_left_to_the_cluster() -> None:
    left = {"runAsUser": None, "runAsGroup": None, "fsGroup": None}
    values = _over(EXAMPLES[0], {"defaults": {"podSecurityContext": left}})
    context = the(rendered(values), "StatefulSet")["spec"]["template"]["spec"]["securityContext"]
    assert {key: value for key, value in context.items() if key in left and value is not None} == {}


def test_the_schema_covers_every_value_of_the_chart() -> None:
    assert run("lint", "--strict", values=DEFAULTS).returncode == 0
