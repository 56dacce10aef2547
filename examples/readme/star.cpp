// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <cstdio>
#include <string_view>

/// Everyone sends to rank 0, which combines in rank order and sends the result to everyone.
struct Star {
  static constexpr std::string_view name = "star";

  static constexpr bool keeps_order(hccl::AllReduce) { return true; }
  static constexpr int blocks(hccl::AllReduce, const hccl::group&) { return 1; }
  static constexpr int rounds(hccl::AllReduce, const hccl::group&) { return 2; }

  static constexpr void steps(hccl::AllReduce, const hccl::group& g, int self, int round, auto&& emit) {
    using enum hccl::place;
    if (self != 0) {
      emit(round == 0 ? hccl::send_step(0, {0}, input) : hccl::receive_step(0, {0}, output));
      return;
    }
    for (int peer = 1; peer < g.size(); ++peer) {
      emit(round == 0 ? hccl::reduce_step(peer, {0}, peer == 1 ? input : output, output)
                      : hccl::send_step(peer, {0}, output));
    }
  }
};

static_assert(hccl::verify<Star, hccl::AllReduce>(hccl::group(8)));

constexpr hccl::link_model network{
    .latency = 1e-5, .overhead = 3e-6, .seconds_per_byte = 4e-10, .reduction = 1e-10};
static_assert(hccl::cost<Star, hccl::AllReduce>(hccl::group(8), 1 << 20, network) >
              hccl::cost<hccl::Ring, hccl::AllReduce>(hccl::group(8), 1 << 20, network));

int main() {
  hccl::run_local(4, [](auto& comm) {
    int letters[] = {comm.rank() + 1};
    hccl::allreduce<int, hccl::Sum, Star>(comm, letters);
    if (comm.rank() == 0) std::printf("%d\n", letters[0]);
  });
}
