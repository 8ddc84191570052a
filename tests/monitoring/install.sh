#!/bin/sh
# Fetches the Prometheus that the tests run, once: from Debian's package, unpacked beside the system and not installed into
# it, so that no service starts, now or with the machine. Prints the folder of prometheus and promtool.
set -eu

folder="${XDG_CACHE_HOME:-$HOME/.cache}/cdc-bridge/prometheus"

if [ -x "$folder/bin/prometheus" ] && [ -x "$folder/bin/promtool" ]; then
    echo "$folder/bin"
    exit 0
fi
if command -v prometheus >/dev/null 2>&1 && command -v promtool >/dev/null 2>&1; then
    dirname "$(command -v promtool)"
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests of alerts and dashboard need prometheus and promtool 2.42 or newer. On macOS: brew install prometheus." \
        "Elsewhere: unpack a release of https://prometheus.io/download into $folder/bin." >&2
    exit 1
fi

echo "Fetching Prometheus for the tests" >&2
mkdir -p "$folder"
unpacking=$(mktemp -d "$folder/.unpacking.XXXXXX")
trap 'rm -rf "$unpacking"' EXIT
cd "$unpacking"
if ! apt-get download -qq prometheus >/dev/null 2>&1; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "apt-get knows no package prometheus. As root: apt-get update; then again." >&2
        exit 1
    fi
    apt-get update -qq
    # Root's fetch cannot drop to the user _apt in this folder, and says so.
    apt-get download -qq prometheus 2>"$unpacking/apt.log" || { cat "$unpacking/apt.log" >&2; exit 1; }
fi
dpkg-deb --extract ./prometheus_*.deb .
"$unpacking/usr/bin/promtool" --version >/dev/null 2>&1
rm -rf "${folder:?}/bin"
mv "$unpacking/usr/bin" "$folder/bin"
echo "$folder/bin"
