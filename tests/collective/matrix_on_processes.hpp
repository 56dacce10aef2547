// SPDX-License-Identifier: Apache-2.0
#pragma once

// The matrix of collectives on processes.

#include "collective/matrix.hpp"

#include <hccl/bootstrap/run_processes.hpp>

#include <cstddef>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

namespace hccl_test {

/// The numbers of processes that share memory.
inline const std::vector<int> process_counts =
    under_sanitizer ? std::vector{2, 3} : std::vector{2, 3, 4, 7, 16};

/// Calls `f(checks, n, count, root, gap)` for each number n of ranks and each count, on n processes.
template <class Net, class T, class Allocator = std::allocator<std::byte>, class F>
void on_processes(const std::vector<int>& numbers_of_ranks, const std::set<std::size_t>& counts, F&& f) {
  for (const int ranks : numbers_of_ranks) {
    for_each_count<T, Net, Allocator>(
        ranks, counts, [](int n, auto&& rank) { hccl::run_processes<Net>(n, rank); },
        [&](auto& checks, std::size_t count, int root, std::size_t gap) {
          f(checks, ranks, count, root, gap);
        });
  }
}

/// Checks the collectives that reduce for a sample of counts.
template <class Net, class T>
void check_reductions_on_processes(const std::vector<int>& numbers_of_ranks) {
  on_processes<Net, T>(numbers_of_ranks, {0, 1, 5, 1000, large_count},
                       [](auto& checks, int ranks, std::size_t count, int root, std::size_t) {
                         check_reductions<all_algorithms>(checks, ranks, count, root);
                       });
}

/// Checks the collectives that move for a sample of counts.
template <class Net, class T>
void check_moves_on_processes(const std::vector<int>& numbers_of_ranks) {
  on_processes<Net, T>(numbers_of_ranks, {0, 1, 5, 1000, large_count},
                       [](auto& checks, int ranks, std::size_t count, int root, std::size_t gap) {
                         check_spreading<all_algorithms>(checks, ranks, count, root, gap);
                         check_personal<all_algorithms>(checks, ranks, count, root, gap);
                       });
}

/// Checks reductions, broadcast and allgather for all counts, by algorithms that differ in what they ask of a
/// transport.
template <class Net, class T>
void check_on_processes_in_full() {
  using Algorithms = std::tuple<hccl::Ring, hccl::Mesh, hccl::OneShotMesh, hccl::RecursiveHalvingDoubling,
                                hccl::BinomialTree, hccl::Auto>;
  for (const int n : rank_counts) {
    auto counts = counts_for(n);
    counts.insert(large_count);
    on_processes<Net, T>({n}, counts,
                         [](auto& checks, int ranks, std::size_t count, int root, std::size_t gap) {
                           check_reductions<Algorithms>(checks, ranks, count, root);
                           check_spreading<Algorithms>(checks, ranks, count, root, gap);
                         });
  }
}

}  // namespace hccl_test
