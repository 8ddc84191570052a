#!/bin/sh
# Gives every file that was made or changed since a moment another time, so that no layer holds when it was built.
# Both are seconds since 1970. usage: settle.sh SINCE TIME [FOLDER]
set -eu

since=$1
time=$2
root=${3:-}
for top in etc home opt root srv usr var; do
    if [ -d "$root/$top" ]; then
        # A second earlier, since the moment has lost its fraction. What the build mounts read-only is not writable.
        find "$root/$top" -xdev -newermt "@$((since - 1))" -writable -exec touch --no-dereference --date="@$time" {} +
    fi
done
