"""Rendering the chart: values in, Kubernetes' objects out, or the sentences that say what is wrong with the values."""

from __future__ import annotations

import copy
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

Values = dict[str, Any]
Manifest = dict[str, Any]

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm" / "cdc-bridge"
ANY_ADDRESS = ".".join("0000")
RELEASE, NAMESPACE = "prod", "cdc"

ZONE = (
    "abfss://11111111-1111-1111-1111-111111111111@onelake.dfs.fabric.microsoft.com"
    "/22222222-2222-2222-2222-22222222222{}/Files/LandingZone"
)


@cache
def helm() -> str:
    """Where helm is; built on the first call on a machine."""
    install = Path(__file__).with_name("install.sh")
    return subprocess.run([install], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def settings(zone: int = 1, **more: Any) -> Values:
    """The smallest settings that run, into a landing zone of this number."""
    return {
        "kafka": {"bootstrap_servers": "kafka:9092", "topics": ["shop.public.orders"]},
        "landing_zone": {"url": ZONE.format(zone)},
        **more,
    }


def one_source(name: str = "shop", **own: Any) -> Values:
    """Values of one source with the smallest settings, or these, and further keys of its own."""
    return {"sources": {name: {"settings": settings(), **own}}}


def changed(values: Values, path: str, value: Any) -> Values:
    """A copy of the values with another value at a dotted path."""
    result = copy.deepcopy(values)
    *parents, last = path.split(".")
    place = result
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return result


def run(*arguments: str, values: Values | None = None, release: str = RELEASE) -> subprocess.CompletedProcess[str]:
    """Helm's answer to a subcommand on the chart."""
    return _answer(arguments, json.dumps(values or {}), release)


@cache
def _answer(arguments: tuple[str, ...], values: str, release: str) -> subprocess.CompletedProcess[str]:
    # The chart doesn't change while it is tested, so neither does the answer.
    named = [release] if arguments[0] == "template" else []
    return subprocess.run(
        [helm(), arguments[0], *named, str(CHART), "--namespace", NAMESPACE, *arguments[1:], "--values", "-"],
        input=values,
        capture_output=True,
        text=True,
        check=False,
    )


def rendered(values: Values, release: str = RELEASE) -> list[Manifest]:
    """The objects that these values make."""
    answer = run("template", values=values, release=release)
    assert answer.returncode == 0, answer.stderr
    return [each for each in yaml.load_all(answer.stdout, Loader=yaml.CSafeLoader) if each is not None]


def refusal(values: Values) -> list[str]:
    """The sentences with which the values are refused, one for each problem."""
    answer = run("template", values=values)
    assert answer.returncode != 0, "the values were taken"
    lines = [line.strip() for line in answer.stderr.splitlines()]
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def of_kind(manifests: list[Manifest], kind: str) -> list[Manifest]:
    return [each for each in manifests if each["kind"] == kind]


def the(manifests: list[Manifest], kind: str, name: str | None = None) -> Manifest:
    """The one object of a kind, or of a kind and name."""
    (found,) = (each for each in of_kind(manifests, kind) if name in (None, each["metadata"]["name"]))
    return found


def container(manifests: list[Manifest]) -> Manifest:
    """The bridge's container in the only StatefulSet."""
    (only,) = the(manifests, "StatefulSet")["spec"]["template"]["spec"]["containers"]
    return only


def settings_file(manifests: list[Manifest], name: str = "prod-cdc-bridge-shop") -> Manifest:
    """The settings that a source's bridge reads."""
    loaded: Manifest = yaml.safe_load(the(manifests, "ConfigMap", name)["data"]["bridge.yaml"])
    return loaded


def executor_pod(manifests: list[Manifest], name: str = "prod-cdc-bridge-shop") -> Manifest:
    """The template of a source's executor pods."""
    loaded: Manifest = yaml.safe_load(the(manifests, "ConfigMap", name)["data"]["executor.yaml"])
    return loaded


def pod_templates(manifests: list[Manifest]) -> list[Manifest]:
    """Everything with metadata and spec of a pod: of workloads, of checks, of executors."""
    found = []
    for each in manifests:
        match each["kind"]:
            case "Pod":
                found.append(each)
            case "StatefulSet":
                found.append(each["spec"]["template"])
            case "SparkApplication":
                found.append(each["spec"]["driver"]["template"])
            case "ConfigMap" if "executor.yaml" in each["data"]:
                found.append(yaml.safe_load(each["data"]["executor.yaml"]))
    return found
