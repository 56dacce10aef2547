// SPDX-License-Identifier: Apache-2.0
#pragma once

// Schedules made from schedules: Then, Reversed, Pipelined, and the rule by which an algorithm that offers
// one collective offers another.

#include <hccl/core/detail/joined_name.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/detail/embed.hpp>
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
/// an allgather, a reduce a broadcast and a scatter a gather, with as many rounds and bytes.
template <class A>
struct Reversed;

/// Does one collective by two: an allreduce as the reduce-scatter of A and then the allgather of B, or, if they
/// do not offer these, as the reduce of A to rank 0 and then the broadcast of B; a reduce as reduce-scatter and
/// gather; a broadcast as scatter and allgather.
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

template <class A, class C>
  requires(!HasSchedule<A, C> && HasSchedule<Reversed<A>, C>)
struct resolve<A, C> {
  using type = Reversed<A>;
};

template <class A, class C>
  requires(!HasSchedule<A, C> && !HasSchedule<Reversed<A>, C> && HasSchedule<Then<A, A>, C>)
struct resolve<A, C> {
  using type = Then<A, A>;
};

}  // namespace detail

/// The schedule by which A offers C: its own, or one that is derived, by `Reversed` or by `Then`.
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

/// A puts partial results into scratch that must not lie in the output instead, not even where that has room for
/// them: `A::needs_scratch`, false if A does not say.
template <class A>
inline constexpr bool needs_scratch = [] {
  if constexpr (requires { A::needs_scratch; }) {
    return A::needs_scratch;
  } else {
    return false;
  }
}();

/// The blocks of the share of `rank` among `blocks`.
constexpr block_set share_of(int rank, int blocks, const group& g) {
  return {rank * (blocks / g.size()), blocks / g.size()};
}

namespace detail {

/// What a collective is the mirror image of.
template <class C>
struct mirror;
template <>
struct mirror<AllGather> {
  using type = ReduceScatter;
};
template <>
struct mirror<Broadcast> {
  using type = Reduce;
};
template <>
struct mirror<Gather> {
  using type = Scatter;
};

/// The collective D with the root of C, if both have one.
template <class D, class C>
constexpr D with_root_of(const C& c) {
  if constexpr (Rooted<D>) return D{root_of(c)};
  return D{};
}

}  // namespace detail

template <class A>
struct Reversed {
  static constexpr std::string_view name = detail::joined_name<detail::reversed_word, A::name>;

  template <class C>
  using mirrored = typename detail::mirror<C>::type;

  template <class C>
    requires HasSchedule<A, mirrored<C>>
  static constexpr int rounds(const C& c, const group& g) {
    return A::rounds(detail::with_root_of<mirrored<C>>(c), g);
  }

  template <class C>
    requires HasSchedule<A, mirrored<C>>
  static constexpr int blocks(const C& c, const group& g) {
    return blocks_of<A>(detail::with_root_of<mirrored<C>>(c), g);
  }

  template <class C>
    requires HasSchedule<A, mirrored<C>>
  static constexpr bool keeps_order(const C&) {
    return true;  // nothing is combined
  }

  template <class C>
    requires HasSchedule<A, mirrored<C>>
  static constexpr void steps(const C& c, const group& g, int self, int round, auto&& emit) {
    constexpr bool only_moves = std::same_as<C, Gather>;
    if (!only_moves && round == 0) {  // what this rank contributes goes to its own output
      const int all = blocks(c, g);
      const block_set own = Rooted<C> ? block_set{0, self == root_of(c) ? all : 0} : share_of(self, all, g);
      if (own.count > 0) {
        emit(send_step(self, own, place::input));
        emit(receive_step(self, own, place::output));
      }
    }
    A::steps(detail::with_root_of<mirrored<C>>(c), g, self, rounds(c, g) - 1 - round, [&](const step& s) {
      if (!only_moves && s.peer == self) return;
      if (s.what == action::send) {  // where A ends is where its mirror image begins
        emit(receive_step(s.peer, s.blocks, only_moves ? opposite(s.from) : place::output));
      } else {
        emit(send_step(s.peer, s.blocks,
                       !only_moves && s.to == place::scratch ? place::output : opposite(s.to)));
      }
    });
  }

 private:
  static constexpr place opposite(place where) {
    if (where == place::scratch) return where;
    return where == place::input ? place::output : place::input;
  }
};

namespace detail {

/// The two collectives by which A and B together do C.
template <class A, class B, class C>
struct halves {};

template <class F, class S>
struct halves_of {
  using first = F;
  using second = S;
};

template <class A, class B>
  requires(Offers<A, ReduceScatter> && Offers<B, AllGather>)
struct halves<A, B, AllReduce> : halves_of<ReduceScatter, AllGather> {};

template <class A, class B>
  requires(!(Offers<A, ReduceScatter> && Offers<B, AllGather>) && Offers<A, Reduce> && Offers<B, Broadcast>)
struct halves<A, B, AllReduce> : halves_of<Reduce, Broadcast> {};

template <class A, class B>
  requires(Offers<A, ReduceScatter> && Offers<B, Gather>)
struct halves<A, B, Reduce> : halves_of<ReduceScatter, Gather> {};

template <class A, class B>
  requires(Offers<A, Scatter> && Offers<B, AllGather>)
struct halves<A, B, Broadcast> : halves_of<Scatter, AllGather> {};

/// The step with other places.
constexpr step in_places(step s, place input, place output, place scratch) {
  for (place* const where : {&s.from, &s.to})
    *where = *where == place::input ? input : *where == place::output ? output : scratch;
  return s;
}

}  // namespace detail

template <class A, class B>
struct Then {
  static constexpr std::string_view name = detail::joined_name<A::name, detail::then_word, B::name>;

 private:
  template <class C>
  using First = typename detail::halves<A, B, C>::first;
  template <class C>
  using Second = typename detail::halves<A, B, C>::second;
  template <class C>
  using FirstHalf = schedule_of<A, First<C>>;
  template <class C>
  using SecondHalf = schedule_of<B, Second<C>>;

 public:
  template <class C, class = First<C>>
  static constexpr int rounds(const C& c, const group& g) {
    return FirstHalf<C>::rounds(detail::with_root_of<First<C>>(c), g) +
           SecondHalf<C>::rounds(detail::with_root_of<Second<C>>(c), g);
  }

  /// So many that both halves can name theirs.
  template <class C, class = First<C>>
  static constexpr int blocks(const C& c, const group& g) {
    return std::lcm(blocks_of<FirstHalf<C>>(detail::with_root_of<First<C>>(c), g),
                    blocks_of<SecondHalf<C>>(detail::with_root_of<Second<C>>(c), g));
  }

  template <class C, class = First<C>>
  static constexpr bool keeps_order(const C&) {
    return std::same_as<C, Broadcast> || hccl::keeps_order<FirstHalf<C>, First<C>>;
  }

  template <class C, class = First<C>>
  static constexpr void steps(const C& c, const group& g, int self, int round, auto&& emit) {
    const auto first = detail::with_root_of<First<C>>(c);
    const auto second = detail::with_root_of<Second<C>>(c);
    const int first_rounds = FirstHalf<C>::rounds(first, g);
    const int all = blocks(c, g);
    // Partial results live in the output where it has room for all of them.
    const place room = holds(c, place::output, self, 0, all, g.size()) ? place::output : place::scratch;
    const place partial = needs_scratch<FirstHalf<C>> ? place::scratch : room;
    if (round < first_rounds) {
      FirstHalf<C>::steps(first, g, self, round, [&](const step& s) {
        detail::refine(detail::in_places(s, place::input, room, partial), blocks_of<FirstHalf<C>>(first, g),
                       all, emit);
      });
    } else {
      SecondHalf<C>::steps(second, g, self, round - first_rounds, [&](const step& s) {
        if (s.peer == self) return;  // the result of the first half is where it belongs
        detail::refine(detail::in_places(s, room, room, room), blocks_of<SecondHalf<C>>(second, g), all,
                       emit);
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
  static constexpr bool needs_scratch = hccl::needs_scratch<A>;

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
      const int coarse = blocks_of<Whole>(c, g);
      Whole::steps(c, g, self, whole_round, [&](const step& s) {
        detail::embed(
            s, coarse, coarse * Segments, [&](int b) { return detail::run{b * Segments + segment, 1}; },
            emit);
      });
    }
  }
};

}  // namespace hccl::inline v0
