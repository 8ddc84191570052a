#!/bin/sh
# Builds the helm that the chart's tests run, once, from the Go module of its pinned version. Prints where it is.
set -eu

version=v3.20.2
folder="${XDG_CACHE_HOME:-$HOME/.cache}/cdc-bridge/bin"
helm="$folder/helm-$version"

if [ ! -x "$helm" ]; then
    if ! command -v go >/dev/null 2>&1; then
        echo "The chart's tests need helm $version, which is built with Go 1.25 or newer. Install Go (https://go.dev/dl)," \
            "or put helm there yourself: $helm" >&2
        exit 1
    fi
    echo "Building helm $version: a few minutes, once" >&2
    mkdir -p "$folder"
    building=$(mktemp -d "$folder/.building.XXXXXX")
    trap 'rm -rf "$building"' EXIT
    # As the release does: its version, and the Kubernetes that it takes for the cluster's where there is none.
    kubernetes="-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=35"
    GOBIN="$building" CGO_ENABLED=0 nice -n 10 go install -trimpath \
        -ldflags "-s -w -X helm.sh/helm/v3/internal/version.version=$version $kubernetes" \
        "helm.sh/helm/v3/cmd/helm@$version" >&2
    mv "$building/helm" "$helm"
fi
echo "$helm"
