#!/usr/bin/env bash
# Builds the training example and trains on four ranks. Usage: examples/train/run.sh [options of train]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/packages.sh

install_packages g++ cmake ninja-build boost-headers nlohmann-json3-dev libfmt-dev libcli11-dev zlib1g-dev dataset-fashion-mnist
command -v ninja >/dev/null && export CMAKE_GENERATOR=Ninja
cmake --preset release -DHCCLPP_BUILD_TESTS=OFF -DHCCLPP_BUILD_BENCHMARKS=OFF
cmake --build --preset release --parallel "$(nproc)" --target train
exec build/release/examples/train/train --ranks 4 "$@"
