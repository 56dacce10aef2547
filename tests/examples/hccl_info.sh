#!/usr/bin/env bash
# What hccl-info prints. Usage: hccl_info.sh PROGRAM
set -euo pipefail
info=$1
expect() {
  grep -qE -- "$1" <<<"$output" || { echo "expected '$1' in:"; echo "$output"; exit 1; }
}

output=$(env -u HCCL_CONNECT_TIMEOUT ACL_SIM_DEVICES=3 HCCL_EXEC_TIMEOUT=60 "$info")
expect '^\| hccl +\| [0-9]+\.[0-9]+\.[0-9]+ +\|$'
expect '^\| 2 +\| Ascend910B.* GiB +\|'
expect '^\| shm +\| processes of a host'
expect '^\| ascend +\| NPUs of a process'
expect '^\| HCCL_EXEC_TIMEOUT +\| 60 +\| environment \|'
expect '^\| HCCL_CONNECT_TIMEOUT +\| 120 +\| default +\|'

output=$(env -u HCCL_CONNECT_TIMEOUT -u HCCL_EXEC_TIMEOUT HCCL_TIMEOUT=30 "$info")
expect '^\| HCCL_CONNECT_TIMEOUT +\| 30 +\| HCCL_TIMEOUT +\|'
expect '^\| HCCL_EXEC_TIMEOUT +\| 30 +\| HCCL_TIMEOUT +\|'

if output=$(HCCL_DETERMINISTIC=perhaps "$info"); then
  echo "a wrong setting is no failure"
  exit 1
fi
expect '^\| HCCL_DETERMINISTIC +\| perhaps +\| environment \| WRONG: expected false, true or strict'
