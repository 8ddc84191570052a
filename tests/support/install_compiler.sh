#!/bin/sh
# Installs the C compiler that the tests need, and what it includes. Does nothing where it is there.
# $1: the Python whose headers are needed.
set -eu

has_headers() {
    "$1" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'
}

missing=""
command -v "${CC:-cc}" >/dev/null 2>&1 || missing=" gcc libc6-dev"
has_headers "$1" || missing="$missing python3-dev"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests need a C compiler and Python's headers. On Debian or Ubuntu, as root: apt-get install" \
        "--no-install-recommends$missing. On macOS: xcode-select --install." >&2
    exit 1
fi

echo "Installing for the tests:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
apt-get install -qq -y --no-install-recommends $missing >/dev/null
