// SPDX-License-Identifier: Apache-2.0
#pragma once

// Swing: partners alternate between the two directions of a ring, and stay nearer than in a hypercube.

#include <hccl/algorithm/detail/halving.hpp>
#include <hccl/schedule/collective.hpp>

#include <string_view>

namespace hccl::inline v0 {

namespace detail {

/// In round k an even rank meets the one rho(k) ahead and an odd rank the one rho(k) behind, where rho(k) is the
/// sum of (-2)^i for i = 0 to k: 1, -1, 3, -5, 11, ...
struct swing_pattern {
  static constexpr int partner(int actor, int k, int bits) {
    int rho = 0;
    for (int i = 0, term = 1; i <= k; ++i, term *= -2) rho += term;
    return (actor % 2 == 0 ? actor + rho : actor - rho) & ((1 << bits) - 1);
  }

  /// Bit k tells whether the way from rank 0 that never goes back in k takes round k. The digits of the distance
  /// to the base -2 are the parities of the number of rounds that are still to be taken.
  static constexpr int label(int actor, int bits) {
    const unsigned mask = (1u << bits) - 1;
    const unsigned distance = static_cast<unsigned>(actor % 2 == 0 ? -actor : actor);
    const unsigned odd_digits = 0xaaaaaaaau;
    const unsigned digits = ((distance + odd_digits) ^ odd_digits) & mask;
    return static_cast<int>(digits ^ digits >> 1);
  }
};

}  // namespace detail

/// Swing: the halving and doubling of `RecursiveHalvingDoubling` with other partners, at most a third of the ring
/// apart instead of half, so that on a ring or torus fewer messages share a link. Allreduce in 2 floor(log2 p)
/// rounds, and 2 more when p is no power of two; as many bytes.
///
/// Source: D. De Sensi, T. Bonato, D. Saam and T. Hoefler, "Swing: short-cutting rings for higher bandwidth
/// allreduce", NSDI 2024. Numbers of ranks that are no power of two fold, see `detail::fold`.
struct Swing : detail::halving<detail::swing_pattern> {
  static constexpr std::string_view name = "swing";
};

}  // namespace hccl::inline v0
