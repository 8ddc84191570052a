"""Who a bridge is, what it may read, and who may reach it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helm.chart import (
    Manifest,
    Values,
    changed,
    container,
    of_kind,
    one_source,
    pod_templates,
    rendered,
    settings,
    the,
)
from tests.helm.variants import EVERYTHING


def test_secrets_are_mounted_as_files_for_bridge_executors_and_check() -> None:
    manifests = rendered(one_source(secretFiles={"kafka": "shop-kafka"}, executors={"enabled": True}))
    pods = pod_templates(manifests)
    assert len(pods) == 3
    for pod in pods:
        assert {"name": "secret-kafka", "secret": {"secretName": "shop-kafka", "defaultMode": 0o440}} in pod["spec"][
            "volumes"
        ]
        (each,) = pod["spec"]["containers"]
        mount = {"name": "secret-kafka", "mountPath": "/run/secrets/cdc-bridge/kafka", "readOnly": True}
        assert mount in each["volumeMounts"]


def test_secrets_may_come_from_the_environment() -> None:
    env = [
        {
            "name": "CDC_BRIDGE_KAFKA__SECURITY__PASSWORD",
            "valueFrom": {"secretKeyRef": {"name": "shop-kafka", "key": "password"}},
        }
    ]
    env_from = [{"secretRef": {"name": "shop-registry"}}]
    manifests = rendered(one_source(env=env, envFrom=env_from, executors={"enabled": True}))
    for pod in pod_templates(manifests):
        (each,) = pod["spec"]["containers"]
        own = [{"name": "CDC_BRIDGE_HTTP__PORT", "value": "8080"}] if "ports" in each else []
        assert (each["env"], each["envFrom"]) == (own + env, env_from)


def test_workload_identity_labels_the_pods_and_annotates_the_account() -> None:
    identity = {"enabled": True, "clientId": "the-client", "tenantId": "the-tenant"}
    manifests = rendered(one_source(workloadIdentity=identity, executors={"enabled": True}))
    assert the(manifests, "ServiceAccount")["metadata"]["annotations"] == {
        "azure.workload.identity/client-id": "the-client",
        "azure.workload.identity/tenant-id": "the-tenant",
    }
    for pod in pod_templates(manifests):
        assert pod["metadata"]["labels"]["azure.workload.identity/use"] == "true"
        assert pod["spec"]["serviceAccountName"] == "prod-cdc-bridge-shop"


def test_a_service_account_of_somebody_else_is_used_as_it_is() -> None:
    account = {"create": False, "name": "federated"}
    manifests = rendered(
        one_source(serviceAccount=account, workloadIdentity={"enabled": True}, executors={"enabled": True})
    )
    assert of_kind(manifests, "ServiceAccount") == []
    assert {pod["spec"]["serviceAccountName"] for pod in pod_templates(manifests)} == {"federated"}
    assert the(manifests, "RoleBinding")["subjects"] == [
        {"kind": "ServiceAccount", "name": "federated", "namespace": "cdc"}
    ]


def test_without_executors_there_is_no_role() -> None:
    manifests = rendered(one_source())
    assert of_kind(manifests, "Role") + of_kind(manifests, "RoleBinding") == []


def test_a_driver_may_do_nothing_but_make_watch_and_delete_pods() -> None:
    manifests = rendered(one_source(executors={"enabled": True}))
    role = the(manifests, "Role")
    assert role["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["pods"],
            "verbs": ["create", "get", "list", "watch", "delete", "deletecollection"],
        }
    ]
    assert the(manifests, "RoleBinding")["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role",
        "name": role["metadata"]["name"],
    }


NODE = {
    "ports": [{"port": 80, "protocol": "TCP"}],
    "to": [{"ipBlock": {"cidr": "169.254.169.254/32"}}],
}


def _policy(manifests: list[Manifest], name: str) -> Any:
    return the(manifests, "NetworkPolicy", name)["spec"]


def test_the_network_policy_lets_monitoring_and_executors_in() -> None:
    manifests = rendered(EVERYTHING)
    labels = {"app.kubernetes.io/name": "cdc-bridge", "app.kubernetes.io/instance": "prod", "cdc-bridge/source": "crm"}
    driver, executor = (
        {"podSelector": {"matchLabels": labels | {"app.kubernetes.io/component": component}}}
        for component in ("driver", "executor")
    )
    monitoring = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
    assert _policy(manifests, "prod-cdc-bridge-crm-driver") == {
        **driver,
        "policyTypes": ["Ingress"],
        "ingress": [
            {"ports": [{"port": "http"}], "from": [monitoring]},
            {"ports": [{"port": 7078}, {"port": 7079}], "from": [executor]},
        ],
    }
    assert _policy(manifests, "prod-cdc-bridge-crm-executor") == {
        **executor,
        "policyTypes": ["Ingress"],
        "ingress": [{"ports": [{"port": 7079}], "from": [driver, executor]}],
    }
    assert _policy(manifests, "prod-cdc-bridge-shop-driver")["ingress"] == [
        {"ports": [{"port": "http"}], "from": [monitoring]}
    ]


def test_the_network_policy_lets_out_what_the_settings_name() -> None:
    values = one_source(
        networkPolicy={
            "enabled": True,
            "egressPorts": [9999],
            "extraEgress": [{"to": [{"ipBlock": {"cidr": "::/0"}}]}],
        },
        settings=settings(
            registry={"url": "http://registry-0:8081/apis,http://registry-1"},
            lineage={"url": "http://marquez:5000"},
            source={
                "connect": {"url": "https://connect:8083", "connector": "shop"},
                "database": {"url": "postgresql://reader@db.example.com/shop", "unverified": True},
            },
        ),
    )
    values = changed(values, "sources.shop.settings.kafka.bootstrap_servers", "a:9093, b:9094,[::1]:9093")
    egress = _policy(rendered(values), "prod-cdc-bridge-shop-egress")["egress"]
    assert egress[0] == {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]}
    ports = [443, 6443, 9093, 9094, 8083, 5432, 5000, 8081, 80, 9999]
    assert egress[1] == {"ports": [{"port": port, "protocol": "TCP"} for port in ports]}
    assert egress[2:] == [NODE, {"to": [{"ipBlock": {"cidr": "::/0"}}]}]


FOLDERS = {"landing_zone": {"url": "file:///var/lib/cdc-bridge/zone"}}
ADLS = "abfss://container@account.dfs.core.windows.net/state"


def _variable(name: str, **content: Any) -> Values:
    return {"env": [{"name": name, **(content or {"value": "x"})}]}


@pytest.mark.parametrize(
    ("own", "reached"),
    [
        ({}, True),
        (_variable("AZURE_CLIENT_ID"), True),
        ({"envFrom": [{"secretRef": {"name": "azure"}}]}, True),
        ({"workloadIdentity": {"enabled": True, "clientId": "c"}}, False),
        (_variable("AZURE_CLIENT_SECRET", valueFrom={"secretKeyRef": {"name": "azure", "key": "secret"}}), False),
        (_variable("AZURE_CLIENT_CERTIFICATE_PATH"), False),
        ({"settings": settings(**FOLDERS)}, False),
        ({"settings": settings(**FOLDERS, state={"url": ADLS})}, True),
        ({"settings": settings(**FOLDERS), **_variable("CDC_BRIDGE_STATE__URL", value=ADLS)}, True),
        ({"settings": settings(**FOLDERS), **_variable("CDC_BRIDGE_LANDING_ZONE__URL", value=ADLS)}, True),
    ],
    ids=[
        "nothing said",
        "user-assigned",
        "perhaps a secret",
        "workload identity",
        "secret",
        "certificate",
        "folders",
        "state in a storage",
        "state by a variable",
        "zone by a variable",
    ],
)
def test_the_network_policy_lets_out_to_the_nodes_identity_where_nothing_else_signs_in(
    own: Values, reached: bool
) -> None:
    manifests = rendered(one_source(**{"networkPolicy": {"enabled": True}, **own}))
    egress = _policy(manifests, "prod-cdc-bridge-shop-egress")["egress"]
    assert egress[2:] == ([NODE] if reached else [])


def test_images_are_named_by_digest_where_there_is_one() -> None:
    digest = f"sha256:{'0' * 64}"
    image = {"repository": "images.example.com/cdc-bridge", "tag": "1.2.3", "digest": digest}
    assert container(rendered(one_source(image=image)))["image"] == f"images.example.com/cdc-bridge@{digest}"
    assert container(rendered(one_source()))["image"] == "cdc-bridge:0.1.0"


def test_the_claim_outlives_the_release_unless_told_otherwise() -> None:
    claim = the(rendered(one_source(persistence={"storageClass": "fast", "size": "20Gi"})), "PersistentVolumeClaim")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert claim["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "20Gi"}},
    }
    passing = the(rendered(one_source(persistence={"keep": False})), "PersistentVolumeClaim")
    assert "annotations" not in passing["metadata"]


def test_a_claim_of_somebody_else_is_mounted_and_none_is_made() -> None:
    manifests = rendered(one_source(persistence={"existingClaim": "old"}))
    assert of_kind(manifests, "PersistentVolumeClaim") == []
    volumes = the(manifests, "StatefulSet")["spec"]["template"]["spec"]["volumes"]
    assert {"name": "checkpoint", "persistentVolumeClaim": {"claimName": "old"}} in volumes
