// SPDX-License-Identifier: Apache-2.0

// Bad input: an error that names the argument, the rank and both values, and nothing written.

#include "collective/matrix.hpp"
#include "reference.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace hccl;
using namespace std::chrono_literals;

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
  for (int ranks = 1; ranks <= 5; ++ranks) {
    run_local(ranks, [&](Comm& comm) {
      const std::span<float> nothing;
      hccl_test::for_each_algorithm([&]<class A>() {
        allreduce<float, Sum, A>(comm, nothing);
        if constexpr (hccl_test::can_do<A, AllGather>) allgather<float, A>(comm, nothing, nothing);
        if constexpr (hccl_test::can_do<A, ReduceScatter>)
          reduce_scatter<float, Sum, A>(comm, nothing, nothing);
        if constexpr (hccl_test::can_do<A, Reduce>) reduce<float, Sum, A>(comm, nothing, ranks - 1);
        if constexpr (hccl_test::can_do<A, Broadcast>) broadcast<float, A>(comm, nothing, ranks - 1);
        int one[] = {1};
        allreduce<int, Sum, A>(comm, one);
        if (one[0] != ranks) throw error(errc::mismatch, "out of order");
      });
    });
  }
  SUCCEED();
}

TEST_CASE("case A3: every collective on one rank is a copy, and sends nothing") {
  run_local(1, [](Comm& comm) {
    hccl_test::for_each_algorithm([&]<class A>() {
      const std::vector<int> in{5, 6, 7};
      const auto copies = [&](auto&& call) {
        std::vector<int> out(3, -1);
        call(out);
        if (out != in) throw error(errc::mismatch, "not a copy");
      };
      copies([&](auto& out) { allreduce<int, Sum, A>(comm, in, out); });
      if constexpr (hccl_test::can_do<A, AllGather>)
        copies([&](auto& out) { allgather<int, A>(comm, in, out); });
      if constexpr (hccl_test::can_do<A, ReduceScatter>) {
        copies([&](auto& out) { reduce_scatter<int, Sum, A>(comm, in, out); });
        auto both = in;
        reduce_scatter<int, Sum, A>(comm, both);
        if (both != in) throw error(errc::mismatch, "in place");
      }
      if constexpr (hccl_test::can_do<A, Reduce>)
        copies([&](auto& out) { reduce<int, Sum, A>(comm, in, out); });
      if constexpr (hccl_test::can_do<A, Broadcast>)
        copies([&](auto& out) { broadcast<int, A>(comm, in, out); });
    });
  });
  SUCCEED();
}
