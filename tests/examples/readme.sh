#!/usr/bin/env bash
# readme.sh FOLDER HCCLRUN: the programs of README.md and docs/ print what is written there.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
programs=$1 hcclrun=$2

expect 0 $'rank 0: 6 60\nrank 1: 6 60\nrank 2: 6 60\nrank 3: 6 60' "$programs/readme_first"
expect 0 'norm 5.38516, map 8 x + 4' "$programs/readme_reduction"
expect 0 '2 ... 2' "$programs/readme_algorithm"
expect 0 '10' "$programs/readme_chain"
expect 0 '4' "$programs/readme_shared"
expect 0 '4' "$programs/readme_devices"
expect 0 '4 7.5' "$programs/readme_async"
expect 0 'chain: reduce, 4 ranks' "$programs/readme_chain" /dev/stderr
expect 0 $'rank 0 goes on without rank 2\nrank 1 goes on without rank 2' "$programs/readme_errors"
expect 0 $'rank 0: 2\nrank 1: 2\nrank 2: 2' "$programs/readme_transport"
expect 0 'allreduce of 4000 bytes over 8 ranks on 2 hosts: nhr, 7.385 us (rule 1)' "$programs/readme_tuning"
expect 0 'rank 0 of 1: 0' "$programs/readme_job"
expect 0 $'[0] rank 0 of 3: 3\n[1] rank 1 of 3: 3\n[2] rank 2 of 3: 3' "$hcclrun" -n 3 "$programs/readme_job"
if [[ -x $programs/readme_c_api ]]; then
  expect 0 $'[0] rank 0: 3 6 9 12\n[1] rank 1: 3 6 9 12\n[2] rank 2: 3 6 9 12' "$hcclrun" -n 3 "$programs/readme_c_api"
fi

exit $((failures > 0))
