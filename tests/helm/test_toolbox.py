"""The pod for commands while the bridge is down: like the bridge, but idle; and how docs/kubernetes.md makes it."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helm.chart import (
    NAMESPACE,
    ROOT,
    Manifest,
    Values,
    changed,
    helm,
    of_kind,
    one_source,
    pod_templates,
    rendered,
    run,
    settings,
    the,
)
from tests.helm.variants import EVERYTHING, VARIANTS
from tests.unit.streaming.test_named_commands import parse

OF_THE_PROBES = "CDC_BRIDGE_HTTP__PORT"
VOLUME = {"name": "checkpoint", "mountPath": "/var/lib/cdc-bridge"}
RUNS = [
    "smallest",
    "everything",
    "executors",
    "operator",
    "own names",
    "own claim and account",
    "toolbox with the volume",
]


def toolbox(values: Values, source: str = "shop") -> Manifest:
    """What the page's command makes of these values."""
    answer = run(
        "template",
        "--show-only",
        "templates/toolbox.yaml",
        "--set",
        f"sources.{source}.toolbox.enabled=true",
        values=values,
    )
    assert answer.returncode == 0, answer.stderr
    (pod,) = yaml.safe_load_all(answer.stdout)
    assert isinstance(pod, dict)
    return pod


def _component(pods: list[Manifest], source: str, component: str) -> Manifest:
    wanted = {"cdc-bridge/source": source, "app.kubernetes.io/component": component}
    (found,) = (pod for pod in pods if wanted.items() <= pod["metadata"]["labels"].items())
    return found


def _only(pod: Manifest) -> Any:
    (only,) = pod["spec"]["containers"]
    return only


@pytest.mark.parametrize(
    ("variant", "source"), [(variant, source) for variant in RUNS for source in VARIANTS[variant]["sources"]]
)
def test_it_has_what_the_bridge_has_and_runs_nothing(variant: str, source: str) -> None:
    values = VARIANTS[variant]
    pod = toolbox(values, source)
    bridge = _component(pod_templates(rendered(values)), source, "driver")
    mine, its = _only(pod), _only(bridge)
    assert mine["args"] == ["sleep", "8h"]
    assert (pod["spec"]["restartPolicy"], pod["spec"]["automountServiceAccountToken"]) == ("Never", False)
    assert {"command", "ports", "livenessProbe", "readinessProbe", "startupProbe"} & mine.keys() == set()
    for key in ("image", "imagePullPolicy", "envFrom", "securityContext"):
        assert mine.get(key) == its.get(key), key
    assert mine.get("env", []) == [one for one in its["env"] if one["name"] != OF_THE_PROBES]
    for key in ("serviceAccountName", "securityContext", "imagePullSecrets", "nodeSelector", "tolerations", "affinity"):
        assert pod["spec"].get(key) == bridge["spec"].get(key), key
    assert [each for each in mine["volumeMounts"] if each["mountPath"] != VOLUME["mountPath"]] == [
        each for each in its["volumeMounts"] if each != VOLUME
    ]
    volumes = [each for each in bridge["spec"]["volumes"] if each["name"] != "checkpoint"]
    assert [each for each in pod["spec"]["volumes"] if each["name"] != "checkpoint"] == volumes
    labels = {**bridge["metadata"]["labels"], "app.kubernetes.io/component": "toolbox"}
    assert pod["metadata"]["labels"] == labels


def test_it_may_use_the_memory_that_the_bridge_may() -> None:
    few = {"requests": {"cpu": "100m", "memory": "512Mi"}}
    limits = {"cpu": "8", "memory": "12Gi"}
    assert _only(toolbox(one_source()))["resources"] == {**few, "limits": {"memory": "4Gi"}}
    assert _only(toolbox(one_source(resources={"limits": limits})))["resources"] == {**few, "limits": limits}
    without = {**one_source(), "defaults": {"resources": {"limits": {"memory": None}}}}
    assert _only(toolbox(without))["resources"] == few


@pytest.mark.parametrize(
    ("changes", "mounted"),
    [
        ({}, False),
        ({"landing_zone": {"url": "file:///var/lib/cdc-bridge/zone"}}, True),
        ({"state": {"url": "file:///var/lib/cdc-bridge/state"}}, True),
    ],
    ids=["elsewhere", "zone", "state"],
)
def test_it_has_the_bridges_volume_only_where_zone_or_state_lie_on_it(changes: dict[str, Any], mounted: bool) -> None:
    pod = toolbox(one_source(settings=settings(**changes)))
    claims = [each["persistentVolumeClaim"] for each in pod["spec"]["volumes"] if "persistentVolumeClaim" in each]
    assert claims == ([{"claimName": "prod-cdc-bridge-shop-checkpoint"}] if mounted else [])
    scratch = {"name": "scratch", "mountPath": "/var/lib/cdc-bridge", "subPath": "checkpoint"}
    (mount,) = (each for each in _only(pod)["volumeMounts"] if each["mountPath"] == "/var/lib/cdc-bridge")
    assert mount == (VOLUME if mounted else scratch)


def test_no_release_has_one_by_itself() -> None:
    for variant in ("smallest", "everything"):
        assert [
            pod for pod in of_kind(rendered(VARIANTS[variant]), "Pod") if "toolbox" in pod["metadata"]["name"]
        ] == []


def test_it_is_let_out_as_the_bridge_is_and_nobody_takes_it_for_the_bridge() -> None:
    manifests = rendered(changed(EVERYTHING, "defaults.toolbox", {"enabled": True}))
    labels = the(manifests, "Pod", "prod-cdc-bridge-shop-toolbox")["metadata"]["labels"]
    selecting = [
        each["metadata"]["name"]
        for kind in ("NetworkPolicy", "PodMonitor", "PodDisruptionBudget", "StatefulSet", "Service")
        for each in of_kind(manifests, kind)
        if _selected(each, labels)
    ]
    assert selecting == ["prod-cdc-bridge-shop-egress"]


def _selected(each: Manifest, labels: dict[str, str]) -> bool:
    selector = each["spec"].get("podSelector") or each["spec"]["selector"]
    wanted: dict[str, str] = selector.get("matchLabels", selector)
    return wanted.items() <= labels.items()


PAGE = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## A command beside a bridge that is down\n")[1].split("\n## ")[0]
TYPED = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", SECTION, re.DOTALL)
    for line in block.replace("\\\n", "").splitlines()
    if line.startswith("$ ")
]


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's first example, as the file that its commands name."""
    first = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
    file = tmp_path_factory.mktemp("page") / "values.yaml"
    file.write_text(first, encoding="utf-8")
    return file


def _shown(values: Path) -> Manifest:
    (line,) = (line for line in TYPED if line.startswith("helm template "))
    template, apply = line.split(" | ")
    assert apply == f"kubectl -n {NAMESPACE} apply -f -"
    typed = [str(values) if word == "values.yaml" else word for word in shlex.split(template)[1:]]
    made = subprocess.run([helm(), *typed], cwd=ROOT, capture_output=True, text=True, check=True)
    (pod,) = yaml.safe_load_all(made.stdout)
    assert isinstance(pod, dict)
    return pod


def test_the_pages_command_makes_the_pod_that_its_other_commands_name(values: Path) -> None:
    pod = _shown(values)
    assert pod == toolbox_of_the_release(values)
    name = pod["metadata"]["name"]
    (mount,) = (each for each in _only(pod)["volumeMounts"] if each["name"] == "settings")
    ran = [line for line in TYPED if " exec " in line]
    assert len(ran) >= 3
    for line in ran:
        told = re.fullmatch(rf"kubectl -n {NAMESPACE} exec {name} -- cdc-bridge (.*)", line)
        assert told is not None, line
        assert f" {mount['mountPath']}/bridge.yaml" in line
        parse(told[1])
    assert f"kubectl -n {NAMESPACE} wait --for=condition=Ready pod/{name} --timeout 5m" in TYPED
    assert TYPED.count(f"kubectl -n {NAMESPACE} delete pod {name}") == 1


def toolbox_of_the_release(values: Path) -> Manifest:
    """The pod of source shop in release bridges, by the values themselves instead of by the page's command."""
    given = changed(yaml.safe_load(values.read_text(encoding="utf-8")), "sources.shop.toolbox", {"enabled": True})
    return the(rendered(given, release="bridges"), "Pod", "bridges-cdc-bridge-shop-toolbox")


def test_the_page_stops_and_starts_the_bridge_around_it(values: Path) -> None:
    manifests = rendered(yaml.safe_load(values.read_text(encoding="utf-8")), release="bridges")
    name = the(manifests, "StatefulSet")["metadata"]["name"]
    scaling = [line for line in TYPED if " scale " in line]
    assert scaling == [f"kubectl -n {NAMESPACE} scale statefulset {name} --replicas {replicas}" for replicas in (0, 1)]
    gone = TYPED.index(f"kubectl -n {NAMESPACE} wait --for=delete pod/{name}-0 --timeout 10m")
    inside = [number for number, line in enumerate(TYPED) if " cdc-bridge resolve " in line]
    assert len(inside) == 2
    assert TYPED.index(scaling[0]) < gone < inside[0] < inside[1] < TYPED.index(scaling[1])


@pytest.mark.parametrize("page", ["runbook.md", "lost-ledger.md", "resolve-and-adopt.md", "parked-tables.md"])
def test_who_reads_that_the_bridge_is_to_be_stopped_finds_the_way(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert "(kubernetes.md#a-command-beside-a-bridge-that-is-down)" in text
