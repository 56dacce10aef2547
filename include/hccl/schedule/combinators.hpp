// SPDX-License-Identifier: Apache-2.0
#pragma once

// Schedules made from schedules: Then, Reversed, Pipelined, and the rule by which an algorithm that offers
// one collective offers another.

#include <hccl/core/detail/joined_name.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <concepts>
#include <numeric>
#include <string_view>
#include <type_traits>

namespace hccl::inline v0 {

namespace detail {

inline constexpr std::string_view reversed_word = "reversed";
inline constexpr std::string_view then_word = "then";
inline constexpr std::string_view pipelined_word = "pipelined";

/// Emits a step of a schedule of `blocks` blocks for one in which each of them is cut in `all / blocks`.
constexpr void refine(step s, int blocks, int all, auto&& emit) {
  const int parts = all / blocks;
  const block_set coarse = s.blocks;
  if (coarse.stride == 1 || parts == 1) {
    s.blocks = {coarse.first * parts, coarse.count * parts, coarse.stride};
    emit(s);
    return;
  }
  for (int k = 0; k < coarse.count; ++k) {
    s.blocks = {coarse.at(k, blocks) * parts, parts};
    emit(s);
  }
}

/// Stands for any callable that takes steps, where only the signature matters.
struct ignore_steps {
  constexpr void operator()(const step&) const {}
};

}  // namespace detail

/// A has a schedule for the collective C: `rounds(c, group)` and `steps(c, group, self, round, emit)`, both
/// static and constexpr.
template <class A, class C>
concept HasSchedule = Collective<C> && requires(const C& c, const group& g, detail::ignore_steps emit) {
  { A::rounds(c, g) } -> std::same_as<int>;
  A::steps(c, g, 0, 0, emit);
};

/// Turns the schedule of A round: rounds backward, sends and arrivals exchanged. So a reduce-scatter becomes
/// an allgather and a reduce becomes a broadcast, with as many rounds and bytes.
template <class A>
struct Reversed;

/// Does an allreduce as the reduce-scatter of A and then the allgather of B, or, if they do not offer these,
/// as the reduce of A to rank 0 and then the broadcast of B.
template <class A, class B>
struct Then;

namespace detail {

template <class A, class C>
struct resolve {};

template <class A, class C>
  requires HasSchedule<A, C>
struct resolve<A, C> {
  using type = A;
};

template <class A>
  requires(!HasSchedule<A, AllGather> && HasSchedule<A, ReduceScatter>)
struct resolve<A, AllGather> {
  using type = Reversed<A>;
};

template <class A>
  requires(!HasSchedule<A, Broadcast> && HasSchedule<A, Reduce>)
struct resolve<A, Broadcast> {
  using type = Reversed<A>;
};

template <class A>
  requires(!HasSchedule<A, AllReduce> && HasSchedule<Then<A, A>, AllReduce>)
struct resolve<A, AllReduce> {
  using type = Then<A, A>;
};

}  // namespace detail

/// The schedule by which A offers C: its own, or one that is derived (allgather from reduce-scatter,
/// broadcast from reduce, allreduce from reduce-scatter and allgather or from reduce and broadcast).
template <class A, class C>
using schedule_of = typename detail::resolve<A, C>::type;

/// A offers the collective C, by itself or derived.
template <class A, class C>
concept Offers = requires { typename schedule_of<A, C>; };

/// The number of blocks into which A's schedule for C cuts the buffer: `A::blocks(c, group)` if A has it,
/// else one per rank.
template <class A, class C>
constexpr int blocks_of(const C& c, const group& g) {
  if constexpr (requires { A::blocks(c, g); }) {
    return A::blocks(c, g);
  } else {
    return g.size();
  }
}

/// A combines contributions in rank order when it does C: `A::keeps_order(c)`, false if A does not say.
/// `verify` checks the claim.
template <class A, class C>
inline constexpr bool keeps_order = [] {
  if constexpr (requires { A::keeps_order(C{}); }) {
    return A::keeps_order(C{});
  } else {
    return false;
  }
}();

/// The blocks that `rank` owns among `blocks`.
constexpr block_set owned_blocks(int rank, int blocks, const group& g) {
  return {rank * (blocks / g.size()), blocks / g.size()};
}

template <class A>
struct Reversed {
  static constexpr std::string_view name = detail::joined_name<detail::reversed_word, A::name>;

  template <class C>
  using mirrored = std::conditional_t<std::same_as<C, AllGather>, ReduceScatter, Reduce>;

  template <class C>
    requires((std::same_as<C, AllGather> || std::same_as<C, Broadcast>) && HasSchedule<A, mirrored<C>>)
  static constexpr int rounds(const C& c, const group& g) {
    return A::rounds(mirror(c), g);
  }

  template <class C>
    requires HasSchedule<A, mirrored<C>>
  static constexpr int blocks(const C& c, const group& g) {
    return blocks_of<A>(mirror(c), g);
  }

  template <class C>
    requires HasSchedule<A, mirrored<C>>
  static constexpr bool keeps_order(const C&) {
    return true;  // nothing is combined
  }

  template <class C>
    requires((std::same_as<C, AllGather> || std::same_as<C, Broadcast>) && HasSchedule<A, mirrored<C>>)
  static constexpr void steps(const C& c, const group& g, int self, int round, auto&& emit) {
    const int all = blocks(c, g);
    if (round == 0) {  // what this rank contributes goes to its own output
      if constexpr (Rooted<C>) {
        if (self == c.root) copy_own({0, all}, self, emit);
      } else {
        copy_own(owned_blocks(self, all, g), self, emit);
      }
    }
    A::steps(mirror(c), g, self, rounds(c, g) - 1 - round, [&](const step& s) {
      if (s.peer == self) return;
      if (s.what == action::send) {  // where A ends is where its mirror image begins
        emit(receive_step(s.peer, s.blocks, place::output));
      } else {
        emit(send_step(s.peer, s.blocks, s.to == place::output ? place::input : place::output));
      }
    });
  }

 private:
  static constexpr ReduceScatter mirror(const AllGather&) { return {}; }
  static constexpr Reduce mirror(const Broadcast& c) { return {c.root}; }

  static constexpr void copy_own(block_set blocks, int self, auto&& emit) {
    emit(send_step(self, blocks, place::input));
    emit(receive_step(self, blocks, place::output));
  }
};

template <class A, class B>
struct Then {
  static constexpr std::string_view name = detail::joined_name<A::name, detail::then_word, B::name>;

 private:
  static constexpr bool scatters = Offers<A, ReduceScatter> && Offers<B, AllGather>;
  static constexpr bool composes = scatters || (Offers<A, Reduce> && Offers<B, Broadcast>);
  using First = std::conditional_t<scatters, ReduceScatter, Reduce>;
  using Second = std::conditional_t<scatters, AllGather, Broadcast>;

 public:
  static constexpr int rounds(const AllReduce&, const group& g)
    requires composes
  {
    return schedule_of<A, First>::rounds(First{}, g) + schedule_of<B, Second>::rounds(Second{}, g);
  }

  /// So many that both halves can name theirs.
  static constexpr int blocks(const AllReduce&, const group& g)
    requires composes
  {
    return std::lcm(blocks_of<schedule_of<A, First>>(First{}, g),
                    blocks_of<schedule_of<B, Second>>(Second{}, g));
  }

  static constexpr bool keeps_order(const AllReduce&)
    requires composes
  {
    return hccl::keeps_order<schedule_of<A, First>, First>;
  }

  static constexpr void steps(const AllReduce& c, const group& g, int self, int round, auto&& emit)
    requires composes
  {
    using FirstHalf = schedule_of<A, First>;
    using SecondHalf = schedule_of<B, Second>;
    const int first_rounds = FirstHalf::rounds(First{}, g);
    const int all = blocks(c, g);
    if (round < first_rounds) {  // partial results live in the output, which has room for all of them
      FirstHalf::steps(First{}, g, self, round, [&](step s) {
        if (s.from == place::scratch) s.from = place::output;
        if (s.to == place::scratch) s.to = place::output;
        detail::refine(s, blocks_of<FirstHalf>(First{}, g), all, emit);
      });
    } else {
      SecondHalf::steps(Second{}, g, self, round - first_rounds, [&](step s) {
        if (s.peer == self) return;  // the result of the first half is where it belongs
        if (s.from == place::input) s.from = place::output;
        detail::refine(s, blocks_of<SecondHalf>(Second{}, g), all, emit);
      });
    }
  }
};

/// Cuts every block of A's schedule in `Segments` and starts segment s in round s: segment s takes A's round
/// k in round s + k. Rounds grow from R to R + Segments - 1, each with messages shorter by the factor
/// Segments.
template <class A, int Segments>
struct Pipelined {
  static_assert(Segments >= 1, "hccl: Pipelined needs at least one segment");

  static constexpr std::string_view name = detail::joined_name<detail::pipelined_word, A::name>;

  template <class C>
    requires Offers<A, C>
  static constexpr int rounds(const C& c, const group& g) {
    return schedule_of<A, C>::rounds(c, g) + Segments - 1;
  }

  template <class C>
    requires Offers<A, C>
  static constexpr int blocks(const C& c, const group& g) {
    return blocks_of<schedule_of<A, C>>(c, g) * Segments;
  }

  template <class C>
    requires Offers<A, C>
  static constexpr bool keeps_order(const C&) {
    return hccl::keeps_order<schedule_of<A, C>, C>;
  }

  template <class C>
    requires Offers<A, C>
  static constexpr void steps(const C& c, const group& g, int self, int round, auto&& emit) {
    using Whole = schedule_of<A, C>;
    const int whole_rounds = Whole::rounds(c, g);
    for (int segment = 0; segment < Segments; ++segment) {
      const int whole_round = round - segment;
      if (whole_round < 0 || whole_round >= whole_rounds) continue;
      Whole::steps(
          c, g, self, whole_round, [&](step s) {  // block b becomes the blocks b * Segments + segment
            s.blocks = {s.blocks.first * Segments + segment, s.blocks.count, s.blocks.stride * Segments};
            emit(s);
          });
    }
  }
};

}  // namespace hccl::inline v0
