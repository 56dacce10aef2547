#!/usr/bin/env bash
# launchers.sh PROGRAM: starts three ranks of tests/bootstrap/launched.cpp under every launcher that is
# installed. Exits with 77 when there is none.
set -uo pipefail
program=$1
export HCCL_TIMEOUT=20
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
tried=0 failures=0
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# expect WHAT COMMAND...: the command succeeds, and each of three ranks has connected twice.
expect() {
  local what=$1 output status rank time
  shift
  tried=$((tried + 1))
  output=$(timeout 60 "$@" 2>&1 </dev/null)
  status=$?
  for rank in 0 1 2; do
    for time in 0 1; do
      [[ $output == *"rank $rank of 3, time $time"* ]] || status=1
    done
  done
  if ((status != 0)); then
    printf '%s:\n%s\n' "$what" "$output"
    failures=$((failures + 1))
  else
    echo "$what: well"
  fi
}

has() { command -v "$1" >/dev/null; }
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

if has mpirun.openmpi; then
  expect "Open MPI" mpirun.openmpi --oversubscribe -n 3 "$program"
  expect "Open MPI, a store named" \
    mpirun.openmpi --oversubscribe -n 3 -x HCCL_STORE="file://$logs/openmpi" "$program"
fi
if has mpiexec.hydra; then
  expect "MPICH" mpiexec.hydra -n 3 "$program"
fi
if has srun && srun -n 1 true 2>/dev/null; then
  expect "Slurm" srun -n 3 "$program"
fi
if has torchrun; then
  # PyTorch 1.13 under Python 3.11 starts nothing unless told which one stream to write to files.
  options=(--redirects 1 --tee 1 --log_dir "$logs" --no_python --nproc_per_node 3)
  expect "torchrun" \
    torchrun "${options[@]}" --master_addr 127.0.0.1 --master_port "$(free_port)" "$program"
  expect "torchrun, meeting by c10d" \
    torchrun "${options[@]}" --rdzv_backend c10d --rdzv_endpoint "127.0.0.1:$(free_port)" "$program"
fi

((tried > 0)) || exit 77
exit $((failures > 0))
