"""The schema of ``SparkApplication`` as far as the chart writes it; a field that the operator does not know is refused.

Source: kubeflow/spark-operator, ``api/v1beta2/sparkapplication_types.go``. The operator's own definition judges it in
:mod:`tests.helm.against_api_server`.
"""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_SECONDS = {"type": "integer", "minimum": 1}
_AT_LEAST_ONE = {"type": "integer", "minimum": 1}
# Quantities are texts to the operator, and a number is refused.
_POD = {
    "cores": _AT_LEAST_ONE,
    "coreRequest": _TEXT,
    "coreLimit": _TEXT,
    "memory": _TEXT,
    "memoryOverhead": _TEXT,
    "javaOptions": _TEXT,
    "serviceAccount": _TEXT,
}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


SPARK_APPLICATION = _object(
    {
        "apiVersion": {"const": "sparkoperator.k8s.io/v1beta2"},
        "kind": {"const": "SparkApplication"},
        "metadata": {"type": "object"},
        "spec": _object(
            {
                "type": {"enum": ["Java", "Python", "Scala", "R"]},
                "pythonVersion": {"enum": ["2", "3"]},
                "mode": {"enum": ["cluster", "client"]},
                "sparkVersion": _TEXT,
                "image": _TEXT,
                "imagePullPolicy": _TEXT,
                "imagePullSecrets": {"type": "array", "items": _TEXT},
                "mainApplicationFile": _TEXT,
                "arguments": {"type": "array", "items": _TEXT},
                "sparkConf": {"type": "object", "additionalProperties": _TEXT},
                "restartPolicy": _object(
                    {
                        "type": {"enum": ["Never", "Always", "OnFailure"]},
                        "onFailureRetryInterval": _SECONDS,
                        "onSubmissionFailureRetryInterval": _SECONDS,
                    }
                ),
                "driver": _object({**_POD, "template": {"type": "object"}}),
                "executor": _object({**_POD, "instances": _AT_LEAST_ONE}),
            },
            "type",
            "sparkVersion",
            "mainApplicationFile",
            "driver",
            "executor",
        ),
    },
    "apiVersion",
    "kind",
    "metadata",
    "spec",
)
