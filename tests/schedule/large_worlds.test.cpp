// SPDX-License-Identifier: Apache-2.0

// Ten thousand ranks, of which one runs here.

#include "allocations.hpp"
#include "test.hpp"

#include <hccl/algorithm/ring.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/combiner.hpp>
#include <hccl/engine/layout.hpp>
#include <hccl/engine/run.hpp>
#include <hccl/reduction/arithmetic.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/view.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using hccl::AllReduce;
using hccl::group;
using hccl::Ring;

/// A transport of one rank whose peers behave exactly as the schedule says: what is sent is counted, and what is
/// received is a right header followed by zeros.
class ModelTransport {
 public:
  static constexpr std::string_view name = "model";
  static constexpr hccl::link_model link{};

  ModelTransport(int rank, int ranks, const hccl::detail::call& c) : rank_(rank), ranks_(ranks), call_(&c) {}

  int rank() const { return rank_; }
  int size() const { return ranks_; }

  void send(int peer, hccl::pieces message) {
    const int ahead = group(ranks_).wrap(peer - rank_);
    most_distance = std::max(most_distance, std::min(ahead, ranks_ - ahead));
    for (const std::span<const std::byte> piece : message) sent_bytes += piece.size();
    ++sent_messages;
  }
  bool sending() const { return false; }

  void receive(int, hccl::sink& in) {
    const hccl::detail::message_header header(*call_, in.remaining() - sizeof header);
    std::byte bytes[sizeof header];
    std::memcpy(bytes, &header, sizeof header);
    in.consume(bytes);
    const std::byte zeros[64]{};
    while (in.remaining() > 0) in.consume(std::span(zeros).first(std::min(in.remaining(), sizeof zeros)));
  }
  bool progress(hccl::deadline) { return true; }
  void abort(const hccl::error&) noexcept {}
  ModelTransport channel(int) { return *this; }

  std::size_t sent_bytes = 0;  // with headers
  std::size_t sent_messages = 0;
  int most_distance = 0;  // to a peer, round the ring

 private:
  int rank_;
  int ranks_;
  const hccl::detail::call* call_;
};
static_assert(hccl::check_transport<ModelTransport>());

/// What a run of Ring's allreduce of `count` floats asks for on one rank.
struct usage {
  std::size_t allocations, bytes, messages;
};

usage run_ring(int ranks, std::size_t count) {
  const group g{ranks};
  const auto schedule = hccl::schedule_view::of<Ring>(AllReduce{}, g);
  const hccl::detail::call what{.collective = AllReduce::name,
                                .algorithm = Ring::name,
                                .element = "float",
                                .reduction = "sum",
                                .element_bytes = sizeof(float),
                                .count = count};
  std::vector<float> data(count, 1);
  const auto parts = hccl::division::whole(count);
  auto* const bytes = reinterpret_cast<const std::byte*>(data.data());
  const hccl::detail::operands user{{bytes, parts, 0}, {bytes, parts, 0}, parts};
  const auto combine = hccl::detail::combiner::of<float>(hccl::Sum{});
  ModelTransport net(ranks / 2, ranks, what);
  hccl::detail::engine<> engine;
  const std::size_t before = hccl_test::allocations_of_this_thread();
  engine.run(net, schedule, what, user, combine, hccl::deadline::after(std::chrono::seconds(60)));
  const std::size_t allocations = hccl_test::allocations_of_this_thread() - before;
  CHECK(net.most_distance == 1);
  return {allocations, net.sent_bytes, net.sent_messages};
}

}  // namespace

TEST_CASE("a schedule of 10,000 ranks is walked without an allocation") {
  const auto schedule = hccl::schedule_view::of<Ring>(AllReduce{}, group{10'000});
  static_assert(std::is_trivially_copyable_v<hccl::schedule_view>);  // it owns nothing
  std::size_t sends = 0, blocks = 0;
  const std::size_t before = hccl_test::allocations_of_this_thread();
  for (int round = 0; round < schedule.rounds(); ++round) {
    schedule.steps(4'321, round, [&](const hccl::step& s) {
      if (s.what != hccl::action::send) return;
      ++sends;
      blocks += static_cast<std::size_t>(s.blocks.count);
    });
  }
  const std::size_t after = hccl_test::allocations_of_this_thread();
  CHECK(after == before);
  CHECK(schedule.rounds() == 2 * 9'999);
  CHECK(sends == 2 * 9'999);
  CHECK(blocks == 2 * 9'999);
}

TEST_CASE("Ring takes no memory that grows with the number of ranks") {
  constexpr std::size_t count = 10'007;
  const usage few = run_ring(10, count);
  const usage many = run_ring(10'000, count);
  CHECK(few.messages == 2 * 9);
  CHECK(many.messages == 2 * 9'999);
  const auto payload = [](const usage& u) {
    return u.bytes - u.messages * sizeof(hccl::detail::message_header);
  };
  CHECK(payload(few) > 2 * count * sizeof(float) * 9 / 10 - 100);
  CHECK(payload(many) > 2 * count * sizeof(float) * 9'999 / 10'000 - 100);
  CHECK(payload(many) < 2 * count * sizeof(float));
  CHECK(many.allocations > 0);
  CHECK(many.allocations <= few.allocations);  // the engine's lists, of a few steps a round
}
