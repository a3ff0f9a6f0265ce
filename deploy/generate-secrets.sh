#!/bin/sh
# The stack's own secrets, made once and kept in a volume that only its services mount.
set -eu
umask 022
for name in postgres_password qdrant_api_key; do
  if [ ! -s "$1/$name" ]; then
    head -c 24 /dev/urandom | od -A n -t x1 | tr -d ' \n' >"$1/$name.new"
    mv "$1/$name.new" "$1/$name"
    echo "made $name"
  fi
done
