// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hierarchical: one algorithm inside hosts, another between them.

#include <hccl/core/detail/joined_name.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/detail/embed.hpp>
#include <hccl/schedule/detail/planes.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <algorithm>
#include <concepts>
#include <numeric>
#include <string_view>
#include <type_traits>

namespace hccl::inline v0 {

namespace detail {

inline constexpr std::string_view inside_word = "inside";

}  // namespace detail

/// Does a collective by `Intra` between the ranks of a host and by `Inter` between hosts, so that few bytes
/// travel between hosts. `Inter` may be hierarchical itself, for three levels.
///
/// Allreduce: reduce-scatter inside, allreduce between, allgather inside. Reduce: reduce-scatter inside, reduce
/// between, gather inside. Reduce-scatter: inside, then between. Scatter: between one rank of each host, then
/// inside. Broadcast, allgather and gather are mirror images. With m ranks on a host, each sends 1/m of the bytes
/// between hosts; hosts may differ in size, see `detail::planes`. On one host it is `Intra` alone.
///
/// Rank order is kept if both parts keep it. Throws `unsupported` for hosts of many sizes with few factors in common:
/// there are as many blocks as a common multiple of them.
template <class Intra, class Inter>
struct Hierarchical {
  static constexpr std::string_view name = detail::joined_name<Intra::name, detail::inside_word, Inter::name>;

 private:
  /// What the ranks of a host do last for C.
  template <class C>
  using Last = std::conditional_t<std::same_as<C, AllReduce>, AllGather, Gather>;

  static constexpr bool joins = !needs_scratch<Intra> && !needs_scratch<Inter>;

  template <class C>
  static constexpr bool reduces = joins && (std::same_as<C, AllReduce> || std::same_as<C, Reduce>) &&
                                  Offers<Inter, C> && Offers<Intra, ReduceScatter> && Offers<Intra, Last<C>>;

  template <class C>
  static constexpr bool reduce_scatters =
      joins && std::same_as<C, ReduceScatter> && Offers<Inter, C> && Offers<Intra, C>;

  template <class C>
  static constexpr bool scatters = std::same_as<C, Scatter> && Offers<Inter, C> && Offers<Intra, C>;

 public:
  template <class C>
    requires(reduces<C> || reduce_scatters<C>)
  static constexpr bool keeps_order(const C&) {
    return hccl::keeps_order<schedule_of<Intra, ReduceScatter>, ReduceScatter> &&
           hccl::keeps_order<schedule_of<Inter, C>, C>;
  }

  // allreduce and reduce

  template <class C>
    requires reduces<C>
  static constexpr int rounds(const C& c, const group& g) {
    return most_rounds<ReduceScatter>(g) + rounds_between(c, g) + last_rounds(c, g);
  }

  template <class C>
    requires reduces<C>
  static constexpr int blocks(const C& c, const group& g) {
    const int between = blocks_of<schedule_of<Inter, C>>(between_hosts(c, g), g.host_group());
    const int inside = detail::multiple_of_blocks(common_blocks<ReduceScatter>(g), common_blocks<Last<C>>(g));
    return detail::multiple_of_blocks(detail::product_of_blocks(detail::planes(g).length(), between), inside);
  }

  template <class C>
    requires reduces<C>
  static constexpr void steps(const C& c, const group& g, int self, int round, auto&& emit) {
    const int all = blocks(c, g);
    const detail::seat own(g, self);
    // Partial results live in the output where it has room for all of them.
    const place room = holds(c, place::output, self, 0, all, g.size()) ? place::output : place::scratch;
    const int first_rounds = most_rounds<ReduceScatter>(g);
    const int middle_rounds = rounds_between(c, g);
    if (round < first_rounds) {
      inside(ReduceScatter{}, g, own, round, [&](const step& s, int blocks) {
        detail::refine(detail::in_places(s, place::input, room, room), blocks, all, emit);
      });
    } else if (round < first_rounds + middle_rounds) {
      const detail::planes line(g);
      const int cell = all / line.length();
      line.for_each_of(own, [&](int begin, int end) {
        between(c, g, own, round - first_rounds, [&](step s, int blocks) {
          s = detail::in_places(s, own.ranks == 1 ? place::input : room, room, place::scratch);
          s.peer = line.member(s.peer, begin);
          const int width = (end - begin) * cell / blocks;
          detail::embed(
              s, blocks, all, [&](int b) { return detail::run{begin * cell + b * width, width}; }, emit);
        });
      });
    } else if (!Rooted<C> || own.host == g.host_of(root_of(c))) {
      inside(last(c, g), g, own, round - first_rounds - middle_rounds, [&](const step& s, int blocks) {
        if (s.peer == self) return;  // the result is where it belongs
        detail::refine(detail::in_places(s, room, room, room), blocks, all, emit);
      });
    }
  }

  // reduce_scatter

  template <class C>
    requires reduce_scatters<C>
  static constexpr int rounds(const C& c, const group& g) {
    return most_rounds<C>(g) + rounds_between(c, g);
  }

  template <class C>
    requires reduce_scatters<C>
  static constexpr int blocks(const C& c, const group& g) {
    int divisor = 0;
    for (const int size : g.host_sizes()) divisor = std::gcd(divisor, size);
    const int per_host = blocks_of<schedule_of<Inter, C>>(c, g.host_group()) / g.hosts();
    return detail::product_of_blocks(g.size(),
                                     detail::product_of_blocks(common_blocks<C>(g) / divisor, per_host));
  }

  template <class C>
    requires reduce_scatters<C>
  static constexpr void steps(const C& c, const group& g, int self, int round, auto&& emit) {
    const int all = blocks(c, g);
    const int share = all / g.size();
    const detail::seat own(g, self);
    const int first_rounds = most_rounds<C>(g);
    const place sum = g.hosts() == 1 ? place::output : place::scratch;
    if (round < first_rounds) {  // of what belongs to each host, this one makes a sum, cut among its ranks
      inside(c, g, own, round, [&](step s, int blocks) {
        const block_set part = s.blocks;
        s = detail::in_places(s, place::input, sum, place::scratch);
        detail::run_joiner joiner(all, [&](const block_set& set) {
          s.blocks = set;
          emit(s);
        });
        for (int host = 0; host < g.hosts(); ++host) {
          const int width = share * g.size_of(host) / blocks;
          for (int k = 0; k < part.count; ++k)
            joiner.add({share * g.first_of(host) + part.at(k, blocks) * width, width});
        }
        joiner.finish();
      });
    } else {
      const detail::planes line(g);
      line.for_each_of(own, [&](int begin, int end) {
        between(c, g, own, round - first_rounds, [&](step s, int blocks) {
          s = detail::in_places(s, own.ranks == 1 ? place::input : place::scratch, place::output,
                                place::scratch);
          s.peer = line.member(s.peer, begin);
          const int per_host = blocks / g.hosts();
          const auto place_of = [&](int b) {
            const int host = b / per_host;
            const int cell = share * g.size_of(host) / line.length();
            const int width = (end - begin) * cell / per_host;
            return detail::run{share * g.first_of(host) + begin * cell + b % per_host * width, width};
          };
          detail::embed(s, blocks, all, place_of, emit);
        });
      });
    }
  }

  // scatter

  template <class C>
    requires scatters<C>
  static constexpr int rounds(const C& c, const group& g) {
    return rounds_between(c, g) + most_rounds<C>(g);
  }

  template <class C>
    requires scatters<C>
  static constexpr int blocks(const C& c, const group& g) {
    int share = blocks_of<schedule_of<Inter, C>>(between_hosts(c, g), g.host_group()) / g.hosts();
    for (const int ranks : g.host_sizes()) {
      share = detail::multiple_of_blocks(share, blocks_of<schedule_of<Intra, C>>(C{}, group(ranks)) / ranks);
    }
    return detail::product_of_blocks(g.size(), share);
  }

  template <class C>
    requires scatters<C>
  static constexpr void steps(const C& c, const group& g, int self, int round, auto&& emit) {
    const int all = blocks(c, g);
    const int share = all / g.size();
    const detail::seat own(g, self);
    const auto leader = [&](int host) { return host == g.host_of(c.root) ? c.root : g.first_of(host); };
    const int first_rounds = rounds_between(c, g);
    if (round < first_rounds) {
      if (self != leader(own.host)) return;
      between(c, g, own, round, [&](step s, int blocks) {
        if (own.ranks > 1) {  // what is for this host goes on from here; the root has it
          if (s.peer == own.host) return;
          s = detail::in_places(s, place::input, place::scratch, place::scratch);
        }
        s.peer = leader(s.peer);
        const int per_host = blocks / g.hosts();
        const auto place_of = [&](int b) {
          const int host = b / per_host;
          const int width = share * g.size_of(host) / per_host;
          return detail::run{share * g.first_of(host) + b % per_host * width, width};
        };
        detail::embed(s, blocks, all, place_of, emit);
      });
    } else {
      const C local{leader(own.host) - g.first_of(own.host)};
      inside(local, g, own, round - first_rounds, [&](step s, int blocks) {
        s = detail::in_places(s, self == c.root ? place::input : place::scratch, place::output,
                              place::scratch);
        const int width = share * own.ranks / blocks;
        const int begin = share * g.first_of(own.host);
        detail::embed(s, blocks, all, [&](int b) { return detail::run{begin + b * width, width}; }, emit);
      });
    }
  }

 private:
  template <class A, class C>
  static constexpr int rounds_of(const C& c, const group& g) {
    return g.size() == 1 ? 0 : schedule_of<A, C>::rounds(c, g);
  }

  /// The rounds of the host that takes the most.
  template <class C>
  static constexpr int most_rounds(const group& g) {
    int most = 0;
    for (const int size : g.host_sizes()) {
      const group ranks(size);
      if constexpr (Rooted<C>) {
        for (int root = 0; root < ranks.size(); ++root)
          most = std::max(most, rounds_of<Intra>(C{root}, ranks));
      } else {
        most = std::max(most, rounds_of<Intra>(C{}, ranks));
      }
    }
    return most;
  }

  /// The least number of blocks that each host can cut into its own.
  template <class C>
  static constexpr int common_blocks(const group& g) {
    int all = 1;
    for (const int size : g.host_sizes())
      all = detail::multiple_of_blocks(all, blocks_of<schedule_of<Intra, C>>(C{}, group(size)));
    return all;
  }

  template <class C>
  static constexpr C between_hosts(const C& c, const group& g) {
    if constexpr (Rooted<C>) return C{g.host_of(c.root)};
    return c;
  }

  template <class C>
  static constexpr int rounds_between(const C& c, const group& g) {
    return rounds_of<Inter>(between_hosts(c, g), g.host_group());
  }

  static constexpr AllGather last(const AllReduce&, const group&) { return {}; }
  static constexpr Gather last(const Reduce& c, const group& g) { return {detail::seat(g, c.root).index}; }

  static constexpr int last_rounds(const AllReduce&, const group& g) { return most_rounds<AllGather>(g); }
  static constexpr int last_rounds(const Reduce& c, const group& g) {
    return rounds_of<Intra>(last(c, g), group(detail::seat(g, c.root).ranks));
  }

  /// Calls `take(step, blocks)` with the steps of C between the ranks of a host, the peers being ranks of g.
  template <class C>
  static constexpr void inside(const C& c, const group& g, const detail::seat& own, int round, auto&& take) {
    using A = schedule_of<Intra, C>;
    const group ranks(own.ranks);
    if (own.ranks == 1 || round >= A::rounds(c, ranks)) return;
    const int blocks = blocks_of<A>(c, ranks);
    A::steps(c, ranks, own.index, round, [&](step s) {
      s.peer += g.first_of(own.host);
      take(s, blocks);
    });
  }

  /// Calls `take(step, blocks)` with the steps of C between hosts, the peers being hosts.
  template <class C>
  static constexpr void between(const C& c, const group& g, const detail::seat& own, int round, auto&& take) {
    using A = schedule_of<Inter, C>;
    const group hosts = g.host_group();
    const int blocks = blocks_of<A>(between_hosts(c, g), hosts);
    A::steps(between_hosts(c, g), hosts, own.host, round, [&](const step& s) { take(s, blocks); });
  }
};

}  // namespace hccl::inline v0
