#!/bin/sh
# Fetches the definitions of the Prometheus operator's kinds from its Go module, once. Prints the folder that holds them.
set -eu

version=v0.85.0
folder="${XDG_CACHE_HOME:-$HOME/.cache}/cdc-bridge/prometheus-operator-$version"

if [ ! -d "$folder" ]; then
    module=$(go mod download -json "github.com/prometheus-operator/prometheus-operator@$version" |
        sed -n 's/^.*"Dir": "\(.*\)",$/\1/p')
    fetched=$(mktemp -d "${folder%/*}/.fetching.XXXXXX")
    trap 'rm -rf "$fetched"' EXIT
    cp "$module"/example/prometheus-operator-crd/*podmonitors.yaml "$module"/example/prometheus-operator-crd/*prometheusrules.yaml "$fetched"
    mv "$fetched" "$folder"
fi
echo "$folder"
