"""The rights that the page of least privilege lists are those that the chart gives."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tests.helm.chart import of_kind, one_source, rendered, the

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "least-privilege.md"


def test_the_page_s_role_is_the_chart_s() -> None:
    [block] = re.findall(r"```yaml\n(rules:.*?)```", PAGE.read_text(), re.DOTALL)
    manifests = rendered(one_source(executors={"enabled": True}))
    assert yaml.safe_load(block)["rules"] == the(manifests, "Role")["rules"]
    assert of_kind(manifests, "ClusterRole") + of_kind(manifests, "ClusterRoleBinding") == []


def test_without_executors_nothing_of_the_api_server_is_given() -> None:
    manifests = rendered(one_source())
    assert of_kind(manifests, "Role") + of_kind(manifests, "ClusterRole") == []
