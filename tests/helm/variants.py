"""Values that between them use every template and every key of the chart."""

from __future__ import annotations

from tests.helm.chart import Values, changed, one_source, settings

EVERYTHING: Values = {
    "commonLabels": {"team": "data"},
    "commonAnnotations": {"owner": "data@example.com"},
    "monitoring": {
        "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": True, "annotations": {"grafana_folder": "CDC"}},
    },
    "defaults": {
        "image": {"repository": "images.example.com/cdc-bridge", "tag": "1.2.3"},
        "imagePullSecrets": [{"name": "pull"}],
        "settings": {
            "kafka": {
                "bootstrap_servers": "kafka-0.kafka:9093,kafka-1.kafka:9094",
                "security": {
                    "protocol": "SASL_SSL",
                    "mechanism": "SCRAM-SHA-512",
                    "username": "bridge",
                    "password_file": "/run/secrets/cdc-bridge/kafka/password",
                },
            },
        },
        "secretFiles": {"kafka": "kafka-bridge"},
        "env": [{"name": "TZ", "value": "UTC"}],
        "envFrom": [{"secretRef": {"name": "bridge-env"}}],
        "extraVolumes": [{"name": "ca", "configMap": {"name": "ca"}}],
        "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/ca", "readOnly": True}],
        "workloadIdentity": {"enabled": True, "clientId": "33333333-3333-3333-3333-333333333333", "tenantId": "44"},
        "serviceAccount": {"annotations": {"note": "federated"}},
        "persistence": {"storageClass": "fast", "size": "20Gi", "annotations": {"backup": "no"}},
        "podLabels": {"tier": "ingest"},
        "podAnnotations": {"sidecar.istio.io/inject": "false"},
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "cdc", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
                }
            }
        },
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
        ],
        "priorityClassName": "high",
        "networkPolicy": {
            "enabled": True,
            "ingressFrom": [
                {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}},
            ],
            "egressPorts": [9999],
            "extraEgress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}],
        },
        "podDisruptionBudget": {"enabled": True, "maxUnavailable": 0},
    },
    "sources": {
        "shop": {
            "settings": {"kafka": {"topics": ["shop.public.orders"]}, "landing_zone": settings(1)["landing_zone"]}
        },
        "crm": {
            "settings": {"kafka": {"pattern": "crm\\..*"}, "landing_zone": settings(2)["landing_zone"]},
            "executors": {
                "enabled": True,
                "instances": 3,
                "labels": {"tier": "work"},
                "annotations": {"sidecar.istio.io/inject": "false"},
                "nodeSelector": {"pool": "spot"},
                "tolerations": [{"key": "spot", "operator": "Exists"}],
                "topologySpreadConstraints": [
                    {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
                ],
                "priorityClassName": "low",
                "requestCores": "1500m",
                "limitCores": "3",
            },
        },
        "erp": {
            "mode": "SparkApplication",
            "settings": {"kafka": {"topics": ["erp.dbo.items"]}, "landing_zone": settings(3)["landing_zone"]},
            "executors": {"enabled": True, "dynamicAllocation": {"enabled": True, "min": 0, "max": 6}},
        },
    },
}

VARIANTS: dict[str, Values] = {
    "smallest": one_source(),
    "everything": EVERYTHING,
    "executors": one_source(executors={"enabled": True}),
    "operator": one_source(mode="SparkApplication"),
    "own names": {"fullnameOverride": "bridges", "nameOverride": "cdc", **one_source()},
    "own claim and account": one_source(
        persistence={"existingClaim": "old-claim"},
        serviceAccount={"create": False, "name": "federated"},
        image={"repository": "cdc-bridge", "digest": f"sha256:{'0' * 64}"},
        test={"enabled": False},
    ),
    "toolboxes": changed(EVERYTHING, "defaults.toolbox", {"enabled": True}),
    "toolbox with the volume": changed(
        one_source(toolbox={"enabled": True}),
        "sources.shop.settings.landing_zone.url",
        "file:///var/lib/cdc-bridge/zone",
    ),
    "names that could meet": changed(
        changed(EVERYTHING, "defaults.toolbox", {"enabled": True}),
        "sources",
        {
            name: {"settings": {"kafka": {"topics": ["t"]}, "landing_zone": settings(zone)["landing_zone"]}}
            for zone, name in enumerate(
                ("shop", "shop-driver", "shop-egress", "shop-check", "shop-toolbox", "shop-0", "dashboard")
            )
        },
    ),
    "longest names": one_source("a" + "-b" * 31),
}
