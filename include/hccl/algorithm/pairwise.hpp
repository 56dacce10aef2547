// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pairwise: in each round every rank sends to one rank and receives from one.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// The pairwise exchange for all-to-all: in round k, rank r sends to r + k and receives from r - k.
///
/// p - 1 rounds, (p-1)/p of the buffer sent per rank, each block straight to its destination, and no rank is
/// sent to by two at once. For large blocks, and for networks on which many senders to one receiver collide.
///
/// Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005.
struct Pairwise {
  static constexpr std::string_view name = "pairwise";

  static constexpr int rounds(const AllToAllV&, const group& g) { return g.size() - 1; }

  static constexpr void steps(const AllToAllV&, const group& g, int self, int round, auto&& emit) {
    for (const int distance : {0, round + 1}) {
      if (distance == 0 && round > 0) continue;  // its own block
      const int to = g.wrap(self + distance), from = g.wrap(self - distance);
      emit(send_step(to, {to}, place::input));
      emit(receive_step(from, {from}, place::output));
    }
  }
};

}  // namespace hccl::inline v0
