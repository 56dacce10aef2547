// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "require.hpp"
#include "test.hpp"
#include "timing.hpp"

#include <hccl/collectives.hpp>

#include <chrono>
#include <cstddef>
#include <latch>
#include <numeric>
#include <span>
#include <string>
#include <vector>

using namespace hccl;
using namespace std::chrono_literals;

namespace {

using hccl_test::Comm;

std::vector<int> contents(int seed, std::size_t count) {
  std::vector<int> data(count);
  std::iota(data.begin(), data.end(), seed * 100000);
  return data;
}

/// Runs f(comm) as run_local, with calls that wait patiently.
void run_patiently(int ranks, auto f) {
  run_local(ranks, [&](Comm& comm) {
    comm.set_timeout(hccl_test::patience);
    f(comm);
  });
}

using hccl_test::require;

}  // namespace

TEST_CASE("case B5: messages are matched by tag, whatever the order of asking") {
  for (const std::size_t count : {std::size_t{3}, std::size_t{100000}}) {
    run_patiently(2, [&](Comm& comm) {
      if (comm.rank() == 0) {
        for (const int tag : {1, 2, 3}) send(comm, contents(tag, count), 1, tag);
        send(comm, contents(9, count), 1, 1);
      } else {
        std::vector<int> data(count);
        for (const int tag : {3, 1, 2}) {
          require(recv(comm, data, 0, tag) == count, "wrong length");
          require(data == contents(tag, count), "another tag's message");
        }
        recv(comm, data, 0, 1);
        require(data == contents(9, count), "messages of one tag out of order");
      }
    });
  }
  SUCCEED();
}

TEST_CASE("tagged messages do not mix with collectives") {
  run_patiently(3, [](Comm& comm) {
    if (comm.rank() == 0) send(comm, contents(4, 5), 2, 7);
    std::vector<int> sum{1};
    allreduce(comm, sum);
    require(sum[0] == 3, "the collective took the message");
    if (comm.rank() == 2) {
      std::vector<int> data(5);
      recv(comm, data, 0, 7);
      require(data == contents(4, 5), "the message took the collective");
    }
  });
  SUCCEED();
}

TEST_CASE("a ring of sendrecv moves large messages without deadlock") {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    run_patiently(ranks, [&](Comm& comm) {
      constexpr std::size_t count = 1 << 20;
      const int next = (comm.rank() + 1) % ranks, previous = (comm.rank() + ranks - 1) % ranks;
      std::vector<int> in(count);
      require(sendrecv(comm, contents(comm.rank(), count), next, in, previous) == count, "wrong length");
      require(in == contents(previous, count), "wrong contents");
    });
  }
  SUCCEED();
}

TEST_CASE("a message to oneself, an empty and a short message arrive") {
  run_patiently(2, [](Comm& comm) {
    send(comm, contents(1, 4), comm.rank(), 5);
    std::vector<int> data(10, -1);
    require(recv(comm, data, comm.rank(), 5) == 4 && data[3] == 100003 && data[4] == -1, "to oneself");
    const int other = 1 - comm.rank();
    require(sendrecv(comm, std::span<int>(), other, data, other) == 0, "an empty message");
    require(sendrecv(comm, contents(2, 3), other, data, other) == 3 && data[2] == 200002 && data[4] == -1,
            "a short message");
  });
  SUCCEED();
}

TEST_CASE("a message longer than the buffer is a mismatch that names both lengths, and writes nothing") {
  std::string text;
  run_patiently(2, [&](Comm& comm) {
    if (comm.rank() == 0) {
      send(comm, contents(1, 8), 1, 3);
      return;
    }
    std::vector<int> data(8, -1);
    try {
      recv(comm, std::span(data).first(5), 0, 3);
    } catch (const error& e) {
      require(e.kind() == errc::mismatch && e.failed_rank() == 0, "another error");
      require(data == std::vector<int>(8, -1), "something was written");
      text = e.what();
    }
  });
  INFO(text);
  CHECK(text.find("rank 1") != text.npos);
  CHECK(text.find("sent 8, expected 5") != text.npos);
}

TEST_CASE("a message of other elements is a mismatch") {
  CHECK_THROWS_AS(run_patiently(2,
                                [](Comm& comm) {
                                  if (comm.rank() == 0) return send(comm, std::vector<float>{1}, 1);
                                  recv(comm, std::vector<int>(1), 0);
                                }),
                  error);
}

TEST_CASE("recv of a message that nobody sends names the rank at the deadline") {
  std::latch given_up(1);
  const auto outcomes = hccl_test::outcomes_of(2, [&](Comm& comm) {
    if (comm.rank() == 0) return given_up.wait();
    comm.set_timeout(100ms);
    const auto own = hccl_test::outcome_of([&] { recv(comm, std::vector<int>(1), 0, 8); });
    given_up.count_down();
    if (own.error) throw error(*own.error);
  });
  INFO(outcomes[1].text());
  CHECK(outcomes[1].is(errc::timeout));
  CHECK(outcomes[1].says("recv from rank 0, tag 8: timed out"));
  CHECK((outcomes[1].error && outcomes[1].error->failed_rank() == 0));
}

TEST_CASE("case B18: messages of no elements are sent and received like others") {
  run_patiently(2, [](Comm& comm) {
    const int other = 1 - comm.rank();
    std::vector<int> data(3, -1);
    if (comm.rank() == 0) {
      send(comm, std::span<const int>(), 1, 4);
      send(comm, contents(1, 3), 1, 4);
    } else {
      require(recv(comm, data, 0, 4) == 0 && data == std::vector<int>(3, -1),
              "an empty message is not empty");
      require(recv(comm, data, 0, 4) == 3 && data == contents(1, 3), "the message behind an empty one");
    }
    std::span<int> nothing;
    require(sendrecv(comm, nothing, other, nothing, other) == 0, "sendrecv of nothing");
  });
  SUCCEED();
}
