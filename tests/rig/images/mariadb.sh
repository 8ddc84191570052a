#!/bin/sh
# Makes an empty data folder a server whose root has MARIADB_ROOT_PASSWORD from everywhere, then runs it with the options.
set -eu

data=/var/lib/mysql
first=$data/first.sql
if [ ! -d "$data/mysql" ]; then
    mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal --skip-test-db >/dev/null
    for host in localhost 127.0.0.1 %; do
        echo "CREATE OR REPLACE USER root@'$host' IDENTIFIED BY '$MARIADB_ROOT_PASSWORD';"
        echo "GRANT ALL PRIVILEGES ON *.* TO root@'$host' WITH GRANT OPTION;"
    done >"$first"
    set -- --init-file="$first" "$@"
fi
exec mariadbd --no-defaults --datadir="$data" "$@"
