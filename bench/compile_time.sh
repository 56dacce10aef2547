#!/usr/bin/env bash
# What <hccl/collectives.hpp> adds to the compile time, beside the standard headers that it includes.
# Prints the median of five runs, in seconds of processor time. Usage: bench/compile_time.sh [flags of the compiler]
set -euo pipefail
include=$(cd "$(dirname "${BASH_SOURCE[0]}")/../include" && pwd)
units=$(mktemp -d)
trap 'rm -r "$units"' EXIT

: >"$units/empty.cpp"
echo '#include <hccl/collectives.hpp>' >"$units/front.cpp"
"${CXX:-c++}" -std=c++20 -I"$include" -M "$units/front.cpp" | grep -o "$include/[^ ]*" |
  xargs grep -hoP '^#include <[a-z0-9_.]+>' | sort -u >"$units/standard.cpp"

# seconds COMPILER UNIT FLAG...: user and system time of one compilation.
seconds() {
  local TIMEFORMAT='%U %S'
  { time "$1" -std=c++20 -I"$include" "${@:3}" -c -o /dev/null "$units/$2.cpp"; } 2>&1 |
    awk '{ printf "%.2f\n", $1 + $2 }'
}

printf '%-10s %10s %10s %10s %18s\n' compiler empty standard front 'front / standard'
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  for _ in {1..5}; do
    for unit in empty standard front; do
      seconds "$compiler" "$unit" "$@" >>"$units/$compiler.$unit"
    done
  done
  for unit in empty standard front; do
    sort -n "$units/$compiler.$unit" | sed -n 3p
  done | xargs printf '%s %s %s %s\n' "$compiler" |
    awk '{ printf "%-10s %10.2f %10.2f %10.2f %18.2f\n", $1, $2, $3, $4, ($4 - $2) / ($3 - $2) }'
done
