#!/bin/bash
# As the postgres image does it: on an empty volume, a cluster with one user and one database.
set -euo pipefail
bin=$(dirname "$(readlink -f /usr/local/bin/pg_isready)")
data=/var/lib/postgresql/data/cluster
chown postgres:postgres /var/lib/postgresql/data
if [ ! -s "$data/PG_VERSION" ]; then
  install --owner=postgres --mode=0400 "$POSTGRES_PASSWORD_FILE" /tmp/password
  gosu postgres "$bin/initdb" -D "$data" --username="$POSTGRES_USER" --pwfile=/tmp/password \
    --auth-host=scram-sha-256 --auth-local=trust >/dev/null
  rm /tmp/password
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  gosu postgres "$bin/pg_ctl" -D "$data" -w -o "-c listen_addresses= -k /tmp" start >/dev/null
  gosu postgres "$bin/createdb" -h /tmp -U "$POSTGRES_USER" "$POSTGRES_DB"
  gosu postgres "$bin/pg_ctl" -D "$data" -w -m fast stop >/dev/null
fi
exec gosu postgres "$bin/postgres" -D "$data" -c "listen_addresses=*" -k /tmp
