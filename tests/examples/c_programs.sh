#!/usr/bin/env bash
# Runs the programs in C, as their texts say. Usage: c_programs.sh FOLDER HCCLRUN
set -euo pipefail
folder=$1 hcclrun=$2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
unset RANK_TABLE_FILE

expect() { # expect LINES TEXT: the last output has so many lines with the text
  local found
  found=$(grep -cF -- "$2" "$work/out") || true
  if [[ $found != "$1" ]]; then
    echo "expected $1 lines with '$2', found $found in:"
    cat "$work/out"
    exit 1
  fi
}

for n in 1 2 5 8; do
  "$folder/devices" "$n" >"$work/out"
  expect "$n" "sum $((n * (n - 1) / 2)), expected"
done

for n in 1 2 4; do
  "$hcclrun" -n "$n" "$folder/root_info" "$work/root" >"$work/out"
  expect "$n" "the sum of ones is $n"
done
if command -v mpirun >/dev/null; then
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    mpirun -n 3 "$folder/root_info" "$work/root" >"$work/out"
  expect 3 "the sum of ones is 3"
fi

cat >"$work/table" <<'END'
{"status": "completed", "version": "1.0", "server_count": "1", "server_list": [{"server_id": "here", "device": [
  {"device_id": "0", "rank_id": "0"}, {"device_id": "1", "rank_id": "1"}, {"device_id": "2", "rank_id": "2"}]}]}
END
"$hcclrun" -n 3 "$folder/rank_table" "$work/table" >"$work/out"
expect 3 "has gathered 0 1 2"
RANK_TABLE_FILE=$work/table "$hcclrun" -n 3 "$folder/rank_table" >"$work/out"
expect 3 "has gathered 0 1 2"

"$hcclrun" -n 5 "$folder/sub_communicators" >"$work/out"
expect 3 "the even ranks add up to 6, all to 10"
expect 2 "the odd ranks add up to 4, all to 10"
