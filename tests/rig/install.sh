#!/bin/sh
# Installs the database servers that the tests need: PostgreSQL 15 and MariaDB. Does nothing where they are there.
# With --postgis also PostGIS (170 MB), whose types `make types` then carries as well.
set -eu

if [ "${CDC_BRIDGE_TEST_RIG:-}" = container ]; then
    exit 0
fi

has() {
    command -v "$1" >/dev/null 2>&1 && return 0
    shift
    for pattern in "$@"; do
        # shellcheck disable=SC2086 # the pattern is meant to be expanded
        for file in $pattern; do
            [ -x "$file" ] && return 0
        done
    done
    return 1
}

missing=""
has initdb '/usr/lib/postgresql/*/bin/initdb' '/opt/homebrew/opt/postgresql@*/bin/initdb' || missing="postgresql-15"
has mariadbd /usr/sbin/mariadbd '/opt/homebrew/opt/mariadb*/bin/mariadbd' || missing="$missing mariadb-server"
if [ "${1:-}" = --postgis ]; then
    [ -e /usr/share/postgresql/15/extension/postgis.control ] || missing="$missing postgresql-15-postgis-3"
fi
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests need database servers that are not installed. On Debian or Ubuntu, as root: apt-get install" \
        "--no-install-recommends$(printf ' %s' "$missing"). On macOS: brew install postgresql@15 mariadb." \
        "Or, with Docker, say CDC_BRIDGE_TEST_RIG=container." >&2
    exit 1
fi

echo "Installing for the tests: $missing"
# Neither a cluster nor a service: the tests start servers of their own, on ports of their own.
mkdir -p /etc/postgresql-common/createcluster.d
echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.d/cdc-bridge-tests.conf
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
apt-get install -qq -y --no-install-recommends $missing >/dev/null
