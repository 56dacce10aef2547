#!/usr/bin/env bash
# Builds and runs all tests. Usage: tests/run.sh [dev|release|asan-ubsan|tsan|tsan-all] [CMAKE-OPTION...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/packages.sh
preset=${1:-dev}

[[ $preset == asan-ubsan ]] && install_packages clang libclang-rt-dev
install_packages g++ cmake ninja-build boost-headers nlohmann-json3-dev catch2 libfmt-dev libcli11-dev zlib1g-dev
command -v ninja >/dev/null && export CMAKE_GENERATOR=Ninja
cmake --preset "$preset" -DHCCLPP_BUILD_BENCHMARKS=OFF "${@:2}"
cmake --build --preset "$preset" --parallel "$(nproc)"
ctest --preset "$preset" --parallel "$(nproc)"
