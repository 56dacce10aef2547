#!/usr/bin/env bash
# The shared library shows the HCCL API, in one version, and nothing else. Usage: symbols.sh LIBRARY
set -euo pipefail
symbols=$(nm --dynamic --defined-only --with-symbol-versions "$1" | awk '{print $3}' | grep -vx 'HCCL_1')
others=$(grep -vE '^(Hccl|hccl)[A-Za-z]+@@HCCL_1$' <<<"$symbols" || true)
if [[ -n $others ]]; then
  printf 'symbols that are not of the API:\n%s\n' "$others"
  exit 1
fi
grep -qx 'HcclAllReduce@@HCCL_1' <<<"$symbols"
