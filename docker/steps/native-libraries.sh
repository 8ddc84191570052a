#!/bin/sh
# Takes the native parts of zstd, snappy and lz4 for this machine out of Spark's jars, into a folder of Java's library
# path. zstd and lz4 look there by themselves; snappy is told to by spark-conf/org-xerial-snappy.properties.
# usage: native-libraries.sh JARS FOLDER
set -eu

jars=$1
folder=$2
case "$(uname -m)" in
    x86_64) short=amd64 long=x86_64 ;;
    aarch64) short=aarch64 long=aarch64 ;;
    *)
        echo "no native libraries are taken for $(uname -m)" >&2
        exit 1
        ;;
esac
mkdir -p "$folder"
unzip -qjo "$jars"/zstd-jni-*.jar "linux/$short/libzstd-jni-*.so" -d "$folder"
unzip -qjo "$jars"/lz4-java-*.jar "net/jpountz/util/linux/$short/liblz4-java.so" -d "$folder"
unzip -qjo "$jars"/snappy-java-*.jar "org/xerial/snappy/native/Linux/$long/libsnappyjava.so" -d "$folder"
chmod 644 "$folder"/*.so
