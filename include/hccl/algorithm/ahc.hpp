// SPDX-License-Identifier: Apache-2.0
#pragma once

// AHC: the hierarchy for groups of unequal size.

#include <hccl/algorithm/nonuniform_bruck.hpp>
#include <hccl/schedule/hierarchical.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// Asymmetric hierarchical concatenation: `NonuniformBruck` inside hosts and between them. Hosts of any sizes share
/// the bytes between hosts evenly, see `Hierarchical`. For G hosts of at most m ranks, allreduce takes
/// 2 (ceil(log2 m) + ceil(log2 G)) rounds. The reduction must commute.
///
/// Source: HCCL's description of "AHC".
struct AHC : Hierarchical<NonuniformBruck, NonuniformBruck> {
  static constexpr std::string_view name = "ahc";
};

}  // namespace hccl::inline v0
