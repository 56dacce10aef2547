// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meaning of the concept Transport as a suite that any transport can be run through.
//
//   struct MyHarness {
//     static std::vector<MyTransport> make(int ranks);  // the transports of one group, by rank
//   };
//   TEST_CASE("MyTransport conforms") { hccl_test::check_conformance<MyHarness>(); }
//
// Every rank is a thread, which owns its transport: it is destroyed when the rank leaves. The program is
// built with allocations.test.cpp.

#include "allocations.hpp"
#include "require.hpp"
#include "test.hpp"
#include "timing.hpp"

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hccl_test {

using namespace std::chrono_literals;

namespace conformance {

using bytes = std::vector<std::byte>;

inline hccl::deadline soon() { return hccl::deadline::after(patience); }

/// Runs f(transport) on a thread per rank and rethrows what failed first; the other ranks are aborted.
template <class Harness, class F>
void run(int ranks, F f) {
  std::mutex mutex;
  std::exception_ptr first;
  const auto run_rank = [&](auto net) {
    try {
      f(net);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
      net.abort(hccl::error(hccl::errc::aborted, "a case failed"));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (auto& net : Harness::make(ranks)) threads.emplace_back(run_rank, std::move(net));
  }
  if (first) std::rethrow_exception(first);
}

/// The bytes of the message `number` from one rank to another.
inline bytes message(int from, int to, std::size_t size, int number = 0) {
  bytes out(size);
  std::uint64_t state =
      static_cast<std::uint64_t>(((number * 64 + from) * 64 + to) + 1) * 0x9e3779b97f4a7c15u;
  for (std::size_t i = 0; i < size; i += sizeof state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t word = state ^ (state >> 32);
    std::memcpy(&out[i], &word, std::min(sizeof word, size - i));
  }
  return out;
}

/// A message to be sent, in as many pieces as it has sizes; it stays put.
class Outgoing {
 public:
  Outgoing(bytes contents, const std::vector<std::size_t>& sizes) : contents_(std::move(contents)) {
    std::size_t begin = 0;
    for (const std::size_t size : sizes) {
      pieces_.emplace_back(contents_.data() + begin, size);
      begin += size;
    }
  }
  explicit Outgoing(bytes contents) : contents_(std::move(contents)), pieces_{std::span(contents_)} {}
  Outgoing(const Outgoing&) = delete;

  hccl::pieces pieces() const { return pieces_; }
  void overwrite() { std::ranges::fill(contents_, std::byte{0xee}); }

 private:
  bytes contents_;
  std::vector<std::span<const std::byte>> pieces_;
};

/// Keeps what arrives. Takes it through windows of at most `window` bytes, or through chunks if that is 0;
/// every other time through the other if it is `mixed`.
class Recorder final : public hccl::sink {
 public:
  explicit Recorder(std::size_t size, std::size_t window = 0, bool mixed = false)
      : sink(size), bytes_(size), window_(window), mixed_(mixed) {}

  const bytes& contents() const { return bytes_; }

  std::span<std::byte> window() override {
    if (mixed_ && times_ % 2 == 0) return {};
    return std::span(bytes_).subspan(filled_, std::min(window_, remaining()));
  }

 private:
  void take(std::span<const std::byte> chunk) override {
    require(filled_ + chunk.size() <= bytes_.size(), "a sink was given more than it asked for");
    if (!chunk.empty()) std::memcpy(bytes_.data() + filled_, chunk.data(), chunk.size());
    placed(chunk.size());
  }
  void placed(std::size_t size) override {
    filled_ += size;
    ++times_;
  }

  bytes bytes_;
  std::size_t window_;
  bool mixed_;
  std::size_t filled_ = 0;
  int times_ = 0;
};

/// Waits until all sinks are full and nothing is being sent.
template <class Net, class Sinks>
void finish(Net& net, const Sinks& sinks) {
  const auto until = soon();
  const auto waits = [&] {
    return net.sending() || std::ranges::any_of(sinks, [](const auto& s) { return s.remaining() > 0; });
  };
  while (waits()) {
    if (!net.progress(until)) require(false, hccl::detail::concat("rank ", net.rank(), " waits in vain"));
  }
}

template <class Net>
void finish(Net& net) {
  finish(net, std::span<Recorder>());
}

inline void expect_message(const Recorder& in, int from, int to, std::size_t size, int number = 0) {
  const bytes expected = message(from, to, size, number);
  require(in.contents() == expected,
          hccl::detail::concat("message ", number, " from rank ", from, " to rank ", to, " is wrong"));
}

/// Returns the error that `f` throws.
template <class F>
hccl::error failure_of(F f) {
  try {
    f();
  } catch (const hccl::error& e) {
    return e;
  }
  throw std::runtime_error("expected an error");
}

/// Exchanges one small message with a peer, so that the two know each other.
template <class Net>
void greet(Net& net, int peer) {
  const Outgoing out(message(net.rank(), peer, 8));
  std::deque<Recorder> in;
  net.send(peer, out.pieces());
  net.receive(peer, in.emplace_back(8));
  finish(net, in);
  expect_message(in.front(), peer, net.rank(), 8);
}

template <class Net>
void greet_all(Net& net) {
  for (int peer = 0; peer < net.size(); ++peer) {
    if (peer != net.rank()) greet(net, peer);
  }
}

template <class Harness>
void messages_keep_their_order() {
  constexpr int count = 60;
  const auto size_of = [](int number) { return static_cast<std::size_t>(number * number * number % 977); };
  run<Harness>(3, [&](auto& net) {
    std::deque<Outgoing> out;
    std::deque<Recorder> in;
    for (int number = 0; number < count; ++number) {
      for (int peer = 0; peer < 3; ++peer) {
        if (peer == net.rank()) continue;
        net.send(peer, out.emplace_back(message(net.rank(), peer, size_of(number), number)).pieces());
        net.receive(peer, in.emplace_back(size_of(number)));
      }
    }
    finish(net, in);
    std::size_t next = 0;
    for (int number = 0; number < count; ++number) {
      for (int peer = 0; peer < 3; ++peer) {
        if (peer == net.rank()) continue;
        expect_message(in[next++], peer, net.rank(), size_of(number), number);
      }
    }
  });
}

template <class Harness>
void peers_are_served_at_the_same_time() {
  constexpr int ranks = 6;
  const auto size_of = [](int from, int to) {
    return static_cast<std::size_t>(1 + from * 40'000 + to * 5'000);
  };
  run<Harness>(ranks, [&](auto& net) {
    std::deque<Outgoing> out;
    std::deque<Recorder> in;
    for (int distance = 1; distance < ranks; ++distance) {
      const int to = (net.rank() + distance) % ranks;
      net.send(to, out.emplace_back(message(net.rank(), to, size_of(net.rank(), to))).pieces());
      const int from = (net.rank() + distance * 5) % ranks;
      net.receive(from, in.emplace_back(size_of(from, net.rank())));
    }
    finish(net, in);
    for (int distance = 1; distance < ranks; ++distance) {
      const int from = (net.rank() + distance * 5) % ranks;
      expect_message(in[static_cast<std::size_t>(distance - 1)], from, net.rank(), size_of(from, net.rank()));
    }
  });
}

template <class Harness>
void one_slow_peer_does_not_hold_up_another() {
  run<Harness>(3, [&](auto& net) {
    if (net.rank() == 0) {
      std::deque<Recorder> from_slow, from_fast;
      net.receive(1, from_slow.emplace_back(100'000));
      net.receive(2, from_fast.emplace_back(100'000));
      finish(net, from_fast);
      const Outgoing go(message(0, 1, 8));
      net.send(1, go.pieces());
      finish(net, from_slow);
      expect_message(from_slow.front(), 1, 0, 100'000);
      expect_message(from_fast.front(), 2, 0, 100'000);
      return;
    }
    if (net.rank() == 1) {
      std::deque<Recorder> go;
      net.receive(0, go.emplace_back(8));
      finish(net, go);
    }
    const Outgoing out(message(net.rank(), 0, 100'000));
    net.send(0, out.pieces());
    finish(net);
  });
}

template <class Harness>
void one_full_peer_does_not_hold_up_another() {
  run<Harness>(3, [&](auto& net) {
    constexpr int many = 1000;
    std::deque<Recorder> in;
    if (net.rank() == 0) {
      std::deque<Outgoing> out;
      for (int i = 0; i < many; ++i) net.send(1, out.emplace_back(message(0, 1, 1000, i)).pieces());
      net.send(2, out.emplace_back(message(0, 2, 8)).pieces());
      finish(net);
    } else if (net.rank() == 1) {  // reads nothing of rank 0 until rank 2 has heard of it
      net.receive(2, in.emplace_back(8));
      finish(net, in);
      for (int i = 0; i < many; ++i) net.receive(0, in.emplace_back(1000));
      finish(net, in);
      for (int i = 0; i < many; ++i) expect_message(in[static_cast<std::size_t>(i) + 1], 0, 1, 1000, i);
    } else {
      net.receive(0, in.emplace_back(8));
      finish(net, in);
      const Outgoing go(message(2, 1, 8));
      net.send(1, go.pieces());
      finish(net);
    }
  });
}

template <class Harness>
void messages_may_be_empty() {
  run<Harness>(2, [&](auto& net) {
    const int peer = 1 - net.rank();
    const Outgoing nothing{bytes()};
    const Outgoing something(message(net.rank(), peer, 5));
    std::deque<Recorder> in;
    for (int i = 0; i < 20; ++i) {
      net.send(peer, {});
      net.send(peer, nothing.pieces());
      net.send(peer, something.pieces());
      net.receive(peer, in.emplace_back(0));
      net.receive(peer, in.emplace_back(5));
    }
    finish(net, in);
    for (std::size_t i = 1; i < in.size(); i += 2) expect_message(in[i], peer, net.rank(), 5);
  });
}

/// More than any transport holds.
inline constexpr std::size_t huge = std::size_t{under_sanitizer ? 8 : 64} << 20;

/// Both ranks send first: no side waits for the other to receive.
template <class Harness>
void messages_may_be_huge(std::size_t window) {
  run<Harness>(2, [&](auto& net) {
    const int peer = 1 - net.rank();
    const Outgoing out(message(net.rank(), peer, huge));
    std::deque<Recorder> in;
    net.send(peer, out.pieces());
    net.receive(peer, in.emplace_back(huge, window));
    finish(net, in);
    expect_message(in.front(), peer, net.rank(), huge);
  });
}

template <class Harness>
void a_message_may_have_many_pieces() {
  std::vector<std::size_t> sizes{0, 0};
  std::size_t sum = 0;
  for (std::size_t i = 0; i < 1500; ++i) {
    sizes.push_back(i * 7 % 50);
    sum += sizes.back();
  }
  sizes.insert(sizes.end(), {0, 0});
  run<Harness>(2, [&](auto& net) {
    const int peer = 1 - net.rank();
    const Outgoing many(message(net.rank(), peer, sum), sizes);
    const Outgoing few(message(net.rank(), peer, 6, 1), {0, 1, 0, 0, 5, 0});
    std::deque<Recorder> in;
    net.send(peer, many.pieces());
    net.send(peer, few.pieces());
    net.receive(peer, in.emplace_back(sum));
    net.receive(peer, in.emplace_back(6));
    finish(net, in);
    expect_message(in[0], peer, net.rank(), sum);
    expect_message(in[1], peer, net.rank(), 6, 1);
  });
}

template <class Harness>
void sends_and_receives_need_not_correspond(std::size_t unit) {
  const std::vector<std::size_t> sent{1, 0, 700, 2, 3, 4, 90}, received{300, 5, 0, 400, 1, 94};
  const auto total = [&](const std::vector<std::size_t>& sizes) {
    std::size_t sum = 0;
    for (const std::size_t size : sizes) sum += size * unit;
    return sum;
  };
  run<Harness>(2, [&](auto& net) {
    const int peer = 1 - net.rank();
    std::deque<Outgoing> out;
    std::deque<Recorder> in;
    const bytes leaving = message(net.rank(), peer, total(sent));
    auto next = leaving.begin();
    for (const std::size_t size : sent) {
      const auto end = next + static_cast<std::ptrdiff_t>(size * unit);
      net.send(peer, out.emplace_back(bytes(next, end)).pieces());
      next = end;
    }
    for (const std::size_t size : received) net.receive(peer, in.emplace_back(size * unit));
    finish(net, in);
    bytes come;
    for (const Recorder& r : in) come.insert(come.end(), r.contents().begin(), r.contents().end());
    require(come == message(peer, net.rank(), total(received)), "the bytes of several messages are wrong");
  });
}

template <class Harness>
void sinks_take_windows_and_chunks() {
  struct Shape {
    std::size_t size, window;
    bool mixed;
  };
  const Shape shapes[]{
      {3, 3, false},  {100'000, 100'000, false}, {100'000, 7'000, false}, {2'000, 1, false},
      {60, 60, true}, {300'000, 300'000, true},  {100'000, 0, false},     {50'000, 4'096, true}};
  run<Harness>(2, [&](auto& net) {
    const int peer = 1 - net.rank();
    std::deque<Outgoing> out;
    std::deque<Recorder> in;
    for (const Shape& s : shapes) {
      const int number = static_cast<int>(in.size());
      net.send(peer, out.emplace_back(message(net.rank(), peer, s.size, number)).pieces());
      net.receive(peer, in.emplace_back(s.size, s.window, s.mixed));
    }
    finish(net, in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      expect_message(in[i], peer, net.rank(), shapes[i].size, static_cast<int>(i));
    }
  });
}

template <class Harness>
void memory_is_free_once_nothing_is_sending(std::size_t size) {
  run<Harness>(2, [&](auto& net) {
    if (net.rank() == 0) {
      Outgoing out(message(0, 1, size));
      greet(net, 1);
      net.send(1, out.pieces());
      finish(net);
      out.overwrite();
      greet(net, 1);
    } else {
      greet(net, 0);
      std::this_thread::sleep_for(20ms);  // the message has been overwritten, or waits for this rank
      std::deque<Recorder> in;
      net.receive(0, in.emplace_back(size));
      finish(net, in);
      expect_message(in.front(), 0, 1, size);
      greet(net, 0);
    }
  });
}

template <class Harness>
void progress_ends_at_the_deadline() {
  run<Harness>(2, [&](auto& net) {
    greet(net, 1 - net.rank());
    if (net.rank() == 0) {
      Recorder in(8);
      net.receive(1, in);
      for (const auto wait : {0ms, 1ms, 80ms}) {
        const Stopwatch watch;
        const auto until = hccl::deadline::after(wait);
        while (net.progress(until)) {
        }
        require(watch.elapsed() >= wait, "progress gave up before the deadline");
        require(watch.elapsed() < promptly, "progress came back long after the deadline");
      }
      const Outgoing go(message(0, 1, 8));
      net.send(1, go.pieces());
      finish(net, std::span(&in, 1));
      expect_message(in, 1, 0, 8, 1);
    } else {
      std::deque<Recorder> go;
      net.receive(0, go.emplace_back(8));
      finish(net, go);
      const Outgoing out(message(1, 0, 8, 1));
      net.send(0, out.pieces());
      finish(net);
    }
  });
}

/// Whoever waits for a rank that leaves hears of it, whether they have spoken before or not; what that rank
/// had sent still arrives, and the others go on.
template <class Harness>
void a_lost_rank_is_named(bool acquainted) {
  run<Harness>(4, [&](auto& net) {
    if (acquainted) greet_all(net);
    if (net.rank() == 2) {
      if (!acquainted) return;
      const Outgoing last(message(2, 0, 100, 1));
      net.send(0, last.pieces());
      return finish(net);
    }
    if (net.rank() == 0) {
      if (acquainted) {
        std::deque<Recorder> last;
        net.receive(2, last.emplace_back(100));
        finish(net, last);
        expect_message(last.front(), 2, 0, 100, 1);
      }
      std::deque<Recorder> in;
      const Stopwatch watch;
      net.receive(2, in.emplace_back(8));
      const auto failure = failure_of([&] { finish(net, in); });
      require(failure.kind() == hccl::errc::peer_lost, "a lost rank is not an error peer_lost");
      require(failure.failed_rank() == 2, "the error does not name the lost rank");
      require(watch.elapsed() < promptly, "a lost rank is noticed late");
    } else {
      for (int i = 0; i < 50; ++i) greet(net, 4 - net.rank());  // ranks 1 and 3
    }
  });
}

template <class Harness>
void a_rank_that_leaves_is_missed_by_its_sender() {
  run<Harness>(2, [&](auto& net) {
    greet(net, 1 - net.rank());
    if (net.rank() == 1) return;
    const Outgoing out(message(0, 1, huge));
    const auto failure = failure_of([&] {
      net.send(1, out.pieces());
      finish(net);
    });
    require(failure.kind() == hccl::errc::peer_lost, "a lost receiver is not an error peer_lost");
    require(failure.failed_rank() == 1, "the error does not name the lost receiver");
  });
}

template <class Harness>
void abort_wakes_all_who_wait() {
  run<Harness>(3, [&](auto& net) {
    greet_all(net);
    const Outgoing ready(bytes(1));
    std::deque<Recorder> in;
    std::jthread other;
    if (net.rank() == 0) {
      for (const int peer : {1, 2}) net.receive(peer, in.emplace_back(1));
      finish(net, in);
      other = std::jthread([&net] {
        std::this_thread::sleep_for(50ms);  // all have fallen asleep
        for (int i = 0; i < 3; ++i) net.abort(hccl::error(hccl::errc::timeout, "rank 2 is late", 2));
      });
    }
    const auto wait = [&] {
      if (net.rank() != 0) net.send(0, ready.pieces());
      net.receive((net.rank() + 1) % 3, in.emplace_back(8));
      finish(net, in);
    };
    const Stopwatch watch;
    const auto failure = failure_of(wait);
    require(watch.elapsed() < promptly, "an abort is noticed late");
    const bool is_own = net.rank() == 0 && failure.kind() == hccl::errc::aborted;
    require(is_own || failure.kind() == hccl::errc::timeout, "an abort is told as something else");
    require(std::string(failure.what()).find("rank 2 is late") != std::string::npos,
            hccl::detail::concat("the reason of an abort is not told: ", failure.what()));
    failure_of(wait);  // from now on
  });
}

template <class Harness>
void a_sink_may_throw() {
  struct Refuser final : hccl::sink {
    Refuser() : sink(8) {}
    void take(std::span<const std::byte>) override {
      throw hccl::error(hccl::errc::mismatch, "not what was expected", 1);
    }
  };
  run<Harness>(2, [&](auto& net) {
    if (net.rank() == 0) {
      Refuser in;
      net.receive(1, in);
      const auto failure = failure_of([&] { finish(net, std::span(&in, 1)); });
      require(failure.kind() == hccl::errc::mismatch, "what a sink throws does not pass through progress");
      net.abort(failure);
    } else {
      const Outgoing out(message(1, 0, 8));
      std::deque<Recorder> answer;
      failure_of([&] {
        net.send(0, out.pieces());
        net.receive(0, answer.emplace_back(8));
        finish(net, answer);
      });
    }
  });
}

template <class Harness>
void channels_do_not_mix() {
  run<Harness>(2, [&](auto& net) {
    const int peer = 1 - net.rank();
    auto first = net.channel(net.rank() == 0 ? 1 : 2);
    auto second = net.channel(net.rank() == 0 ? 2 : 1);
    auto& one = net.rank() == 0 ? first : second;
    auto& two = net.rank() == 0 ? second : first;
    std::deque<Outgoing> out;
    std::deque<Recorder> in;
    int number = 0;
    for (auto* channel : {&net, &one, &two}) {
      channel->send(peer, out.emplace_back(message(net.rank(), peer, 1000, number++)).pieces());
    }
    number = 3;
    for (auto* channel : {&two, &one, &net}) {
      in.emplace_back(1000);
      channel->receive(peer, in.back());
      finish(*channel, std::span(&in.back(), 1));
      expect_message(in.back(), peer, net.rank(), 1000, --number);
    }
    greet(net, peer);  // nobody leaves before all is read
  });
}

template <class Harness>
void a_transport_may_be_moved() {
  run<Harness>(2, [&](auto& net) {
    greet(net, 1 - net.rank());
    auto moved = std::move(net);
    greet(moved, 1 - moved.rank());
    net = std::move(moved);
    greet(net, 1 - net.rank());
  });
}

template <class Harness>
void one_rank_is_alone() {
  run<Harness>(1, [](auto& net) {
    require(net.rank() == 0 && net.size() == 1, "one rank has another number or size");
    require(!net.sending(), "one rank is sending");
    require(!net.progress(hccl::deadline::after(1ms)), "one rank makes progress");
  });
}

template <class Harness>
void nothing_is_allocated_in_the_steady_state() {
  run<Harness>(3, [&](auto& net) {
    const int to = (net.rank() + 1) % 3, from = (net.rank() + 2) % 3;
    for (const std::size_t size : {std::size_t{8}, std::size_t{3'000}, std::size_t{400'000}}) {
      const Outgoing out(message(net.rank(), to, size));
      std::size_t allocations = 0;
      for (int i = 0; i < 120; ++i) {
        Recorder in(size, i % 2 == 0 ? size : 0);
        const std::size_t before = allocations_of_this_thread();
        net.send(to, out.pieces());
        net.receive(from, in);
        finish(net, std::span(&in, 1));
        if (i >= 40) allocations += allocations_of_this_thread() - before;
        expect_message(in, from, net.rank(), size);
      }
      require(allocations == 0,
              hccl::detail::concat(allocations, " allocations for messages of ", size, " bytes"));
    }
  });
}

}  // namespace conformance

/// Runs the suite on the transports of Harness: once per section.
template <class Harness>
void check_conformance() {
  using namespace conformance;
  SECTION("messages keep their order") { messages_keep_their_order<Harness>(); }
  SECTION("peers are served at the same time") { peers_are_served_at_the_same_time<Harness>(); }
  SECTION("one slow peer does not hold up another") { one_slow_peer_does_not_hold_up_another<Harness>(); }
  SECTION("one full peer does not hold up another") { one_full_peer_does_not_hold_up_another<Harness>(); }
  SECTION("messages may be empty") { messages_may_be_empty<Harness>(); }
  SECTION("huge messages cross, through windows") { messages_may_be_huge<Harness>(huge); }
  SECTION("huge messages cross, through chunks") { messages_may_be_huge<Harness>(0); }
  SECTION("a message may have many pieces") { a_message_may_have_many_pieces<Harness>(); }
  SECTION("sends and receives need not correspond") { sends_and_receives_need_not_correspond<Harness>(1); }
  SECTION("large ones neither") { sends_and_receives_need_not_correspond<Harness>(1000); }
  SECTION("sinks take windows and chunks") { sinks_take_windows_and_chunks<Harness>(); }
  SECTION("memory is free once nothing is sending") { memory_is_free_once_nothing_is_sending<Harness>(16); }
  SECTION("large memory too") { memory_is_free_once_nothing_is_sending<Harness>(8'000'000); }
  SECTION("progress ends at the deadline") { progress_ends_at_the_deadline<Harness>(); }
  SECTION("a lost rank is named") { a_lost_rank_is_named<Harness>(true); }
  SECTION("a lost stranger is named") { a_lost_rank_is_named<Harness>(false); }
  SECTION("a rank that leaves is missed by its sender") {
    a_rank_that_leaves_is_missed_by_its_sender<Harness>();
  }
  SECTION("abort wakes all who wait") { abort_wakes_all_who_wait<Harness>(); }
  SECTION("a sink may throw") { a_sink_may_throw<Harness>(); }
  SECTION("channels do not mix") { channels_do_not_mix<Harness>(); }
  SECTION("a transport may be moved") { a_transport_may_be_moved<Harness>(); }
  SECTION("one rank is alone") { one_rank_is_alone<Harness>(); }
  SECTION("nothing is allocated in the steady state") { nothing_is_allocated_in_the_steady_state<Harness>(); }
  SUCCEED();
}

}  // namespace hccl_test
