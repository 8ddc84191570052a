#!/bin/sh
# Installs Debian packages and leaves nothing behind but them. Reads the package sources of the build secret apt.sources
# instead of the base image's, where there is one.
set -eu

sources=/run/secrets/apt.sources
if [ -s "$sources" ]; then
    folder=$(mktemp -d)
    cp "$sources" "$folder/outside.sources"
    chmod -R a+rX "$folder"
    printf 'Dir::Etc::SourceList "/dev/null";\nDir::Etc::SourceParts "%s";\n' "$folder" >/etc/apt/apt.conf.d/99outside
fi

export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install --yes --no-install-recommends "$@" >/dev/null
apt-get -qq clean

if [ -s "$sources" ]; then
    rm -r "$folder" /etc/apt/apt.conf.d/99outside
fi
# Lists are stale at once; logs and caches hold times.
rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/debconf/* /var/cache/ldconfig/aux-cache /tmp/*
