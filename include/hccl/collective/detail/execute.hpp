// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a checked call to the engine: the choice of the schedule, and the work before and after a lifted
// reduction.

#include <hccl/algorithm/concept.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/shares.hpp>
#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/core/element.hpp>
#include <hccl/core/error.hpp>
#include <hccl/engine/direct.hpp>
#include <hccl/engine/run.hpp>
#include <hccl/reduction/concept.hpp>
#include <hccl/schedule/collective.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace hccl::inline v0::detail {

/// The elements of one call: the buffers, how they are divided, and what all ranks must agree on.
template <class T>
struct transfer {
  std::span<const T> in;
  std::span<T> out;  // empty where this rank gets nothing
  division in_parts, out_parts, scratch_parts;
  std::size_t count = 0;    // as the user gave it
  std::uint32_t shape = 0;  // digest of the sizes of shares, where they differ

  transfer(std::span<const T> input, std::span<T> output, const division& parts, std::size_t user_count)
      : in(input), out(output), in_parts(parts), out_parts(parts), scratch_parts(parts), count(user_count) {}
};

/// The division that shares describe. `offsets` is memory for those that they do not give.
inline division divided(const shares& parts, std::vector<std::size_t>& offsets) {
  if (parts.has_offsets()) return division::of(parts.counts(), parts.offsets());
  offsets.resize(parts.counts().size());
  std::exclusive_scan(parts.counts().begin(), parts.counts().end(), offsets.begin(), std::size_t{0});
  return division::of(parts.counts(), offsets);
}

/// Whether shares may overlap.
inline constexpr bool is_read = false, is_written = true;

/// The most elements that a buffer of another rank can have.
template <class T>
inline constexpr std::size_t elsewhere = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);

/// Checks the shares of a buffer of `size` elements, and returns that of this rank.
template <Transport Net>
extent check_shares(communicator<Net>& comm, const arguments& arguments, const shares& parts,
                    std::size_t size, bool written) {
  auto& memory = access::of(comm).lists[0];
  arguments.fit("parts", parts, size);
  if (written) arguments.disjoint("parts", parts, memory);
  return divided(parts, memory).share(static_cast<std::size_t>(comm.rank()));
}

/// The input of a collective that cannot work in place: itself, or a copy if the output begins with it.
template <class T, class State>
std::span<const T> apart_from(State& state, std::span<const T> in, std::span<T> out) {
  if (in.data() != out.data() || in.empty()) return in;
  state.accumulators.reserve(in.size_bytes());
  copy_bytes(state.accumulators.data(), std::as_bytes(in).data(), in.size_bytes());
  return {reinterpret_cast<const T*>(state.accumulators.data()), in.size()};
}

/// The transfer of a collective in which a buffer is divided into shares whose sizes all ranks know.
template <class T, class State>
transfer<T> shared_transfer(State& state, std::span<const T> in, std::span<T> out, const shares& parts) {
  transfer<T> t(in, out, divided(parts, state.lists[0]), 0);
  t.scratch_parts = divided(shares(parts.counts()), state.lists[1]);
  t.count = t.scratch_parts.size();
  t.shape = digest(parts.counts());
  return t;
}

/// Copies what one rank alone sends itself.
inline void copy_share(const operands& user, std::size_t element_bytes) {
  const extent from = user.input.parts.share(0), to = user.output.parts.share(0);
  if (from.count == 0) return;
  const std::byte* const source = user.input.data + (from.offset - user.input.origin) * element_bytes;
  const std::byte* const target = user.output.data + (to.offset - user.output.origin) * element_bytes;
  if (source != target) copy_bytes(const_cast<std::byte*>(target), source, from.count * element_bytes);
}

inline error cannot_reach(const call& what, int rank) {
  return error(errc::unsupported,
               concat("rank ", rank, ": ", what.text(),
                      ": Direct needs shares of equal size, and memory that all ranks reach"));
}

/// Runs C with algorithm A on elements that travel as `what` says; the user has `element_bytes` for each.
template <class A, Collective C, class State>
void execute(State& state, const C& c, call what, std::size_t element_bytes, const operands& user,
             const combiner& combine, bool commutes) {
  using Net = decltype(state.net);
  static_assert(check_reach<A, Net>());
  what.collective = state.operation;
  what.sequence = ++state.sequence;
  what.root = root_of(c);
  if (state.net.size() == 1) {
    if constexpr (!std::same_as<C, ExScan>) copy_share(user, what.element_bytes);
    return;
  }
  late_deadline until(state.timeout);
  const auto run_direct = [&] {
    if constexpr (RunsDirectly<Net, C>) {
      if (!state.net.shares_addresses() || !user.has_equal_shares()) return false;
      static constexpr label direct(Direct::name);
      what.algorithm = direct;
      const bool through_windows =
          std::same_as<A, Direct> || state.net.size() > 2;  // two send messages sooner
      return state.direct.run(state.net, c, what, user, combine, through_windows, until);
    }
    return false;
  };
  const auto run_schedule = [&](const schedule_view& schedule) {
    what.algorithm = schedule.algorithm();
    state.engine.run(state.net, schedule, what, user, combine, until.get());
  };
  const group ranks(state.net.size(), state.hosts);
  if constexpr (std::same_as<A, Direct>) {
    if (!run_direct()) throw cannot_reach(what, state.net.rank());
  } else if constexpr (std::same_as<A, Auto>) {
    const situation here{ranks, known_bytes<C>(user.scratch.size() * element_bytes), Net::link, commutes};
    decision<C> decided = state.choices.template by_rules<C>(here, [](const tuning_rule&) {});
    if (decided.chosen == nullptr && run_direct()) return;
    if (decided.chosen == nullptr) decided = state.choices.template by_price<C>(here);
    run_schedule(decided.chosen->view(c, ranks));
  } else {
    run_schedule(schedule_view::of<A>(c, ranks));
  }
}

/// The operands of a call on this rank. `element` is what travels for each T.
template <Collective C, class T, class E>
operands operands_of(const transfer<T>& t, const E* in, const E* out, int rank) {
  const auto area_of = [&](const E* data, portion held, const division& parts) {
    const bool is_share = held == portion::share;
    return area{reinterpret_cast<const std::byte*>(data), parts,
                is_share ? parts.share(static_cast<std::size_t>(rank)).offset : 0};
  };
  return {area_of(in, C::input, t.in_parts), area_of(out, C::output, t.out_parts), t.scratch_parts};
}

/// Runs a collective that only moves elements.
template <class A, Collective C, class T, class State>
void move_elements(State& state, const C& c, const transfer<T>& t) {
  static_assert(check_algorithm<A, C>());
  static constexpr label element(element_name<T>());
  const call what{.element = element,
                  .element_bytes = sizeof(T),
                  .count = t.count,
                  .shape = t.shape ^ state.hosts_digest};
  execute<A>(state, c, what, sizeof(T), operands_of<C>(t, t.in.data(), t.out.data(), state.net.rank()), {},
             true);
}

/// Runs a collective that reduces.
template <class A, Collective C, class T, class Op, class State>
void reduce_elements(State& state, const C& c, const transfer<T>& t, const Op& op) {
  static_assert(check_reduction<Op, T>());
  static_assert(
      !Scanning<C> || !counts_ranks<Op>,
      "hccl: scan and exscan combine another number of ranks on each; this reduction needs to know it");
  static_assert(check_algorithm<A, C, commutative<Op>>());
  using Travelling = accumulator_t<Op, T>;
  const int ranks = state.net.size(), rank = state.net.rank();
  static constexpr label element(element_name<T>()), reduction(reduction_name<Op>());
  const call what{.element = element,
                  .reduction = reduction,
                  .element_bytes = sizeof(Travelling),
                  .count = t.count,
                  .shape = t.shape ^ state.hosts_digest};
  const combiner combine = combiner::of<Travelling>(op);
  if constexpr (!is_lifted<Op, T>) {
    execute<A>(state, c, what, sizeof(T), operands_of<C>(t, t.in.data(), t.out.data(), rank), combine,
               commutative<Op>);
  } else {  // in place, in memory of the communicator
    state.accumulators.reserve(t.in.size() * sizeof(Travelling));
    auto* const prepared = reinterpret_cast<Travelling*>(state.accumulators.data());
    for (std::size_t i = 0; i < t.in.size(); ++i)
      std::construct_at(prepared + i, prepare(op, t.in[i], ranks));
    Travelling* const result =
        prepared +
        (C::output == portion::share ? t.in_parts.share(static_cast<std::size_t>(rank)).offset : 0);
    execute<A>(state, c, what, sizeof(T), operands_of<C>(t, prepared, result, rank), combine,
               commutative<Op>);
    std::size_t i = 0;
    try {
      for (; i < t.out.size(); ++i) t.out[i] = finish<T>(op, result[i], ranks);
    } catch (const std::overflow_error& e) {
      throw std::overflow_error(
          concat("rank ", rank, ": ", state.operation, ": output[", i, "]: ", e.what()));
    }
  }
}

/// Does C, whose input and output have equally many elements; `out` is not written on a rank that gets nothing. `name` is
/// what the user has called.
template <class T, class Algo, Collective C, Transport Net, class In, class Out, class Op>
void reduce_whole(communicator<Net>& comm, const C& c, In& in, Out& out, const Op& op,
                  std::string_view name = C::name) {
  using E = element_t<T, Out>;
  const auto input = input_span<E>(in);
  const auto output = output_span<E>(out);
  const auto check = [&](const arguments& arguments) {
    arguments.not_null("input", input);
    arguments.not_null("output", output);
    arguments.count("output", output.size(), input.size());
    arguments.in_place_or_apart(input, output);
  };
  operate<Net>(comm, name, check, [&](auto& state) {
    const bool has_result = holds(c, place::output, comm.rank(), 0, 1, comm.size());
    const auto all = division::whole(input.size());
    reduce_elements<Algo>(state, c, transfer(input, has_result ? output : std::span<E>(), all, input.size()),
                          op);
  });
}

}  // namespace hccl::inline v0::detail
