#!/bin/sh
# Makes this build, Java included, trust the certificates of the build secret ca.pem, where there is one.
set -eu

secret=/run/secrets/ca.pem
[ -s "$secret" ] || exit 0
folder=/usr/local/share/ca-certificates/outside
mkdir -p "$folder"
# One certificate a file: that is how they are taken up.
awk -v folder="$folder" '
    /-----BEGIN CERTIFICATE-----/ { file = sprintf("%s/%04d.crt", folder, ++count) }
    file { print > file }
    /-----END CERTIFICATE-----/ { close(file); file = "" }
' "$secret"
update-ca-certificates >/dev/null 2>&1
