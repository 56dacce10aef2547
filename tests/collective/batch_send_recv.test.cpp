// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "require.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using hccl::batch_send_recv, hccl::errc, hccl::message;
using hccl_test::Comm, hccl_test::outcomes_of;

namespace {

/// What `from` sends to `to` under a tag.
std::vector<int> letter(int from, int to, int tag, std::size_t size) {
  std::vector<int> data(size);
  std::iota(data.begin(), data.end(), 1'000'000 * from + 10'000 * to + 1'000 * tag);
  return data;
}

using hccl_test::require;

}  // namespace

TEST_CASE("every rank sends to every rank and receives from it, in any order") {
  const auto ranks = GENERATE(1, 2, 3, 5);
  const auto size = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{100'000});
  const auto outcomes = outcomes_of(ranks, [&](Comm& comm) {
    const int self = comm.rank();
    std::vector<std::vector<int>> out, in(static_cast<std::size_t>(ranks), std::vector<int>(size));
    for (int peer = 0; peer < ranks; ++peer) out.push_back(letter(self, peer, 0, size));
    std::vector<message> messages;
    for (int i = 0; i < ranks; ++i) {
      const int peer = (self * 2 + i) % ranks;  // each rank begins with another one
      const auto index = static_cast<std::size_t>(peer);
      if (self % 2 == 0) messages.push_back(message::to(peer, out[index]));
      messages.push_back(message::from(peer, in[index]));
      if (self % 2 == 1) messages.push_back(message::to(peer, out[index]));
    }
    batch_send_recv(comm, messages);
    for (int peer = 0; peer < ranks; ++peer) {
      require(in[static_cast<std::size_t>(peer)] == letter(peer, self, 0, size), "another letter has come");
    }
    hccl::barrier(comm);
  });
  for (const auto& o : outcomes) CHECK(o.text() == "");
}

TEST_CASE("messages of a batch are told apart by their tags, and keep their order under one") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    const int self = comm.rank(), peer = 1 - self;
    const auto a = letter(self, peer, 1, 3), b = letter(self, peer, 2, 5), c = letter(self, peer, 3, 3);
    std::vector<int> first(3), second(5), third(3);
    batch_send_recv(comm,
                    {message::from(peer, second, 2), message::from(peer, first, 1), message::to(peer, a, 1),
                     message::to(peer, b, 2), message::to(peer, c, 1), message::from(peer, third, 1)});
    require(first == letter(peer, self, 1, 3), "first");
    require(second == letter(peer, self, 2, 5), "second");
    require(third == letter(peer, self, 3, 3), "third");
  });
  for (const auto& o : outcomes) CHECK(o.text() == "");
}

TEST_CASE("a batch meets send and recv") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    std::vector<int> in(4);
    if (comm.rank() == 0) {
      batch_send_recv(comm, {message::to(1, letter(0, 1, 0, 4)), message::from(1, in)});
      require(in == letter(1, 0, 0, 4), "rank 0");
    } else {
      hccl::recv(comm, in, 0);
      hccl::send(comm, letter(1, 0, 0, 4), 0);
      require(in == letter(0, 1, 0, 4), "rank 1");
    }
  });
  for (const auto& o : outcomes) CHECK(o.text() == "");
}

TEST_CASE("a message of a batch that is shorter than its buffer is a mismatch") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    std::vector<int> data(5);
    if (comm.rank() == 0) return batch_send_recv(comm, {message::to(1, std::span(data).first(3))});
    batch_send_recv(comm, {message::from(0, data)});
  });
  INFO(outcomes[1].text());
  CHECK(outcomes[1].is(errc::mismatch));
  CHECK(outcomes[1].says("sent 3 elements, expected 5"));
}

TEST_CASE("case B18: sent buffers may overlap and be empty, received ones are apart") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    const int peer = 1 - comm.rank();
    const std::vector<int> out{1, 2, 3};
    std::vector<int> in(6), none;
    batch_send_recv(comm, {message::to(peer, out), message::to(peer, std::span(out).subspan(1)),
                           message::to(peer, none), message::from(peer, std::span(in).first(3)),
                           message::from(peer, std::span(in).subspan(3, 2)), message::from(peer, none)});
    require(in == std::vector<int>{1, 2, 3, 2, 3, 0}, "overlapping sends");

    const auto refused = hccl_test::outcome_of([&] {
      batch_send_recv(comm, {message::from(peer, std::span(in).first(3)),
                             message::from(peer, std::span(in).subspan(2, 2))});
    });
    require(refused.is(errc::invalid_argument) && refused.says("message 1 overlaps"), "overlapping receives");
    const auto both = hccl_test::outcome_of(
        [&] { batch_send_recv(comm, {message::to(peer, in), message::from(peer, in)}); });
    require(both.is(errc::invalid_argument), "a buffer both ways");
    hccl::barrier(comm);  // nothing was sent, so the communicator goes on
  });
  for (const auto& o : outcomes) CHECK(o.text() == "");
}

TEST_CASE("a batch with a rank outside the world or null data is refused") {
  const auto outcomes = outcomes_of(2, [](Comm& comm) {
    std::vector<int> data(2);
    const auto outside = hccl_test::outcome_of([&] { batch_send_recv(comm, {message::to(2, data)}); });
    require(outside.is(errc::invalid_argument) && outside.says("destination is 2"), "rank");
    const std::span<int> null(static_cast<int*>(nullptr), 2);
    require(hccl_test::outcome_of([&] {
              batch_send_recv(comm, {message::from(0, null)});
            }).is(errc::invalid_argument),
            "null");
  });
  for (const auto& o : outcomes) CHECK(o.text() == "");
}
