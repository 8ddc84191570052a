#!/bin/sh
# Makes an empty data folder a cluster of POSTGRES_USER and POSTGRES_PASSWORD, then runs the command.
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    password=$(mktemp)
    printf '%s' "$POSTGRES_PASSWORD" >"$password"
    initdb -A scram-sha-256 -U "$POSTGRES_USER" --pwfile="$password" -E UTF8 --locale=C --no-sync
    rm "$password"
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    # Debian's folder for sockets belongs to nobody in a container.
    printf "listen_addresses = '*'\nunix_socket_directories = ''\n" >>"$PGDATA/postgresql.conf"
fi
exec "$@"
