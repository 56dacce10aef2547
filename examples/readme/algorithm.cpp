// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <cstdio>
#include <string_view>
#include <vector>

/// In round k each rank gives the rank at distance k + 1 its part, and adds what arrives to its own.
struct Rotation {
  static constexpr std::string_view name = "rotation";

  static constexpr int rounds(hccl::ReduceScatter, const hccl::group& g) { return g.size() - 1; }

  static constexpr void steps(hccl::ReduceScatter, const hccl::group& g, int self, int round, auto&& emit) {
    using enum hccl::place;
    const int to = g.wrap(self + round + 1);
    const int from = g.wrap(self - round - 1);
    emit(hccl::send_step(to, {to}, input));                                      // block `to` of the input
    emit(hccl::reduce_step(from, {self}, round == 0 ? input : output, output));  // op(mine, arriving)
  }
};

static_assert(hccl::verify<Rotation, hccl::ReduceScatter>(hccl::group(7)));
static_assert(hccl::verify<Rotation, hccl::AllReduce>(hccl::group(7)));  // derived from it

int main() {
  hccl::run_local(4, [](auto& comm) {
    std::vector<float> data(1000, 0.5f);
    hccl::allreduce<float, hccl::Sum, Rotation>(comm, data);
    if (comm.rank() == 0) std::printf("%g ... %g\n", data.front(), data.back());
  });
}
