#!/bin/sh
# Builds kube-apiserver of a pinned Kubernetes and etcd, once, for `make chart-apiserver-test`: half an hour on two
# cores. Prints the folder that holds both.
#
# The module k8s.io/kubernetes has replace directives into its own tree, which `go install` refuses and its zip lacks. So
# it is built from a module of our own, with each of these parts at the version that Kubernetes publishes it under.
set -eu

kubernetes=1.35.1
etcd=v3.6.7
folder="${XDG_CACHE_HOME:-$HOME/.cache}/cdc-bridge/kubernetes-$kubernetes"

if [ ! -x "$folder/kube-apiserver" ] || [ ! -x "$folder/etcd" ]; then
    if ! command -v go >/dev/null 2>&1; then
        echo "The test against a real kube-apiserver needs Go 1.25 or newer to build it: https://go.dev/dl" >&2
        exit 1
    fi
    mkdir -p "$folder"
    building=$(mktemp -d "$folder/.building.XXXXXX")
    trap 'rm -rf "$building"' EXIT
    cd "$building"
    export CGO_ENABLED=0 GOFLAGS="-p=1 -trimpath"

    echo "Building kube-apiserver $kubernetes: half an hour or so, once" >&2
    go mod init cdc-bridge/apiserver 2>/dev/null
    module=$(go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/^.*"Dir": "\(.*\)",$/\1/p')
    sed -n 's|^[[:space:]]*\(k8s\.io/[a-z-]*\) => \./staging/.*|\1|p' "$module/go.mod" | while read -r part; do
        go mod edit -replace "$part=$part@v0.${kubernetes#1.}"
    done
    go mod edit -require "k8s.io/kubernetes@v$kubernetes"
    printf 'package main\n\nimport (\n\t"os"\n\n\t"k8s.io/component-base/cli"\n\t"k8s.io/kubernetes/cmd/kube-apiserver/app"\n)\n\nfunc main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }\n' >main.go
    go mod tidy >&2
    stamp="-X k8s.io/component-base/version.gitVersion=v$kubernetes"
    nice -n 10 go build -ldflags "-s -w $stamp" -o kube-apiserver . >&2
    mv kube-apiserver "$folder/"

    echo "Building etcd $etcd" >&2
    mkdir etcd-module && cd etcd-module
    go mod init cdc-bridge/etcd 2>/dev/null
    printf 'package main\n\nimport (\n\t"os"\n\n\t"go.etcd.io/etcd/server/v3/etcdmain"\n)\n\nfunc main() { etcdmain.Main(os.Args) }\n' >main.go
    go mod edit -require "go.etcd.io/etcd/server/v3@$etcd"
    go mod tidy >&2
    nice -n 10 go build -ldflags "-s -w" -o etcd . >&2
    mv etcd "$folder/"
fi
echo "$folder"
