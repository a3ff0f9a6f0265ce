#!/bin/sh
# Secrets come as files, Dagster and the settings read variables: NAME_FILE becomes NAME. A
# variable that is set already wins, an empty or missing file sets none.
set -eu
for name in DAGSTER_POSTGRES_PASSWORD QDRANT_API_KEY OPENAI_API_KEY ANTHROPIC_API_KEY \
  QINDEX_WEBHOOK_URL; do
  eval "value=\${$name:-} file=\${${name}_FILE:-}"
  if [ -z "$value" ] && [ -n "$file" ] && [ -e "$file" ]; then
    value=$(cat "$file")
    if [ -n "$value" ]; then
      export "$name=$value"
    fi
  fi
done
exec "$@"
