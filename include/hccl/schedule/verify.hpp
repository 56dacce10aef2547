// SPDX-License-Identifier: Apache-2.0
#pragma once

// The proof of a schedule: it is run on symbolic contributions, at compile time or in a test.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/detail/proof.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/verdict.hpp>

namespace hccl::inline v0 {

/// Proves A's schedule for C over g, out of place and in place.
///
/// The schedule of all ranks is run on symbolic contributions. It is correct if every output block holds
/// every contribution exactly once, nothing is read before it is written or written while it is read in the
/// same round, every send has its arrival of the same size, operands keep rank order if the algorithm claims
/// it, and all ranks compute a block by the same expression, so that they hold the same bits. One rank is
/// always correct: nothing is sent.
///
/// Works in constant expressions. Costs O(blocks sent + ranks * blocks) steps, and about 100 bytes per
/// rank and block.
template <class A, Collective C>
  requires Offers<A, C>
constexpr verdict verify(const group& g, const C& collective = {}) {
  if (g.size() == 1) return {};
  using S = schedule_of<A, C>;
  constexpr auto steps = [](int root, const group& ranks, int self, int round, detail::proof& taker) {
    const C c = detail::with_root_of<C>(Reduce{root});
    S::steps(c, ranks, self, round, [&](const step& s) { taker.take(self, s); });
  };
  const detail::statement given{.ranks = g,
                                .root = root_of(collective),
                                .input = C::input,
                                .output = C::output,
                                .result = detail::outcome_of<C>(),
                                .is_shared = Shared<C>,
                                .has_scratch = holds(collective, place::scratch, 0, 0, 1, 1),
                                .keeps_order = keeps_order<S, C>,
                                .blocks = blocks_of<S>(collective, g),
                                .rounds = S::rounds(collective, g),
                                .steps = steps};
  if (!detail::proof::can_cut(given)) return {fault::bad_step};
  return detail::proof(given).run();
}

}  // namespace hccl::inline v0
