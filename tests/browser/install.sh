#!/bin/sh
# Installs the browser that `make browser-test` looks at the status page with (400 MB). Does nothing where it is there.
set -eu

for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "The test needs Chromium. On Debian, as root: apt-get install --no-install-recommends chromium" >&2
    exit 1
fi
echo "Installing for the test: chromium"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
