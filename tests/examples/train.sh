#!/usr/bin/env bash
# train.sh TRAIN HCCLRUN [TRAIN_IN_C]: trains on a small data set with each way to start ranks. All agree to the bit.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
train=$1 hcclrun=$2 train_in_c=${3:-}
data=$(mktemp -d)
trap 'rm -r "$data"' EXIT

# Class c is two bright rows at 2c. Each part has 10 images of each class.
zeros() { head -c "$1" /dev/zero; }
classes() {
  for c in {0..9}; do
    zeros $((56 * c)); zeros 56 | tr '\0' '\377'; zeros $((784 - 56 * (c + 1)))
  done
}
repeat() { for _ in {1..10}; do cat "$1"; done; }
classes >"$data/classes"
printf '\0\1\2\3\4\5\6\7\10\11' >"$data/labels"
for part in train t10k; do
  { printf '\0\0\10\3\0\0\0\144\0\0\0\34\0\0\0\34'; repeat "$data/classes"; } >"$data/$part-images-idx3-ubyte"
  { printf '\0\0\10\1\0\0\0\144'; repeat "$data/labels"; } | gzip >"$data/$part-labels-idx1-ubyte.gz"
done

# trains COMMAND...: it learns everything, and ends with the same weights as the runs before it.
trains() {
  local found
  expect 0 'The weights are identical on all 3 ranks.' \
    "$@" --data "$data" --epochs 3 --batch 10 --algorithm ring
  found=$(grep -oE 'test accuracy .*|weights of rank 2: .*' <<<"$output")
  expected=${expected:-$found}
  [[ $found == "$expected" && $found == *'accuracy 100.00 %'* ]] || fail "$*" "$expected" "$found"
}

trains "$train" --ranks 3 --transport local
trains "$train" --ranks 3 --transport shm
trains "$train" --ranks 3 --transport tcp
trains "$hcclrun" -n 3 "$train"
if command -v mpirun >/dev/null; then
  trains mpirun --allow-run-as-root --oversubscribe -n 3 "$train"
fi

# The program in C divides by the ranks and by the images of one, which is the same to the bit for two ranks.
if [[ $train_in_c ]]; then
  weights() { grep -oE 'test accuracy .*|weights of rank 1: .*' <<<"$output"; }
  expect 0 'The weights are identical on all 2 ranks.' "$train" --ranks 2 --data "$data" --epochs 3 --batch 10
  in_cpp=$(weights)
  expect 0 'The weights are identical on all 2 ranks.' "$hcclrun" -n 2 "$train_in_c" "$data" 3 10
  [[ $(weights) == "$in_cpp" ]] || fail "$train_in_c" "$in_cpp" "$(weights)"
  expect 0 'The weights are identical on all 3 ranks.' "$hcclrun" -n 3 "$train_in_c" "$data" 3 10
  expect 1 'train: /no/such/folder' "$train_in_c" /no/such/folder
fi

expect 1 'train: /no/such/folder: expected train-images-idx3-ubyte' "$train" --data /no/such/folder
expect 1 'no_such_algorithm' "$train" --data "$data" --algorithm no_such_algorithm
zeros 5 >"$data/t10k-images-idx3-ubyte"
expect 1 't10k-images-idx3-ubyte: expected' "$hcclrun" -n 2 "$train" --data "$data"

exit $((failures > 0))
