#!/usr/bin/env bash
# Measures hccl beside Open MPI, MPICH and Gloo on this machine, one after the other in turn, and writes
# docs/performance.md. Usage: bench/compare.sh [repetitions]   Some twenty minutes for each; leave the machine alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/packages.sh
repetitions=${1:-2}

install_packages g++ cmake ninja-build boost-headers catch2 libfmt-dev libcli11-dev nlohmann-json3-dev libbenchmark-dev \
  openmpi-bin libopenmpi-dev mpich libmpich-dev libgloo-dev python3-matplotlib
export CMAKE_GENERATOR=Ninja
cmake --preset release -DHCCLPP_BUILD_TESTS=OFF -DHCCLPP_BUILD_BENCHMARKS=ON
cmake --build --preset release --parallel "$(nproc)" --target hccl_perf bare_perf mpi_perf_openmpi mpi_perf_mpich gloo_perf

bin=build/release/bench
results=$(mktemp -d)
trap 'rm -r "$results"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
head -c 4096 /dev/zero >"$results/probe"

# What is measured: NAME COMMAND... of N ranks.
programs() {
  local n=$1 open=(mpirun.openmpi --oversubscribe -n "$1") file=$bin/peers/mpi_perf_openmpi
  cat <<END
hccl, private buffers|$bin/hccl_perf --transport shm --ranks $n
hccl, shared buffers|$bin/hccl_perf --transport shm --buffers shared --ranks $n
hccl, threads|$bin/hccl_perf --transport local --ranks $n
Open MPI|${open[*]} $file
Open MPI, no CMA|${open[*]} --mca btl_vader_single_copy_mechanism none $file
Open MPI, coll/sm|${open[*]} --mca coll_sm_priority 100 $file
Open MPI, UCX|${open[*]} --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any $file
MPICH|mpirun.mpich -n $n $bin/peers/mpi_perf_mpich
Gloo|$bin/peers/gloo_perf --ranks $n
bare loop|$bin/peers/bare_perf --ranks $n
END
}

# run NAME MALLOC COMMAND...: measures all collectives that the program offers; one that fails or takes too long is left out.
run() {
  local name=$1 malloc=$2 collective place
  shift 2
  for collective in allreduce broadcast allgather reduce_scatter alltoall barrier; do
    [[ $name == Gloo && $collective == reduce_scatter ]] && continue
    place=out
    [[ $collective == broadcast ]] && place=in
    echo "  $name, $collective"
    timeout 120 "$@" --collective "$collective" --in-place "$place" -b 8 -e 32M -f 4 --csv --probe "$results/probe" \
      2>/dev/null | sed "s|^|\"$name\",$malloc,|" >>"$results/points.csv" || echo "    left out: it failed, or took over two minutes"
    head -c 4096 /dev/zero >"$results/probe"
  done
}

for ((turn = 1; turn <= repetitions; ++turn)); do
  for n in 2 4 8; do
    while IFS='|' read -r name command; do
      echo "turn $turn of $repetitions, $n ranks: $name"
      run "$name" default $command </dev/null
      case $name in hccl* | bare*) continue ;; esac
      MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=4294967296 MALLOC_TOP_PAD_=268435456 \
        run "$name" untrimmed $command </dev/null
    done < <(programs "$n")
  done
done

/usr/bin/python3 bench/compare.py "$results/points.csv" docs  # the Python that apt-get gives packages to
