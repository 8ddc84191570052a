"""What holds for every object that the chart makes, whatever the values."""

from __future__ import annotations

import json
import re

import jsonschema
import kubernetes_validate
import pytest

from tests.helm.chart import CHART, NAMESPACE, Manifest, of_kind, pod_templates, rendered, run
from tests.helm.spark_application import SPARK_APPLICATION
from tests.helm.variants import VARIANTS

# Judged by a real API server that has their definitions (tests/helm/against_api_server.py).
OF_PROMETHEUS_OPERATOR = {"PodMonitor", "PrometheusRule"}
KUBERNETES = ("1.27", kubernetes_validate.latest_version())
RECOMMENDED = {"name", "instance", "version", "part-of", "managed-by"}
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@pytest.fixture(scope="module", params=VARIANTS)
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    """The objects of each variant; the tests only read them."""
    return rendered(VARIANTS[request.param], release="r" * 53 if request.param == "longest names" else "prod")


@pytest.mark.parametrize("values", VARIANTS.values(), ids=list(VARIANTS))
def test_helm_finds_nothing_to_mend(values: dict[str, object]) -> None:
    answer = run("lint", "--strict", values=values)
    assert (answer.returncode, "0 chart(s) failed" in answer.stdout, "WARNING" in answer.stdout) == (0, True, False)


def test_the_chart_without_values_is_sound() -> None:
    assert run("lint", "--strict").returncode == 0


@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_schemas_hold(manifests: list[Manifest], version: str) -> None:
    seen = set()
    for each in manifests:
        if each["kind"] in OF_PROMETHEUS_OPERATOR:
            continue
        if each["kind"] == "SparkApplication":
            jsonschema.validate(each, SPARK_APPLICATION)
            continue
        text = json.dumps({**each, "metadata": {**each["metadata"], "name": "x", "labels": {}}}, sort_keys=True)
        if text not in seen:
            seen.add(text)
            kubernetes_validate.validate(each, version, strict=True)
    for pod in pod_templates(manifests):
        kubernetes_validate.validate(
            {"apiVersion": "v1", "kind": "PodTemplate", "template": _template(pod)}, version, True
        )


def _template(pod: Manifest) -> Manifest:
    return {"metadata": pod["metadata"], "spec": pod["spec"]}


def test_names_and_label_values_have_at_most_63_characters(manifests: list[Manifest]) -> None:
    for each in manifests:
        assert DNS_LABEL.fullmatch(each["metadata"]["name"]), each["metadata"]["name"]
    # A pod of a StatefulSet carries the set's name and a hash of eleven characters in a label.
    assert all(len(each["metadata"]["name"]) <= 52 for each in of_kind(manifests, "StatefulSet"))
    # A service's name starts with a letter.
    assert all(each["metadata"]["name"][0].isalpha() for each in of_kind(manifests, "Service"))
    for part in (*manifests, *pod_templates(manifests)):
        for key, value in part["metadata"]["labels"].items():
            assert re.fullmatch(r"([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?", value), (key, value)


def test_names_are_unique_within_a_kind(manifests: list[Manifest]) -> None:
    names = [(each["kind"], each["metadata"]["name"]) for each in manifests]
    assert len(names) == len(set(names))


def test_every_object_has_the_recommended_labels_and_the_namespace(manifests: list[Manifest]) -> None:
    for each in manifests:
        assert {f"app.kubernetes.io/{label}" for label in RECOMMENDED} <= each["metadata"]["labels"].keys()
        assert each["metadata"]["namespace"] == NAMESPACE


def test_every_pod_is_restricted(manifests: list[Manifest]) -> None:
    assert pod_templates(manifests)
    for pod in pod_templates(manifests):
        context = pod["spec"]["securityContext"]
        assert context["runAsNonRoot"] is True
        assert (context["runAsUser"], context["runAsGroup"], context["fsGroup"]) == (185, 185, 185)
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        for each in pod["spec"]["containers"]:
            assert each["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_every_pod_has_a_place_to_write_and_every_mount_its_volume(manifests: list[Manifest]) -> None:
    for pod in pod_templates(manifests):
        volumes = [volume["name"] for volume in pod["spec"]["volumes"]]
        assert len(volumes) == len(set(volumes))
        for each in pod["spec"]["containers"]:
            mounts = {mount["mountPath"]: mount["name"] for mount in each["volumeMounts"]}
            assert len(mounts) == len(each["volumeMounts"])
            assert "scratch" in mounts.values()
            assert set(mounts.values()) <= set(volumes)


def test_the_checkpoint_is_never_in_an_empty_dir(manifests: list[Manifest]) -> None:
    drivers = [pod for pod in pod_templates(manifests) if _component(pod) == "driver"]
    assert drivers
    for pod in drivers:
        (each,) = pod["spec"]["containers"]
        (name,) = (mount["name"] for mount in each["volumeMounts"] if mount["mountPath"] == "/var/lib/cdc-bridge")
        (volume,) = (volume for volume in pod["spec"]["volumes"] if volume["name"] == name)
        assert volume.keys() == {"name", "persistentVolumeClaim"}


def _component(pod: Manifest) -> str:
    component: str = pod["metadata"]["labels"]["app.kubernetes.io/component"]
    return component


def test_selectors_find_the_driver_and_only_it(manifests: list[Manifest]) -> None:
    pods = pod_templates(manifests)
    for each in of_kind(manifests, "Service"):
        found = [
            _component(pod) for pod in pods if each["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
        ]
        assert found == ["driver"]
    for each in of_kind(manifests, "StatefulSet"):
        wanted = each["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= each["spec"]["template"]["metadata"]["labels"].items()
        assert not wanted.keys() & {"app.kubernetes.io/version", "helm.sh/chart"}, "these change, a selector can't"


def test_only_drivers_with_executors_get_a_token_of_the_api_server(manifests: list[Manifest]) -> None:
    accounts = {binding["subjects"][0]["name"] for binding in of_kind(manifests, "RoleBinding")}
    for pod in pod_templates(manifests):
        if pod["spec"]["automountServiceAccountToken"]:
            assert (_component(pod), pod["spec"]["serviceAccountName"] in accounts) == ("driver", True)
    assert all(each["automountServiceAccountToken"] is False for each in of_kind(manifests, "ServiceAccount"))


def test_every_template_is_used_by_some_variant() -> None:
    found = {
        line.removeprefix("# Source: cdc-bridge/templates/")
        for values in VARIANTS.values()
        for line in run("template", values=values).stdout.splitlines()
        if line.startswith("# Source: ")
    }
    there = {str(path.relative_to(CHART / "templates")) for path in (CHART / "templates").rglob("*.yaml")}
    assert found == there
