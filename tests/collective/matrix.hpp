// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every collective by every algorithm that offers it, for many counts.

#include "collective/checks.hpp"
#include "reference.hpp"
#include "timing.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

namespace hccl_test {

/// Tells whether A can do C with the reduction Op.
template <class A, class C, class Op = hccl::Sum>
inline constexpr bool can_do = [] {
  if constexpr (std::same_as<A, hccl::Auto>) {
    return true;
  } else if constexpr (hccl::Offers<A, C>) {
    return hccl::commutative<Op> || hccl::keeps_order<hccl::schedule_of<A, C>, C>;
  } else {
    return false;
  }
}();

/// All built-in algorithms, and Auto.
using all_algorithms = decltype(std::tuple_cat(hccl::algorithms(), std::tuple<hccl::Auto>()));

/// Calls `f.template operator()<A>()` for every algorithm of `As` that can do C with the reduction Op.
template <class C = hccl::AllReduce, class Op = hccl::Sum, class As = all_algorithms, class F>
void for_each_algorithm(F&& f) {
  const auto call = [&]<class A>() {
    if constexpr (can_do<A, C, Op>) f.template operator()<A>();
  };
  [&]<class... A>(const std::tuple<A...>*) {
    (call.template operator()<A>(), ...);
  }(static_cast<const As*>(nullptr));
}

/// Sizes of up to `most` elements, different on each rank, every third rank silent.
inline std::vector<std::size_t> uneven_counts(int ranks, std::size_t most) {
  std::vector<std::size_t> counts;
  for (int r = 0; r < ranks; ++r) counts.push_back(r % 3 == 1 ? 0 : bits_of(r, most) % (most + 1));
  return counts;
}

/// Sizes of up to `most` elements for each pair, a third of them zero.
inline CountMatrix uneven_matrix(int ranks, std::size_t most) {
  CountMatrix matrix(ranks);
  for (std::size_t i = 0; i < matrix.counts.size(); ++i) {
    const std::uint64_t bits = bits_of(ranks, most + i);
    matrix.counts[i] = bits % 3 == 0 ? 0 : (bits >> 8) % (most + 1);
  }
  return matrix;
}

/// Checks the collectives that reduce, by those of As that offer them, with `count` elements a rank or a share.
template <class As, class T, class Net, class Allocator>
void check_reductions(CollectiveChecks<T, Net, Allocator>& checks, int ranks, std::size_t count, int root) {
  using namespace hccl;
  using Op = operation_of<T>;
  for_each_algorithm<AllReduce, Op, As>([&]<class A>() { checks.template check_allreduce<A>(count); });
  for_each_algorithm<Reduce, Op, As>([&]<class A>() { checks.template check_reduce<A>(count, root); });
  for_each_algorithm<Scan, Op, As>([&]<class A>() { checks.template check_scan<A>(count); });
  for_each_algorithm<ExScan, Op, As>([&]<class A>() { checks.template check_exscan<A>(count); });
  for_each_algorithm<ReduceScatter, Op, As>([&]<class A>() {
    checks.template check_reduce_scatter<A>(count);
    checks.template check_reduce_scatterv<A>(Parts::packed(uneven_counts(ranks, count)));
    checks.template check_reduce_scatterv<A>(Parts::spread(uneven_counts(ranks, count), 2));
  });
}

/// Checks broadcast and allgather, in the same way. Gaps between shares have `gap` elements, which may differ from
/// rank to rank.
template <class As, class T, class Net, class Allocator>
void check_spreading(CollectiveChecks<T, Net, Allocator>& checks, int ranks, std::size_t count, int root,
                     std::size_t gap) {
  using namespace hccl;
  for_each_algorithm<Broadcast, Sum, As>([&]<class A>() { checks.template check_broadcast<A>(count, root); });
  for_each_algorithm<AllGather, Sum, As>([&]<class A>() {
    checks.template check_allgather<A>(count);
    checks.template check_allgatherv<A>(Parts::packed(uneven_counts(ranks, count)));
    checks.template check_allgatherv<A>(Parts::spread(uneven_counts(ranks, count), gap));
  });
}

/// Checks the collectives in which each element goes to one rank, in the same way.
template <class As, class T, class Net, class Allocator>
void check_personal(CollectiveChecks<T, Net, Allocator>& checks, int ranks, std::size_t count, int root,
                    std::size_t gap) {
  using namespace hccl;
  const auto packed = Parts::packed(uneven_counts(ranks, count));
  const auto spread = Parts::spread(uneven_counts(ranks, count), gap);
  for_each_algorithm<Gather, Sum, As>([&]<class A>() {
    checks.template check_gather<A>(count, root);
    checks.template check_gatherv<A>(packed, root);
    checks.template check_gatherv<A>(spread, root);
  });
  for_each_algorithm<Scatter, Sum, As>([&]<class A>() {
    checks.template check_scatter<A>(count, root);
    checks.template check_scatterv<A>(packed, root);
    checks.template check_scatterv<A>(spread, root);
  });
  const CountMatrix matrix = uneven_matrix(ranks, count);
  for_each_algorithm<AllToAll, Sum, As>([&]<class A>() { checks.template check_alltoall<A>(count); });
  for_each_algorithm<AllToAllV, Sum, As>([&]<class A>() { checks.template check_alltoallv<A>(matrix, gap); });
}

/// The counts of the matrix for n ranks.
inline std::set<std::size_t> counts_for(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return {0, 1, 2, n - 1, n, n + 1, 1000};
}

/// More than any transport or engine moves in one piece.
inline constexpr std::size_t large_count = 65537;

/// The tag of tests of all combinations, which take minutes. Part of them runs under another name by default.
#define HCCLPP_TEST_IN_FULL "[.full]"

/// Calls `f(checks, count, root, gap)` on each of `ranks` ranks, for all counts, each time with the next root; the gap
/// differs from rank to rank. `run(n, f)` calls f(comm) on n ranks.
template <class T, class Net, class Allocator = std::allocator<std::byte>, class Run, class F>
void for_each_count(int ranks, const std::set<std::size_t>& counts, Run&& run, F&& f) {
  const Reference<T> world(ranks, static_cast<std::size_t>(ranks) * *counts.rbegin());
  run(ranks, [&](hccl::communicator<Net>& comm) {
    comm.set_timeout(std::chrono::seconds(60));
    CollectiveChecks<T, Net, Allocator> checks(comm, world);
    const auto gap = static_cast<std::size_t>(1 + comm.rank() % 3);
    int root = 0;
    for (const std::size_t count : counts) f(checks, count, root++ % ranks, gap);
  });
}

/// The same on threads.
template <class T, class F>
void on_threads(int ranks, const std::set<std::size_t>& counts, F&& f) {
  for_each_count<T, hccl::LocalTransport>(
      ranks, counts, [](int n, auto&& rank) { hccl::run_local(n, rank); }, f);
}

/// Checks the collectives that reduce, by every algorithm, on threads.
template <class T>
void check_local_reductions(int ranks, const std::set<std::size_t>& counts) {
  on_threads<T>(ranks, counts, [&](auto& checks, std::size_t count, int root, std::size_t) {
    check_reductions<all_algorithms>(checks, ranks, count, root);
  });
}

/// Checks all that `Direct` offers.
template <class T, class Net, class Allocator>
void check_direct(CollectiveChecks<T, Net, Allocator>& checks, std::size_t count, int root) {
  using hccl::Direct;
  checks.template check_allreduce<Direct>(count);
  checks.template check_reduce<Direct>(count, root);
  checks.template check_reduce_scatter<Direct>(count);
  checks.template check_broadcast<Direct>(count, root);
  checks.template check_allgather<Direct>(count);
  checks.template check_alltoall<Direct>(count);
}

/// The largest inputs, in bytes, that `Direct` treats as it does smaller ones: beyond them it goes another way.
inline std::vector<std::size_t> switch_points_of_direct(int ranks) {
  using engine = hccl::detail::direct_engine<hccl::HostAllocator>;
  return {engine::small_bytes, engine::noted_bytes / static_cast<std::size_t>(ranks)};
}

/// The numbers of ranks of the matrix.
inline const std::vector<int> rank_counts =
    under_sanitizer ? std::vector{1, 2, 3, 5} : std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16};

/// Those for many elements.
inline const std::vector<int> few_rank_counts = under_sanitizer ? std::vector{2, 3} : std::vector{2, 3, 5, 8};

/// The elements of the matrix.
#define HCCLPP_TEST_ELEMENTS                                                                     \
  float, double, std::int8_t, std::uint64_t, hccl::float16, hccl::bfloat16, std::complex<float>, \
      hccl_test::Matrix

}  // namespace hccl_test
