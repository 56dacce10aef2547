// SPDX-License-Identifier: Apache-2.0
#pragma once

// Star: the root talks to everyone, and nobody else talks.

#include <hccl/algorithm/mesh.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// The star around the root: one round for reduce, broadcast, scatter and gather, two for allreduce.
///
/// The root sends or receives p - 1 messages, in reduce and broadcast of the whole vector. For few ranks, small
/// vectors, and a root with a link to everyone. Rank order is kept.
struct Star {
  static constexpr std::string_view name = "star";

  static constexpr bool keeps_order(const auto&) { return true; }

  static constexpr int blocks(const Reduce&, const group&) { return 1; }
  static constexpr int rounds(const Reduce&, const group&) { return 1; }

  static constexpr void steps(const Reduce& c, const group& g, int self, int, auto&& emit) {
    detail::reduce_at_root(c, g, self, emit);
  }

  static constexpr int rounds(const Scatter& c, const group& g) { return Mesh::rounds(c, g); }

  static constexpr void steps(const Scatter& c, const group& g, int self, int round, auto&& emit) {
    Mesh::steps(c, g, self, round, emit);
  }
};

}  // namespace hccl::inline v0
