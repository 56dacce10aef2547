// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a checked call to the engine: the choice of the schedule, and the work before and after a lifted
// reduction.

#include <hccl/algorithm/concept.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/staging.hpp>
#include <hccl/collective/shares.hpp>
#include <hccl/core/detail/function_ref.hpp>
#include <hccl/core/element.hpp>
#include <hccl/core/error.hpp>
#include <hccl/engine/copies.hpp>
#include <hccl/engine/direct.hpp>
#include <hccl/engine/pipeline.hpp>
#include <hccl/engine/run.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/device_span.hpp>
#include <hccl/memory/host_allocator.hpp>
#include <hccl/reduction/concept.hpp>
#include <hccl/schedule/collective.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hccl::inline v0::detail {

/// The elements of one call: the buffers, how they are divided, and what all ranks must agree on.
template <class T, DeviceAllocator Memory = HostAllocator>
struct transfer {
  using in_span = span_of<const T, device_span<T, Memory>>;
  using out_span = span_of<T, device_span<T, Memory>>;

  in_span in;
  out_span out;  // empty where this rank gets nothing
  division in_parts, out_parts, scratch_parts;
  std::size_t count = 0;    // as the user gave it
  std::uint32_t shape = 0;  // digest of the sizes of shares, where they differ
  std::size_t first = 0;    // element of the output of this rank with which `out` begins

  transfer(in_span input, out_span output, const division& parts, std::size_t user_count)
      : in(input), out(output), in_parts(parts), out_parts(parts), scratch_parts(parts), count(user_count) {}
};

template <class In, class Out>
transfer(const In&, const Out&, const division&, std::size_t)
    -> transfer<typename Out::element_type, std::enable_if_t<check_same_memory<In, Out>(), memory_t<Out>>>;

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
template <class State, class In, class Out>
In apart_from(State& state, const In& in, const Out& out) {
  if (in.data() != out.data() || in.empty()) return in;
  if constexpr (is_staged<decltype(state.net), memory_t<In>>)
    return in;  // copied before the output is written
  state.accumulators.reserve(in.size_bytes());
  copy_by(copies_of(state.net), state.accumulators.data(), bytes_of(in), copy_direction::device_to_device);
  return {reinterpret_cast<typename In::element_type*>(state.accumulators.data()), in.size()};
}

/// The transfer of a collective in which a buffer is divided into shares whose sizes all ranks know.
template <class State>
auto shared_transfer(State& state, const auto& in, const auto& out, const shares& parts) {
  transfer t(in, out, divided(parts, state.lists[0]), 0);
  t.scratch_parts = divided(shares(parts.counts()), state.lists[1]);
  t.count = t.scratch_parts.size();
  t.shape = digest(parts.counts());
  return t;
}

/// Copies what one rank alone sends itself.
template <Transport Net>
void copy_share(Net& net, const operands& user, std::size_t element_bytes) {
  const extent from = user.input.parts.share(0), to = user.output.parts.share(0);
  if (from.count == 0) return;
  const std::byte* const source = user.input.data + (from.offset - user.input.origin) * element_bytes;
  const std::byte* const target = user.output.data + (to.offset - user.output.origin) * element_bytes;
  if (source == target) return;
  copy_by(copies_of(net), const_cast<std::byte*>(target), {source, from.count * element_bytes},
          copy_direction::device_to_device);
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
    if constexpr (!std::same_as<C, ExScan>) copy_share(state.net, user, what.element_bytes);
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
template <Collective C, class E>
operands operands_of(const auto& t, const E* in, const E* out, int rank) {
  const auto area_of = [&](const E* data, portion held, const division& parts) {
    const bool is_share = held == portion::share;
    return area{reinterpret_cast<const std::byte*>(data), parts,
                is_share ? parts.share(static_cast<std::size_t>(rank)).offset : 0};
  };
  return {area_of(in, C::input, t.in_parts), area_of(out, C::output, t.out_parts), t.scratch_parts};
}

/// Runs C on the host for buffers of a device, by `run(transfer)` for each piece.
template <Collective C, class T, class Memory, class State, class Run>
void stage(State& state, const C&, const transfer<T, Memory>& t, Run&& run) {
  const auto rank = static_cast<std::size_t>(state.net.rank());
  const auto shares_of = [&](const T* data, const division& parts, portion held) {
    const bool is_share = held == portion::share;
    auto* const bytes = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(data));
    const std::size_t first = is_share ? rank : 0, end = is_share ? rank + 1 : parts.shares();
    return staged_shares{
        bytes,    parts, first, data == nullptr ? first : end, is_share ? parts.share(rank).offset : 0,
        sizeof(T)};
  };
  const staged_shares in = shares_of(t.in.data(), t.in_parts, C::input),
                      out = shares_of(t.out.data(), t.out_parts, C::output);
  const std::size_t bytes = known_bytes<C>(t.scratch_parts.size() * sizeof(T));
  const std::size_t pieces = std::max<std::size_t>(1, (bytes + staged_bytes - 1) / staged_bytes);
  auto& lists = state.staging.lists;
  state.staging.run(
      state.staging.template copies<Memory>(), in, out, pieces,
      [&](std::size_t piece, std::byte* input, std::byte* output) {
        const auto elements = [&](std::byte* data, const staged_shares& s) {
          return std::span(reinterpret_cast<T*>(data), s.bytes(pieces, piece) / sizeof(T));
        };
        transfer<T> part(elements(input, in), elements(output, out), {}, t.count);
        part.in_parts = in.divide(pieces, piece, lists[0], lists[1]);
        part.out_parts = part.scratch_parts = out.divide(pieces, piece, lists[2], lists[3]);
        part.shape = t.shape;
        part.first =
            partition(t.out_parts.share(C::output == portion::share ? rank : 0).count, pieces, piece).offset;
        run(part);
      });
}

/// Runs a collective that only moves elements.
template <class A, Collective C, class T, class Memory, class State>
void move_elements(State& state, const C& c, const transfer<T, Memory>& t) {
  static_assert(check_algorithm<A, C>());
  using Net = decltype(state.net);
  static_assert(check_memory<Net, Memory>());
  if constexpr (is_staged<Net, Memory>) {
    stage(state, c, t, [&](const transfer<T>& piece) { move_elements<A>(state, c, piece); });
  } else {
    static constexpr label element(element_name<T>());
    const call what{.element = element,
                    .element_bytes = sizeof(T),
                    .count = t.count,
                    .shape = t.shape ^ state.hosts_digest};
    execute<A>(state, c, what, sizeof(T), operands_of<C>(t, t.in.data(), t.out.data(), state.net.rank()), {},
               true);
  }
}

/// Makes elements of others, where the transport has its memory, by `make(to, from, first, count)` on the host.
template <Transport Net>
void transform(Net& net, std::byte* to, std::size_t to_bytes, std::span<const std::byte> from,
               std::size_t from_bytes,
               function_ref<void(std::byte*, const std::byte*, std::size_t, std::size_t)> make) {
  const std::size_t count = from.size() / from_bytes;
  if constexpr (DeviceTransport<Net>) {
    transform_on(net.copies(), to, to_bytes, from.data(), from_bytes, count, make);
  } else {
    make(to, from.data(), 0, count);
  }
}

/// Runs a collective that reduces what the transport reaches.
template <class A, Collective C, class T, class Memory, class Op, class State>
void reduce_here(State& state, const C& c, const transfer<T, Memory>& t, const Op& op) {
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
    const auto prepare_elements = [&](std::byte* to, const std::byte* from, std::size_t,
                                      std::size_t elements) {
      for (std::size_t i = 0; i < elements; ++i)
        std::construct_at(reinterpret_cast<Travelling*>(to) + i,
                          prepare(op, reinterpret_cast<const T*>(from)[i], ranks));
    };
    transform(state.net, state.accumulators.data(), sizeof(Travelling), bytes_of(t.in), sizeof(T),
              prepare_elements);
    Travelling* const result =
        prepared +
        (C::output == portion::share ? t.in_parts.share(static_cast<std::size_t>(rank)).offset : 0);
    execute<A>(state, c, what, sizeof(T), operands_of<C>(t, prepared, result, rank), combine,
               commutative<Op>);
    const auto finish_elements = [&](std::byte* to, const std::byte* from, std::size_t first,
                                     std::size_t elements) {
      std::size_t i = 0;
      try {
        for (; i < elements; ++i)
          reinterpret_cast<T*>(to)[i] = finish<T>(op, reinterpret_cast<const Travelling*>(from)[i], ranks);
      } catch (const std::overflow_error& e) {
        throw std::overflow_error(
            concat("rank ", rank, ": ", state.operation, ": output[", t.first + first + i, "]: ", e.what()));
      }
    };
    const std::span<const std::byte> results(reinterpret_cast<const std::byte*>(result),
                                             t.out.size() * sizeof(Travelling));
    transform(state.net, writable_bytes_of(t.out).data(), sizeof(T), results, sizeof(Travelling),
              finish_elements);
  }
}

/// Runs a collective that reduces.
template <class A, Collective C, class T, class Memory, class Op, class State>
void reduce_elements(State& state, const C& c, const transfer<T, Memory>& t, const Op& op) {
  static_assert(check_reduction<Op, T>());
  static_assert(
      !Scanning<C> || !counts_ranks<Op>,
      "hccl: scan and exscan combine another number of ranks on each; this reduction needs to know it");
  static_assert(check_algorithm<A, C, commutative<Op>>());
  using Net = decltype(state.net);
  static_assert(check_memory<Net, Memory>());
  if constexpr (is_staged<Net, Memory>) {
    stage(state, c, t, [&](const transfer<T>& piece) { reduce_elements<A>(state, c, piece, op); });
  } else {
    reduce_here<A>(state, c, t, op);
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
    const auto written = has_result ? output : std::remove_const_t<decltype(output)>();
    const auto all = division::whole(input.size());
    reduce_elements<Algo>(state, c, transfer(input, written, all, input.size()), op);
  });
}

}  // namespace hccl::inline v0::detail
