// SPDX-License-Identifier: Apache-2.0

// Bad input: an error that names the argument, the rank and both values, and nothing written.

#include "collective/matrix.hpp"
#include "reference.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using namespace hccl;
using namespace std::chrono_literals;
using hccl_test::for_each_algorithm, hccl_test::Guarded;

namespace {

using Comm = communicator<LocalTransport>;

/// Runs `f` on all ranks; returns what each rank threw.
template <class F>
std::vector<error> errors_of(int ranks, F&& f) {
  std::vector<error> errors(static_cast<std::size_t>(ranks), error(errc::unsupported, "nothing was thrown"));
  run_local(ranks, [&](Comm& comm) {
    comm.set_timeout(5s);
    try {
      f(comm);
    } catch (const error& e) {
      errors[static_cast<std::size_t>(comm.rank())] = e;
    }
  });
  return errors;
}

/// All ranks threw `invalid_argument` with every one of the words, and their own rank.
void check_invalid(const std::vector<error>& errors, std::initializer_list<std::string_view> words) {
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    const std::string text = errors[rank].what();
    INFO(text);
    CHECK(errors[rank].kind() == errc::invalid_argument);
    CHECK(text.find(detail::concat("rank ", rank)) != text.npos);
    for (const auto word : words) CHECK(text.find(word) != text.npos);
  }
}

}  // namespace

TEST_CASE("a buffer of the wrong size is named, with both sizes") {
  check_invalid(errors_of(3, [](Comm& comm) { allreduce(comm, std::vector<int>(4), std::vector<int>(5)); }),
                {"allreduce", "output has 5", "expected 4"});
  check_invalid(errors_of(3, [](Comm& comm) { allgather(comm, std::vector<int>(4), std::vector<int>(11)); }),
                {"allgather", "output has 11", "expected 12"});
  check_invalid(
      errors_of(3, [](Comm& comm) { reduce_scatter(comm, std::vector<int>(4), std::vector<int>(2)); }),
      {"reduce_scatter", "input has 4", "expected 6"});
  check_invalid(errors_of(3, [](Comm& comm) { allgather(comm, std::vector<int>(4)); }),
                {"allgather", "4 elements", "multiple of the 3 ranks"});
}

TEST_CASE("a root or a peer outside the world is named") {
  check_invalid(errors_of(2, [](Comm& comm) { broadcast(comm, std::vector<int>(4), 2); }),
                {"broadcast", "root is 2", "from 0 to 1"});
  check_invalid(errors_of(2, [](Comm& comm) { reduce(comm, std::vector<int>(4), -1); }),
                {"reduce", "root is -1", "from 0 to 1"});
  check_invalid(errors_of(2, [](Comm& comm) { send(comm, std::vector<int>(4), 7); }),
                {"send", "destination is 7"});
  check_invalid(errors_of(2, [](Comm& comm) { recv(comm, std::vector<int>(4), -3); }),
                {"recv", "source is -3"});
}

TEST_CASE("buffers that overlap without being equal are refused, and not written") {
  check_invalid(errors_of(2,
                          [](Comm& comm) {
                            std::vector<int> data(10, comm.rank() + 1);
                            try {
                              allreduce(comm, std::span(data).first(8), std::span(data).subspan(2));
                            } catch (const error&) {
                              if (data != std::vector<int>(10, comm.rank() + 1))
                                throw error(errc::mismatch, "written");
                              throw;
                            }
                          }),
                {"allreduce", "input", "overlaps", "-8 bytes"});
  check_invalid(errors_of(2,
                          [](Comm& comm) {
                            std::vector<int> all(8);
                            allgather(comm, std::span(all).subspan(2, 4), all);
                          }),
                {"allgather", "overlaps", "8 bytes"});
  check_invalid(errors_of(2,
                          [](Comm& comm) {
                            std::vector<int> data(8);
                            sendrecv(comm, std::span(data).first(5), 1 - comm.rank(), std::span(data).last(5),
                                     1 - comm.rank());
                          }),
                {"sendrecv", "overlaps"});
}

TEST_CASE("a null buffer is refused when elements are expected") {
  check_invalid(
      errors_of(2, [](Comm& comm) { allreduce(comm, std::span<float>(static_cast<float*>(nullptr), 3)); }),
      {"allreduce", "is null", "expected 3 elements"});
  check_invalid(
      errors_of(2, [](Comm& comm) { send(comm, std::span<float>(static_cast<float*>(nullptr), 3), 0); }),
      {"send", "data is null"});
}

TEST_CASE("an argument error leaves the communicator usable") {
  run_local(2, [](Comm& comm) {
    std::vector<int> data{comm.rank() + 1};
    try {
      broadcast(comm, data, 9);
    } catch (const error&) {
    }
    allreduce(comm, data);
    if (data[0] != 3) throw error(errc::mismatch, "wrong sum after an argument error");
  });
  SUCCEED();
}

TEST_CASE("case A26: collectives of no elements, with null pointers, stay in order with their neighbours") {
  using Few =
      std::tuple<Mesh, Ring, RecursiveDoubling, Auto>;  // the matrix has the others, without null pointers
  for (int ranks = 1; ranks <= 5; ++ranks) {
    run_local(ranks, [&](Comm& comm) {
      const std::span<float> nothing;
      const std::vector<std::size_t> counts(static_cast<std::size_t>(ranks));
      const std::vector<std::size_t> matrix(counts.size() * counts.size());
      const int root = ranks - 1;
      const auto in_order = [&] {
        int one[] = {1};
        allreduce(comm, one);
        if (one[0] != ranks) throw error(errc::mismatch, "out of order");
      };
      for_each_algorithm<AllReduce, Sum, Few>([&]<class A>() {
        allreduce<float, Sum, A>(comm, nothing);
        barrier<A>(comm);
        in_order();
      });
      for_each_algorithm<Reduce, Sum, Few>([&]<class A>() {
        reduce<float, Sum, A>(comm, nothing, root);
        in_order();
      });
      for_each_algorithm<ReduceScatter, Sum, Few>([&]<class A>() {
        reduce_scatter<float, Sum, A>(comm, nothing, nothing);
        reduce_scatterv<float, Sum, A>(comm, nothing, nothing, counts);
        in_order();
      });
      for_each_algorithm<Scan, Sum, Few>([&]<class A>() {
        scan<float, Sum, A>(comm, nothing);
        in_order();
      });
      for_each_algorithm<ExScan, Sum, Few>([&]<class A>() {
        exscan<float, Sum, A>(comm, nothing);
        in_order();
      });
      for_each_algorithm<Broadcast, Sum, Few>([&]<class A>() {
        broadcast<float, A>(comm, nothing, root);
        in_order();
      });
      for_each_algorithm<AllGather, Sum, Few>([&]<class A>() {
        allgather<float, A>(comm, nothing, nothing);
        allgatherv<float, A>(comm, nothing, nothing, counts);
        in_order();
      });
      for_each_algorithm<Gather, Sum, Few>([&]<class A>() {
        gather<float, A>(comm, nothing, nothing, root);
        gatherv<float, A>(comm, nothing, nothing, counts, root);
        in_order();
      });
      for_each_algorithm<Scatter, Sum, Few>([&]<class A>() {
        scatter<float, A>(comm, nothing, nothing, root);
        scatterv<float, A>(comm, nothing, nothing, counts, root);
        in_order();
      });
      for_each_algorithm<AllToAll, Sum, Few>([&]<class A>() {
        alltoall<float, A>(comm, nothing);
        in_order();
      });
      for_each_algorithm<AllToAllV, Sum, Few>([&]<class A>() {
        alltoallv<float, A>(comm, nothing, counts, nothing, counts);
        alltoallv<float, A>(comm, nothing, nothing, matrix);
        in_order();
      });
    });
  }
  SUCCEED();
}

namespace {

/// Calls `f(comm, buffer)` with a buffer of `size` elements on each rank: all get `invalid_argument` with the words,
/// and no byte of a buffer is written.
template <class F>
void check_refused(int ranks, std::size_t size, std::initializer_list<std::string_view> words, F&& f) {
  std::vector<Guarded<int>> buffers(static_cast<std::size_t>(ranks), Guarded<int>(size));
  const Guarded<int> untouched(size);
  check_invalid(
      errors_of(ranks, [&](Comm& comm) { f(comm, buffers[static_cast<std::size_t>(comm.rank())].span()); }),
      words);
  for (const auto& buffer : buffers) CHECK(buffer.difference(untouched).empty());
}

/// Calls `f(comm)`, which the ranks do differently, then a barrier, since one that only sends may have left before
/// its peers find out: all get `mismatch`, one of them with all the words.
template <class F>
void check_mismatch(int ranks, std::initializer_list<std::string_view> words, F&& f) {
  const auto errors = errors_of(ranks, [&](Comm& comm) {
    f(comm);
    barrier(comm);
  });
  bool is_told = false;
  for (const error& e : errors) {
    const std::string text = e.what();
    INFO(text);
    CHECK(e.kind() == errc::mismatch);
    is_told = is_told || std::ranges::all_of(words, [&](auto word) { return text.find(word) != text.npos; });
  }
  INFO(errors.front().what());
  CHECK(is_told);
}

using Sizes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("lists of shares of the wrong length are refused") {
  check_refused(3, 9, {"allgatherv", "parts has 2 counts", "each of 3 ranks"},
                [](Comm& comm, auto all) { allgatherv(comm, std::vector<int>(3), all, Sizes{3, 3}); });
  check_refused(3, 9, {"allgatherv", "parts has 4 offsets", "each of 3 ranks"}, [](Comm& comm, auto all) {
    allgatherv(comm, std::vector<int>(3), all, shares(Sizes{3, 3, 3}, Sizes{0, 3, 6, 9}));
  });
  check_refused(3, 3, {"reduce_scatterv", "parts has 0 counts"},
                [](Comm& comm, auto out) { reduce_scatterv(comm, std::vector<int>(9), out, Sizes{}); });
  check_refused(3, 3, {"gatherv", "parts has 4 counts"},
                [](Comm& comm, auto out) { gatherv(comm, std::vector<int>(1), out, Sizes{1, 1, 1, 1}); });
  check_refused(3, 1, {"scatterv", "parts has 1 counts"},
                [](Comm& comm, auto out) { scatterv(comm, std::vector<int>(3), out, Sizes{1}); });
  check_refused(3, 3, {"alltoallv", "sent has 2 counts"}, [](Comm& comm, auto out) {
    alltoallv(comm, std::vector<int>(3), Sizes{1, 1}, out, Sizes{1, 1, 1});
  });
  check_refused(3, 3, {"alltoallv", "received has 4 counts"}, [](Comm& comm, auto out) {
    alltoallv(comm, std::vector<int>(3), Sizes{1, 1, 1}, out, Sizes{1, 1, 1, 0});
  });
  check_refused(3, 3, {"alltoallv", "matrix has 8 elements", "expected 9"},
                [](Comm& comm, auto out) { alltoallv(comm, std::vector<int>(3), out, Sizes(8, 1)); });
}

TEST_CASE("a share outside of its buffer is refused") {
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  check_refused(2, 5, {"allgatherv", "share 1 has 3 elements from element 3", "within the 5"},
                [](Comm& comm, auto all) { allgatherv(comm, std::vector<int>(3), all, Sizes{3, 3}); });
  check_refused(2, 5, {"allgatherv", "share 0 has 3 elements from element", "within the 5"},
                [](Comm& comm, auto all) {
                  allgatherv(comm, std::vector<int>(3), all, shares(Sizes{3, 3}, Sizes{huge - 1, 0}));
                });
  check_refused(2, 5, {"allgatherv", "share 0", "within the 5"},
                [](Comm& comm, auto all) { allgatherv(comm, std::vector<int>(3), all, Sizes{huge, 6}); });
  check_refused(2, 2, {"reduce_scatterv", "share 1", "within the 3"},
                [](Comm& comm, auto out) { reduce_scatterv(comm, std::vector<int>(3), out, Sizes{2, 2}); });
  check_refused(2, 4, {"alltoallv", "sent: share 1", "within the 3"}, [](Comm& comm, auto out) {
    alltoallv(comm, std::vector<int>(3), Sizes{2, 2}, out, Sizes{2, 2});
  });
  check_refused(2, 3, {"alltoallv", "received: share 1", "within the 3"}, [](Comm& comm, auto out) {
    alltoallv(comm, std::vector<int>(4), Sizes{2, 2}, out, Sizes{2, 2});
  });
  check_refused(1, 3, {"gatherv", "share 0", "within the 3"}, [](Comm& comm, auto out) {
    gatherv(comm, std::vector<int>(2), out, shares(Sizes{2}, Sizes{2}));
  });
  check_refused(1, 2, {"scatterv", "share 0", "within the 3"}, [](Comm& comm, auto out) {
    scatterv(comm, std::vector<int>(3), out, shares(Sizes{2}, Sizes{2}));
  });
}

TEST_CASE("a buffer that is not as large as its share is refused") {
  check_refused(2, 5, {"allgatherv", "input has 4", "expected"},
                [](Comm& comm, auto all) { allgatherv(comm, std::vector<int>(4), all, Sizes{2, 3}); });
  check_refused(2, 4, {"reduce_scatterv", "output has 4", "expected"},
                [](Comm& comm, auto out) { reduce_scatterv(comm, std::vector<int>(5), out, Sizes{2, 3}); });
  check_refused(2, 4, {"scatterv", "output has 4", "expected"},
                [](Comm& comm, auto out) { scatterv(comm, std::vector<int>(5), out, Sizes{2, 3}, 1); });
  check_refused(2, 5, {"gatherv", "input has 4", "expected"},
                [](Comm& comm, auto out) { gatherv(comm, std::vector<int>(4), out, Sizes{2, 3}, 1); });
  check_refused(2, 5, {"alltoallv", "own share", "expected"}, [](Comm& comm, auto out) {
    alltoallv(comm, std::vector<int>(6), Sizes{3, 3}, out, Sizes{2, 2});
  });
  check_refused(3, 4, {"alltoall", "input has 4", "multiple of the 3 ranks"},
                [](Comm& comm, auto data) { alltoall(comm, data); });
  check_refused(3, 6, {"alltoall", "output has 6", "expected 3"},
                [](Comm& comm, auto data) { alltoall(comm, std::vector<int>(3), data); });
  check_refused(3, 6, {"scan", "output has 6", "expected 3"},
                [](Comm& comm, auto data) { scan(comm, std::vector<int>(3), data); });
  check_refused(3, 6, {"exscan", "output has 6", "expected 3"},
                [](Comm& comm, auto data) { exscan(comm, std::vector<int>(3), data); });
  check_refused(1, 3, {"gather", "output has 3", "expected 2"},
                [](Comm& comm, auto data) { gather(comm, std::vector<int>(2), data); });
  check_refused(1, 3, {"scatter", "input has 2", "expected 3"},
                [](Comm& comm, auto data) { scatter(comm, std::vector<int>(2), data); });
}

TEST_CASE("shares that are written or reduced do not overlap; those that are only read may") {
  check_refused(2, 3, {"reduce_scatterv", "share 0 overlaps share 1"}, [](Comm& comm, auto all) {
    reduce_scatterv<int, Max>(comm, all, std::vector<int>(2), shares(Sizes{2, 2}, Sizes{0, 1}));
  });
  check_refused(2, 5, {"allgatherv", "share 0 overlaps share 1"}, [](Comm& comm, auto all) {
    allgatherv(comm, std::vector<int>(3), all, shares(Sizes{3, 3}, Sizes{0, 2}));
  });
  check_refused(2, 5, {"alltoallv", "received: share 1 overlaps share 0"}, [](Comm& comm, auto all) {
    alltoallv(comm, std::vector<int>(6), Sizes{3, 3}, all, shares(Sizes{3, 3}, Sizes{1, 0}));
  });
  check_refused(1, 5, {"gatherv", "input", "expected"}, [](Comm& comm, auto all) {
    gatherv(comm, std::vector<int>(2), all, shares(Sizes{3}, Sizes{0}));
  });
  run_local(2, [](Comm& comm) {
    const std::vector<int> in{1, 2, 3};
    const auto wanted = comm.rank() == 0 ? std::vector<int>{1, 2} : std::vector<int>{2, 3};
    const auto require = [](bool holds) {
      if (!holds) throw error(errc::mismatch, "shares that overlap are not read right");
    };
    const Sizes counts{2, 2}, offsets{0, 1};
    const shares both(counts, offsets);
    std::vector<int> out(2);
    scatterv(comm, in, out, both, 1);
    require(out == wanted);
    std::vector<int> all(4);
    alltoallv(comm, in, both, all, Sizes{2, 2});
    require(all == std::vector<int>{wanted[0], wanted[1], wanted[0], wanted[1]});
  });
}

TEST_CASE("the root of a gather or a scatter is a rank") {
  const std::vector<int> one(1);
  check_refused(2, 2, {"gather", "root is 2", "from 0 to 1"},
                [&](Comm& comm, auto all) { gather(comm, one, all, 2); });
  check_refused(2, 2, {"gatherv", "root is -1", "from 0 to 1"},
                [&](Comm& comm, auto all) { gatherv(comm, one, all, Sizes{1, 1}, -1); });
  check_refused(2, 1, {"scatter", "root is 2", "from 0 to 1"},
                [&](Comm& comm, auto out) { scatter(comm, std::vector<int>(2), out, 2); });
  check_refused(2, 1, {"scatterv", "root is -7", "from 0 to 1"},
                [&](Comm& comm, auto out) { scatterv(comm, std::vector<int>(2), out, Sizes{1, 1}, -7); });
}

TEST_CASE("buffers of the further collectives that overlap without being in place are refused") {
  check_refused(2, 8, {"allgatherv", "overlaps"}, [](Comm& comm, auto all) {
    allgatherv(comm, all.subspan(1, 3), all, shares(Sizes{3, 3}, Sizes{0, 4}));
  });
  check_refused(2, 8, {"reduce_scatterv", "overlaps"}, [](Comm& comm, auto all) {
    reduce_scatterv(comm, all, all.subspan(2, 3), shares(Sizes{3, 3}, Sizes{0, 4}));
  });
  check_refused(2, 8, {"alltoall", "overlaps"},
                [](Comm& comm, auto all) { alltoall(comm, all.first(6), all.last(6)); });
  check_refused(2, 8, {"alltoallv", "overlaps"}, [](Comm& comm, auto all) {
    alltoallv(comm, all.first(6), Sizes{3, 3}, all.last(6), Sizes{3, 3});
  });
  check_refused(2, 8, {"scan", "overlaps"},
                [](Comm& comm, auto all) { scan(comm, all.first(6), all.last(6)); });
  check_refused(2, 8, {"exscan", "overlaps"},
                [](Comm& comm, auto all) { exscan(comm, all.first(6), all.last(6)); });
  check_refused(1, 8, {"gather", "overlaps"},
                [](Comm& comm, auto all) { gather(comm, all.first(6), all.last(6)); });
  check_refused(1, 8, {"gatherv", "overlaps"},
                [](Comm& comm, auto all) { gatherv(comm, all.first(6), all, shares(Sizes{6}, Sizes{2})); });
  check_refused(1, 8, {"scatter", "overlaps"},
                [](Comm& comm, auto all) { scatter(comm, all.first(6), all.last(6)); });
  check_refused(1, 8, {"scatterv", "overlaps"},
                [](Comm& comm, auto all) { scatterv(comm, all, all.first(6), shares(Sizes{6}, Sizes{2})); });
}

TEMPLATE_TEST_CASE("ranks that disagree about the sizes of shares hear of it", "", Mesh, Ring) {
  check_mismatch(3, {"gatherv", "sizes of shares"}, [](Comm& comm) {
    const Sizes counts = comm.rank() == 1 ? Sizes{1, 3, 2} : Sizes{2, 3, 1};
    std::vector<int> in(counts[static_cast<std::size_t>(comm.rank())]), out(6);
    gatherv<int, TestType>(comm, in, out, counts, 2);
  });
  check_mismatch(3, {"allgatherv", "sizes of shares"}, [](Comm& comm) {
    const Sizes counts = comm.rank() == 1 ? Sizes{1, 3, 2} : Sizes{2, 3, 1};
    std::vector<int> in(counts[static_cast<std::size_t>(comm.rank())]), out(6);
    allgatherv<int, TestType>(comm, in, out, counts);
  });
}

TEMPLATE_TEST_CASE(
    "a pair that disagrees about a share of alltoallv is named, and nothing is written beside it", "", Mesh,
    Pairwise) {
  for (const std::size_t received : {1u, 3u}) {
    std::vector<Guarded<int>> outputs(2, Guarded<int>(5));
    check_mismatch(2, {"alltoallv", "rank 1", "rank 0", "message of bytes 8", detail::concat(4 * received)},
                   [&](Comm& comm) {
                     const std::vector<int> in(4, 1);
                     const auto out = outputs[static_cast<std::size_t>(comm.rank())].span();
                     const Sizes sent{2, 2};
                     alltoallv<int, TestType>(comm, in, sent, out,
                                              comm.rank() == 1 ? Sizes{received, 2} : sent);
                   });
    for (const auto& output : outputs) CHECK(output.guards_stand());
  }
}

TEST_CASE("hosts are those of all ranks, and the same on each") {
  check_invalid(errors_of(3, [](Comm& comm) { comm.set_hosts(topology({{2, 2}})); }),
                {"set_hosts", "4 ranks", "expected 3"});
  run_local(3, [](Comm& comm) {
    comm.set_hosts(topology({{2, 1}}));
    try {
      comm.set_hosts(topology({{1, 1}}));
    } catch (const error&) {
    }
    if (comm.hosts().size() != 3) throw error(errc::mismatch, "hosts that were refused were kept");
    int one[] = {1};
    allreduce<int, Sum, AHC>(comm, one);
    comm.set_hosts(topology());
    allreduce<int, Sum, AHC>(comm, one);
    if (one[0] != 9) throw error(errc::mismatch, "wrong sum");
  });
  check_mismatch(3, {"other hosts"}, [](Comm& comm) {
    comm.set_hosts(topology({comm.rank() == 0 ? std::vector{2, 1} : std::vector{1, 2}}));
    int one[] = {1};
    allreduce<int, Sum, Mesh>(comm, one);
  });
}

TEST_CASE("counts whose bytes no buffer can have are refused, also on ranks that have none") {
  const std::size_t huge = std::size_t{1} << 60;  // two of them are no bytes, modulo 2^64
  const std::vector<std::size_t> counts{1, huge, 1, 1, huge};
  const std::vector<double> all(5);
  std::vector<double> own(1);
  check_invalid(errors_of(5, [&](Comm& comm) { gatherv(comm, own, std::vector<double>(5), counts); }),
                {"gatherv", "share 1", detail::concat(huge)});
  check_invalid(errors_of(5, [&](Comm& comm) { scatterv(comm, all, std::vector<double>(1), counts); }),
                {"scatterv", "share 1", detail::concat(huge)});
}
