// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every collective by every algorithm that offers it, in place and out of place, against the reference.

#include "reference.hpp"

#include <hccl/collectives.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hccl_test {

/// Calls `f.template operator()<A>()` for every built-in algorithm and Auto.
template <class F>
void for_each_algorithm(F&& f) {
  f.template operator()<hccl::Ring>();
  f.template operator()<hccl::Mesh>();
  f.template operator()<hccl::OneShotMesh>();
  f.template operator()<hccl::RecursiveHalvingDoubling>();
  f.template operator()<hccl::BinomialTree>();
  f.template operator()<hccl::Reproducible>();
  f.template operator()<hccl::Auto>();
}

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

/// The checks of one rank. Each throws, with a sentence, when something is wrong.
template <class T, class Net>
class CollectiveChecks {
 public:
  using Op = operation_of<T>;

  /// `world` holds at least as many elements as are asked for in any check, and outlives this.
  CollectiveChecks(hccl::communicator<Net>& comm, const Reference<T>& world) : comm_(comm), world_(world) {}

  /// Checks all that A can do with `count` elements a rank. The root is another one each time.
  template <class A>
  void check(std::size_t count) {
    if constexpr (can_do<A, hccl::AllReduce, Op>) check_allreduce<A>(count);
    if constexpr (can_do<A, hccl::Reduce, Op>) check_reduce<A>(count, next_root());
    if constexpr (can_do<A, hccl::Broadcast>) check_broadcast<A>(count, next_root());
    if (size() * count > world_.result.size()) return;
    if constexpr (can_do<A, hccl::AllGather>) check_allgather<A>(count);
    if constexpr (can_do<A, hccl::ReduceScatter, Op>) check_reduce_scatter<A>(count);
  }

  template <class A>
  void check_allreduce(std::size_t count) {
    const auto result = std::span(world_.result).first(count);
    const auto run = [&](std::span<const T> in, std::span<T> out) {
      hccl::allreduce<T, Op, A>(comm_, in, out);
    };
    begin("allreduce", A::name, count);
    run(input(count), output(count));
    expect_input(count);
    expect(result);

    begin("allreduce in place", A::name, count);
    const auto both = data(mine(count));
    run(both, both);
    expect(result);
  }

  template <class A>
  void check_reduce(std::size_t count, int root) {
    const auto result = std::span(world_.result).first(count);
    const auto run = [&](std::span<const T> in, std::span<T> out) {
      hccl::reduce<T, Op, A>(comm_, in, out, root);
    };
    begin("reduce", A::name, count, root);
    run(input(count), output(count));
    expect_input(count);
    is(root) ? expect(result) : expect_untouched();

    begin("reduce in place", A::name, count, root);
    const auto both = data(mine(count));
    run(both, both);
    expect(is(root) ? result : mine(count));
  }

  template <class A>
  void check_broadcast(std::size_t count, int root) {
    const auto result = of(root, count);
    const auto run = [&](std::span<const T> in, std::span<T> out) {
      hccl::broadcast<T, A>(comm_, in, out, root);
    };
    begin("broadcast", A::name, count, root);
    run(input(count), output(count));
    expect_input(count);
    expect(result);

    begin("broadcast in place", A::name, count, root);
    const auto both = is(root) ? data(result) : output(count);
    run(both, both);
    expect(result);
  }

  template <class A>
  void check_allgather(std::size_t count) {
    const auto expect_all = [&] {
      for (int rank = 0; rank < comm_.size(); ++rank) expect_part(rank, of(rank, count));
    };
    const auto run = [&](std::span<const T> in, std::span<T> out) { hccl::allgather<T, A>(comm_, in, out); };
    begin("allgather", A::name, count);
    run(input(count), output(size() * count));
    expect_input(count);
    expect_all();

    begin("allgather in place", A::name, count);
    const auto all = output(size() * count);
    const auto own = part(all, comm_.rank());
    std::ranges::copy(mine(count), own.begin());
    run(own, all);
    expect_all();
  }

  template <class A>
  void check_reduce_scatter(std::size_t count) {
    const std::size_t total = size() * count;
    const auto result = part(std::span(world_.result).first(total), comm_.rank());
    const auto run = [&](std::span<const T> in, std::span<T> out) {
      hccl::reduce_scatter<T, Op, A>(comm_, in, out);
    };
    begin("reduce_scatter", A::name, count);
    run(input(total), output(count));
    expect_input(total);
    expect(result);

    begin("reduce_scatter in place", A::name, count);
    const auto all = data(mine(total));
    run(all, part(all, comm_.rank()));
    for (int rank = 0; rank < comm_.size(); ++rank) {
      expect_part(rank, is(rank) ? result : part(mine(total), rank));
    }
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(comm_.size()); }
  bool is(int rank) const { return comm_.rank() == rank; }
  int next_root() { return root_ = (root_ + 1) % comm_.size(); }

  std::span<const T> of(int rank, std::size_t count) const {
    return std::span(world_.inputs[static_cast<std::size_t>(rank)]).first(count);
  }
  std::span<const T> mine(std::size_t count) const { return of(comm_.rank(), count); }

  /// Part `rank` of `all`, in as many parts as there are ranks.
  template <class E>
  std::span<E> part(std::span<E> all, int rank) const {
    const std::size_t count = all.size() / size();
    return all.subspan(static_cast<std::size_t>(rank) * count, count);
  }

  /// A send buffer with this rank's input.
  std::span<const T> input(std::size_t count) {
    in_.reset(mine(count));
    return in_.span();
  }

  /// A receive buffer.
  std::span<T> output(std::size_t count) {
    out_.reset(count);
    return out_.span();
  }

  /// A buffer that is both.
  std::span<T> data(std::span<const T> contents) {
    out_.reset(contents);
    return out_.span();
  }

  void begin(std::string_view what, std::string_view algorithm, std::size_t count, int root = 0) {
    what_ = what, algorithm_ = algorithm, count_ = count, asked_root_ = root;
  }

  void expect_input(std::size_t count) const {
    if (!in_.guards_stand() || differs(in_.span(), mine(count)) < count) fail("the send buffer has changed");
  }

  void expect(std::span<const T> expected) const {
    const std::size_t index = differs(out_.span(), expected);
    if (index < expected.size()) fail(hccl::detail::concat("element ", index, " is wrong"));
    if (!out_.guards_stand()) fail("a byte beside the receive buffer has changed");
  }

  void expect_part(int rank, std::span<const T> expected) const {
    const std::size_t index = differs(part(out_.span(), rank), expected);
    if (index < expected.size()) fail(hccl::detail::concat("part ", rank, ", element ", index, " is wrong"));
    if (!out_.guards_stand()) fail("a byte beside the receive buffer has changed");
  }

  void expect_untouched() const {
    if (!out_.is_untouched()) fail("the receive buffer of a rank that gets nothing has changed");
  }

  /// The first element with other bits, or the number of elements.
  static std::size_t differs(std::span<const T> actual, std::span<const T> expected) {
    if (expected.empty() || std::memcmp(actual.data(), expected.data(), expected.size_bytes()) == 0) {
      return expected.size();
    }
    std::size_t index = 0;
    while (std::memcmp(&actual[index], &expected[index], sizeof(T)) == 0) ++index;
    return index;
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw std::runtime_error(hccl::detail::concat(what_, ", ", algorithm_, ", ", count_, " elements, root ",
                                                  asked_root_, ", rank ", comm_.rank(), " of ", comm_.size(),
                                                  ": ", why));
  }

  hccl::communicator<Net>& comm_;
  const Reference<T>& world_;
  Guarded<T> in_, out_;
  int root_ = 0;
  std::string_view what_, algorithm_;
  std::size_t count_ = 0;
  int asked_root_ = 0;
};

/// Checks everything for elements T over n ranks. `run(n, f)` calls f(comm) on n ranks.
template <class T, class Net, class Run>
void check_matrix(int ranks, Run&& run) {
  const auto n = static_cast<std::size_t>(ranks);
  constexpr std::size_t large = 65537;
  const bool gathers_large = ranks < 16 || sizeof(T) <= 2;  // a rank then has 5 MB at most
  const Reference<T> world(ranks, gathers_large ? n * large : large);
  run(ranks, [&](hccl::communicator<Net>& comm) {
    comm.set_timeout(std::chrono::seconds(60));
    CollectiveChecks<T, Net> checks(comm, world);
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, n - 1, n, n + 1, std::size_t{1000}, large}) {
      for_each_algorithm([&]<class A>() { checks.template check<A>(count); });
    }
  });
}

/// The numbers of ranks of the matrix.
inline constexpr std::array rank_counts{1, 2, 3, 4, 5, 6, 7, 8, 9, 16};

/// The elements of the matrix.
#define HCCLPP_TEST_ELEMENTS                                                                     \
  float, double, std::int8_t, std::uint64_t, hccl::float16, hccl::bfloat16, std::complex<float>, \
      hccl_test::Matrix

}  // namespace hccl_test
