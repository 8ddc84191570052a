#!/bin/sh
# Takes what is never run out of a virtual environment, and compiles the rest: the image's files cannot be written.
# usage: trim.sh ENVIRONMENT [ROOT]; with a root the environment lies below it, where it is not going to stay.
set -eu

root=${2:-}
packages=$root$1/lib/python3.11/site-packages
rm -rf "$packages/pyspark/examples" "$packages/pyspark/data" "$packages/pyarrow/include" "$packages/pyarrow/src"
# The bridge keeps no state in Spark, which is what RocksDB is for; it serves no remote sessions and learns nothing.
rm -rf "$packages/pyspark/jars/connect-repl"
for jar in rocksdbjni spark-connect_ spark-mllib_ breeze spire cats-kernel algebra; do
    rm -f "$packages/pyspark/jars/$jar"*.jar
done
for package in numpy pandas pyarrow; do
    if [ -d "$packages/$package" ]; then
        find "$packages/$package" -type d -name tests -prune -exec rm -r {} +
    fi
done
find "$packages" \( -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' -o -name '*.a' -o -name '*.lib' \) -delete
# By hash, never checked: no time goes into the compiled files, and none is compared.
python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash ${root:+-s "$root" -p /} "$packages"
