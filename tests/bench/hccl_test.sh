#!/usr/bin/env bash
# The programs of hccl_test: all operators, their columns, and what they refuse. Usage: hccl_test.sh FOLDER [HCCLRUN]
set -euo pipefail
folder=$1 hcclrun=${2:-}
fail() {
  echo "$*"
  exit 1
}

for operator in all_reduce all_gather all_gatherv broadcast reduce reduce_scatter reduce_scatterv scatter alltoall \
  alltoallv alltoallvc; do
  for ranks in 1 3 4; do
    output=$("$folder/${operator}_test" -b 8K -e 64K -f 2 -d fp32 -p "$ranks" -n 2 -w 1)
    [[ $(grep -cE '^ +[0-9]+\| +[0-9.]+\| +[0-9.]+\| +success\| +[0-9.]+$' <<<"$output") == 4 ]] ||
      fail "$operator on $ranks ranks: $output"
  done
done

# Processes instead of threads: every type and reduction.
if [[ $hcclrun ]]; then
  for type in int8 int16 int32 int64 uint8 uint16 uint32 uint64 fp16 bfp16 fp32 fp64; do
    for op in sum prod max min; do
      output=$("$hcclrun" -n 3 "$folder/reduce_scatter_test" -b 4K -e 4K -d $type -o $op -n 1 -w 0)
      grep -q '| *success|' <<<"$output" || fail "$type $op between processes: $output"
    done
  done
  for operator in all_reduce all_gatherv broadcast reduce reduce_scatterv scatter alltoall alltoallv alltoallvc; do
    for ranks in 1 2 5; do
      output=$("$hcclrun" -n $ranks "$folder/${operator}_test" -b 1K -e 256K -f 16 -n 2 -w 1)
      [[ $(grep -c '| *success|' <<<"$output") == 3 ]] || fail "$operator on $ranks processes: $output"
    done
  done
fi

output=$("$folder/all_reduce_test" -b 8K -e 64K -f 2 -d fp32 -o sum -p 4 -n 2 -w 1)
head -n 1 <<<"$output" | grep -qx 'the minbytes is 8192, maxbytes is 65536, iters is 2, warmup_iters is 1' || fail "$output"
sed -n 2p <<<"$output" | grep -qE 'data_size\(Bytes\):\| *aveg_time\(us\):\| *alg_bandwidth\(GB/s\):\| *check_result:\| *bus_bandwidth\(GB/s\):' ||
  fail "$output"

for type in int8 int16 int32 int64 uint8 uint16 uint32 uint64 fp16 bfp16 fp64; do
  for op in sum prod max min; do
    output=$("$folder/all_reduce_test" -b 4K -e 4K -d $type -o $op -p 3 -n 1 -w 0)
    grep -q '| *success|' <<<"$output" || fail "$type $op: $output"
  done
done
for type in int128 hif8 fp8e4m3 fp8e5m2 fp8e8m0; do
  "$folder/all_gather_test" -b 4K -e 4K -d $type -p 3 -n 1 -w 0 | grep -q '| *success|' || fail "$type is not moved"
done
"$folder/all_reduce_test" -b 4K -e 4K -d int8 -o prod -p 8 -n 1 -w 0 | grep -q '| *NULL|' || fail "a product that overflows"
"$folder/all_reduce_test" -b 4K -e 4K -c 0 -p 2 -n 1 -w 0 | grep -q '| *NULL|' || fail "without a check"
"$folder/all_reduce_test" -b 1K -e 2K -i 512 -p 2 -n 1 -w 0 --json | grep -c '"check": "success"' | grep -qx 3 || fail "json"

refused() { # refused WORDS OPTION...
  if output=$("$folder/reduce_test" "${@:2}" 2>&1); then fail "not refused: ${*:2}"; fi
  grep -q -- "$1" <<<"$output" || fail "expected '$1' in: $output"
}
refused 'datatype' -d float
refused 'op' -o avg
refused 'minbytes' -b 2K -e 1K
"$folder/reduce_test" -b 1K -e 1K -f 1048576 -p 1 -n 1 -w 0 >/dev/null || fail "one size"
refused 'there are' -p 9999
refused 'root 7 of 2 ranks' -r 7 -p 2
refused 'not reduced' -d hif8
