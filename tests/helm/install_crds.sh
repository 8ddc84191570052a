#!/bin/sh
# Fetches the definitions of the kinds of the Prometheus operator and of Spark's from their Go modules, once. Prints the
# folder that holds them.
set -eu

prometheus=v0.85.0
spark=v2.3.0
folder="${XDG_CACHE_HOME:-$HOME/.cache}/cdc-bridge/operators-$prometheus-$spark"

module() {
    go mod download -json "$1" | sed -n 's/^.*"Dir": "\(.*\)",$/\1/p'
}

if [ ! -d "$folder" ]; then
    mkdir -p "${folder%/*}"
    fetched=$(mktemp -d "${folder%/*}/.fetching.XXXXXX")
    trap 'rm -rf "$fetched"' EXIT
    crds=$(module "github.com/prometheus-operator/prometheus-operator@$prometheus")/example/prometheus-operator-crd
    cp "$crds"/*podmonitors.yaml "$crds"/*prometheusrules.yaml "$fetched"
    crds=$(module "github.com/kubeflow/spark-operator/v2@$spark")/config/crd/bases
    cp "$crds"/sparkoperator.k8s.io_sparkapplications.yaml "$fetched"
    mv "$fetched" "$folder"
fi
echo "$folder"
