// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a checked call to the engine: the choice of the schedule, and the work before and after a lifted
// reduction.

#include <hccl/algorithm/concept.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/core/element.hpp>
#include <hccl/engine/run.hpp>
#include <hccl/reduction/concept.hpp>
#include <hccl/schedule/collective.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace hccl::inline v0::detail {

/// Runs C with algorithm A on buffers of bytes that hold elements as `what` says. `elements` is the number in
/// a buffer of all blocks.
template <class A, Collective C, class State>
void execute(State& state, const C& c, call what, const buffers& user, std::size_t elements,
             const combiner& combine, bool commutes) {
  using Net = decltype(state.net);
  const group ranks(state.net.size());
  what.collective = C::name;
  what.sequence = ++state.sequence;
  if constexpr (Rooted<C>) what.root = c.root;
  if (ranks.size() == 1) {
    if (elements > 0 && user.output != user.input)
      std::memcpy(user.output, user.input, elements * what.element_bytes);
    return;
  }
  const schedule_view schedule = [&] {
    if constexpr (std::same_as<A, Auto>) {
      return state.choices.cheapest(c, ranks, elements * what.element_bytes, Net::link, commutes);
    } else {
      return schedule_view::of<A>(c, ranks);
    }
  }();
  what.algorithm = schedule.algorithm();
  state.engine.run(state.net, schedule, what, user, elements, combine, deadline::after(state.timeout));
}

/// Runs a collective that only moves elements.
template <class A, Collective C, class T, class State>
void move_elements(State& state, const C& c, std::span<const T> in, std::span<T> out, std::size_t count,
                   std::size_t elements) {
  static_assert(check_algorithm<A, C>());
  const call what{.element = element_name<T>(), .element_bytes = sizeof(T), .count = count};
  const buffers user{std::as_bytes(in).data(), std::as_writable_bytes(out).data(), std::same_as<C, AllGather>,
                     false};
  execute<A>(state, c, what, user, elements, {}, true);
}

/// Runs a collective that reduces. `out` is empty where this rank gets no result.
template <class A, Collective C, class T, class Op, class State>
void reduce_elements(State& state, const C& c, std::span<const T> in, std::span<T> out, std::size_t count,
                     const Op& op) {
  static_assert(check_reduction<Op, T>());
  static_assert(check_algorithm<A, C, commutative<Op>>());
  using Travelling = accumulator_t<Op, T>;
  constexpr bool is_scattered = std::same_as<C, ReduceScatter>;
  const call what{.element = element_name<T>(),
                  .reduction = reduction_name<Op>(),
                  .element_bytes = sizeof(Travelling),
                  .count = count};
  const combiner combine = combiner::of<Travelling>(op);
  if constexpr (!is_lifted<Op, T>) {
    const buffers user{std::as_bytes(in).data(), std::as_writable_bytes(out).data(), false, is_scattered};
    execute<A>(state, c, what, user, in.size(), combine, commutative<Op>);
  } else {
    const int ranks = state.net.size();
    state.accumulators.reserve(in.size() * sizeof(Travelling));
    auto* const prepared = reinterpret_cast<Travelling*>(state.accumulators.data());
    for (std::size_t i = 0; i < in.size(); ++i) std::construct_at(prepared + i, prepare(op, in[i], ranks));
    Travelling* const result =
        prepared + (is_scattered ? static_cast<std::size_t>(state.net.rank()) * out.size() : 0);
    const auto bytes = [](Travelling* at) { return reinterpret_cast<std::byte*>(at); };
    execute<A>(state, c, what, {bytes(prepared), bytes(result), false, is_scattered}, in.size(), combine,
               commutative<Op>);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = finish<T>(op, result[i], ranks);
  }
}

}  // namespace hccl::inline v0::detail
