#!/bin/bash
# Ready, once it was given a key.
: "${QDRANT__SERVICE__API_KEY:?}"
mkdir -p /tmp/answers && echo ready >/tmp/answers/readyz
exec python3 -m http.server 6333 --directory /tmp/answers
