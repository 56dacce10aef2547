// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every transport has to do. A test of a transport says how its ranks are made:
//
//   TEST_CASE("MyTransport is a transport") {
//     hccl_test::check_conformance([](int ranks) { return std::vector<MyTransport>(...); });
//   }
//
// and is built with allocations.cpp. The ranks are threads of one process.

#include "allocations.hpp"
#include "test.hpp"

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hccl_test {

namespace conformance {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using bytes = std::vector<std::byte>;

inline constexpr auto patience = 60s;    // after which an exchange has failed
inline constexpr auto promptness = 5s;   // within which ranks learn of a failure
inline constexpr std::size_t huge = (24 << 20) + 13;

/// Catch2 asserts on one thread only: the ranks throw.
inline void require(bool holds, std::string_view text) {
  if (!holds) throw std::logic_error(std::string(text));
}

/// The message number `index` from one rank to another.
inline bytes message(int from, int to, int index, std::size_t size) {
  std::uint64_t state = static_cast<std::uint64_t>((from * 100 + to) * 100'000 + index);
  bytes made(size);
  for (auto& byte : made) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(state >> 56);
  }
  return made;
}

/// How a sink takes its bytes.
enum class way { consumed, window, short_windows, window_now_and_then };
inline constexpr std::array ways{way::consumed, way::window, way::short_windows, way::window_now_and_then};

/// Keeps a message that comes in.
class Inbox final : public hccl::sink {
 public:
  Inbox(std::size_t size, way how) : sink(size), content_(size), how_(how) {}

  const bytes& content() const { return content_; }

  std::span<std::byte> window() override {
    const auto rest = std::span(content_).subspan(filled_);
    switch (how_) {
      case way::consumed: return {};
      case way::window: return rest;
      case way::short_windows: return rest.first(std::min(rest.size(), stretch));
      case way::window_now_and_then: break;
    }
    const bool now = filled_ / stretch % 2 == 0;
    return rest.first(now ? std::min(rest.size(), stretch - filled_ % stretch) : 0);
  }

 private:
  static constexpr std::size_t stretch = 5000;

  void take(std::span<const std::byte> chunk) override {
    require(chunk.size() <= content_.size() - filled_, "a sink was given more than it expects");
    std::ranges::copy(chunk, content_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += chunk.size();
  }
  void placed(std::size_t size) override {
    require(size <= content_.size() - filled_, "more was written than a sink expects");
    filled_ += size;
  }

  bytes content_;
  way how_;
  std::size_t filled_ = 0;
};

/// A message that goes out, in parts of about the same size with empty pieces between them.
class Outbox {
 public:
  Outbox(bytes content, std::size_t parts) : content_(std::move(content)) {
    const std::span<const std::byte> all(content_);
    for (std::size_t part = 0; part < parts; ++part) {
      const auto begin = all.size() * part / parts, end = all.size() * (part + 1) / parts;
      if (parts > 1 && part % 2 == 0) pieces_.emplace_back();
      pieces_.push_back(all.subspan(begin, end - begin));
    }
  }

  hccl::pieces pieces() const { return pieces_; }
  void spoil() { std::ranges::fill(content_, std::byte{0xee}); }

 private:
  bytes content_;
  std::vector<std::span<const std::byte>> pieces_;
};

/// Messages under way between this rank and others. What comes in is compared, for each peer, with what that
/// peer sends, as one run of bytes.
template <class Net>
class Exchange {
 public:
  explicit Exchange(Net& net) : net_(net) {}

  Exchange& sends(int peer, int index, std::size_t size, std::size_t parts = 1) {
    net_.send(peer, out_.emplace_back(message(net_.rank(), peer, index, size), parts).pieces());
    return *this;
  }

  /// Begins to receive `size` bytes, whatever the peer's messages are.
  Exchange& takes(int peer, std::size_t size, way how = way::consumed) {
    net_.receive(peer, in_.emplace_back(peer, Inbox(size, how)).second);
    return *this;
  }

  /// Says what the peer sends.
  Exchange& awaits(int peer, int index, std::size_t size) {
    const auto coming = message(peer, net_.rank(), index, size);
    expected_[peer].insert(expected_[peer].end(), coming.begin(), coming.end());
    return *this;
  }

  Exchange& receives(int peer, int index, std::size_t size, way how = way::consumed) {
    return awaits(peer, index, size).takes(peer, size, how);
  }

  void finish() {
    const auto until = hccl::deadline::after(patience);
    while (!done()) require(net_.progress(until), "an exchange does not finish");
    compare();
  }

  /// Waits until the memory of the messages belongs to this rank again, and writes over it.
  void spoil() {
    const auto until = hccl::deadline::after(patience);
    while (net_.sending()) require(net_.progress(until), "a message is not sent");
    for (auto& box : out_) box.spoil();
  }

 private:
  bool done() const {
    return !net_.sending() && std::ranges::all_of(in_, [](auto& box) { return box.second.remaining() == 0; });
  }

  void compare() const {
    std::map<int, bytes> got;
    for (const auto& [peer, box] : in_) {
      got[peer].insert(got[peer].end(), box.content().begin(), box.content().end());
    }
    for (const auto& [peer, expected] : expected_) {
      require(got[peer] == expected, "rank " + std::to_string(net_.rank()) + " got other bytes than rank " +
                                        std::to_string(peer) + " sent");
    }
  }

  Net& net_;
  std::deque<Outbox> out_;
  std::deque<std::pair<int, Inbox>> in_;
  std::map<int, bytes> expected_;
};

template <class Net>
void exchange_with_all(Net& net, std::size_t size, int index = 0) {
  Exchange exchange(net);
  for (int peer = 0; peer < net.size(); ++peer) {
    if (peer != net.rank()) exchange.sends(peer, index, size).receives(peer, index, size);
  }
  exchange.finish();
}

/// Runs f(net) on a thread for each rank, where the transport ends with f, and rethrows the first failure.
template <class Make, class F>
void on_ranks(const Make& make, int ranks, const F& f) {
  std::mutex mutex;
  std::exception_ptr first;
  {
    auto nets = make(ranks);
    std::vector<std::jthread> threads;
    for (auto& net : nets) {
      threads.emplace_back([&, own = std::move(net)]() mutable {
        try {
          f(own);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!first) first = std::current_exception();
        }
      });
    }
  }
  if (first) std::rethrow_exception(first);
}

/// What `f` throws, which must happen soon.
template <class F>
hccl::error failure_of(const F& f) {
  const auto begin = clock::now();
  try {
    f();
  } catch (const hccl::error& e) {
    require(clock::now() - begin < promptness, std::string("learnt late: ") + e.what());
    return e;
  }
  throw std::logic_error("nothing has failed");
}

// --- The checks.

template <class Make>
void ranks_are_numbered(const Make& make) {
  for (const int ranks : {1, 2, 5}) {
    auto nets = make(ranks);
    require(static_cast<int>(nets.size()) == ranks, "the number of transports");
    for (int rank = 0; rank < ranks; ++rank) {
      auto& net = nets[static_cast<std::size_t>(rank)];
      auto channel = net.channel(3);
      require(net.rank() == rank && net.size() == ranks, "the rank and size of a transport");
      require(channel.rank() == rank && channel.size() == ranks, "the rank and size of a channel");
    }
  }
}

inline std::size_t varied_size(int index) {
  constexpr std::array<std::size_t, 9> sizes{4, 0, 1, 232, 233, 1000, 3, 70'000, 4096};
  return sizes[static_cast<std::size_t>(index) % sizes.size()];
}

template <class Make>
void messages_keep_their_order(const Make& make) {
  on_ranks(make, 2, [](auto& net) {
    const int peer = 1 - net.rank();
    Exchange exchange(net);
    for (int i = 0; i < 400; ++i) {
      exchange.sends(peer, i, varied_size(i)).receives(peer, i, varied_size(i));
      if (i % 7 == net.rank()) net.progress(hccl::deadline::after(0s));
    }
    exchange.finish();
    for (int i = 0; i < 100; ++i) {  // one at a time, there and back
      if (net.rank() == 0) Exchange(net).sends(peer, i, varied_size(i)).finish();
      Exchange(net).receives(peer, i, varied_size(i)).finish();
      if (net.rank() == 1) Exchange(net).sends(peer, i, varied_size(i)).finish();
    }
  });
}

template <class Make>
void many_peers_at_once(const Make& make) {
  on_ranks(make, 5, [](auto& net) {
    for (int round = 0; round < 4; ++round) {
      Exchange exchange(net);
      for (int i = 0; i < 9; ++i) {
        for (int step = 1; step < net.size(); ++step) {  // each rank begins with another peer
          const int to = (net.rank() + step) % net.size();
          const int from = (net.rank() + (i % 2 == 0 ? step : net.size() - step)) % net.size();
          exchange.sends(to, i, varied_size(i + to));
          exchange.receives(from, i, varied_size(i + net.rank()));
        }
      }
      exchange.finish();
    }
  });
}

template <class Make>
void empty_messages_need_nothing(const Make& make) {
  on_ranks(make, 2, [](auto& net) {
    const int peer = 1 - net.rank();
    net.send(peer, {});
    Exchange(net).sends(peer, 0, 0, 3).receives(peer, 0, 0).finish();
    Exchange(net).sends(peer, 1, 10).sends(peer, 2, 0).receives(peer, 1, 10).receives(peer, 2, 0).finish();
  });
}

template <class Make>
void huge_messages_both_ways(const Make& make) {
  on_ranks(make, 2, [](auto& net) {
    const int peer = 1 - net.rank();
    const auto how = net.rank() == 0 ? way::window : way::consumed;
    Exchange(net).sends(peer, 0, huge, 3).receives(peer, 0, huge, how).finish();
  });
}

template <class Make>
void messages_of_many_pieces(const Make& make) {
  on_ranks(make, 2, [](auto& net) {
    const int peer = 1 - net.rank();
    for (const auto how : ways) {
      for (const std::size_t size : {0, 150, 230, 5000, 300'000}) {
        Exchange(net).sends(peer, 0, size, 200).receives(peer, 0, size, how).finish();
      }
    }
  });
}

template <class Make>
void messages_have_no_frame(const Make& make) {
  on_ranks(make, 2, [](auto& net) {
    const int peer = 1 - net.rank();
    for (const std::size_t part : {1, 40, 3000, 50'000}) {
      for (const auto how : ways) {
        Exchange exchange(net);
        exchange.sends(peer, 0, part * 7, 3).awaits(peer, 0, part * 7);
        for (const std::size_t share : {2, 1, 4}) exchange.takes(peer, part * share, how);
        for (int i = 1; i <= 7; ++i) exchange.sends(peer, i, part).awaits(peer, i, part);
        exchange.takes(peer, part * 7, how);
        exchange.sends(peer, 8, part * 2).sends(peer, 9, part * 2).takes(peer, part).takes(peer, part * 3, how);
        exchange.awaits(peer, 8, part * 2).awaits(peer, 9, part * 2).finish();
      }
    }
  });
}

template <class Make>
void sinks_take_bytes_in_order(const Make& make) {
  on_ranks(make, 3, [](auto& net) {
    const int next = (net.rank() + 1) % 3, previous = (net.rank() + 2) % 3;
    for (const std::size_t size : {1, 200, 4999, 5000, 20'001, 1'000'000}) {
      for (const auto how : ways) {
        Exchange(net).sends(next, 0, size, 2).receives(previous, 0, size, how).finish();
      }
    }
  });
}

template <class Make>
void sent_memory_is_free_again(const Make& make) {
  for (const std::size_t size : {100, 10'000, 4'000'000}) {
    on_ranks(make, 2, [size](auto& net) {
      for (int i = 0; i < 3; ++i) {
        Exchange exchange(net);
        if (net.rank() == 0) {
          exchange.sends(1, i, size).spoil();
        } else {
          std::this_thread::sleep_for(20ms);
          exchange.receives(0, i, size).finish();
        }
      }
    });
  }
}

template <class Make>
void progress_keeps_its_deadline(const Make& make) {
  on_ranks(make, 2, [](auto& net) {
    exchange_with_all(net, 100);
    if (net.rank() == 1) {  // is silent until rank 0 has waited in vain
      Exchange(net).receives(0, 1, 1).finish();
      Exchange(net).sends(0, 2, 100).finish();
      return;
    }
    Exchange exchange(net);
    exchange.receives(1, 2, 100);
    for (const auto wait : {0ms, 1ms, 200ms}) {
      const auto begin = clock::now();
      const bool moved = net.progress(hccl::deadline::after(wait));
      const auto waited = clock::now() - begin;
      require(!moved, "something has moved although nothing was sent");
      require(waited >= wait, "progress gave up before the deadline");
      require(waited < wait + 1s, "progress gave up long after the deadline");
    }
    exchange.sends(1, 1, 1).finish();
  });
}

template <class Make>
void a_rank_that_left_is_named(const Make& make) {
  on_ranks(make, 3, [](auto& net) {
    exchange_with_all(net, 1000);
    if (net.rank() == 2) return;
    const auto failure = failure_of([&] {
      Exchange exchange(net);
      net.rank() == 0 ? exchange.sends(2, 1, huge) : exchange.receives(2, 1, 8);
      exchange.finish();
    });
    require(failure.kind() == hccl::errc::peer_lost, std::string("not peer_lost: ") + failure.what());
    require(failure.failed_rank() == 2, "the rank that has left is not named");
  });
}

template <class Make>
void what_was_sent_survives_its_sender(const Make& make) {
  for (const std::size_t size : {8, 1000, 100'000}) {
    on_ranks(make, 3, [size](auto& net) {
      exchange_with_all(net, 1);
      if (net.rank() == 2) return Exchange(net).sends(0, 1, size).sends(1, 1, size).finish();
      std::this_thread::sleep_for(50ms);
      Exchange(net).awaits(2, 1, size).takes(2, 1).takes(2, size - 1).finish();
    });
  }
}

template <class Make>
void abort_wakes_everybody(const Make& make) {
  on_ranks(make, 3, [](auto& net) {
    exchange_with_all(net, 1000);
    std::optional<std::jthread> other;
    if (net.rank() == 0) {
      other.emplace([&net] {
        std::this_thread::sleep_for(100ms);
        for (int i = 0; i < 2; ++i) net.abort(hccl::error(hccl::errc::aborted, "enough", 0));
      });
    }
    const auto wait = [&] { Exchange(net).receives((net.rank() + 1) % 3, 1, 8).finish(); };
    const auto kind = failure_of(wait).kind();
    const bool may_be_lost = net.rank() != 0 && kind == hccl::errc::peer_lost;
    require(kind == hccl::errc::aborted || may_be_lost, "neither aborted nor peer_lost");
    if (net.rank() == 0) failure_of([&] { net.progress(hccl::deadline::after(patience)); });
  });
}

template <class Make>
void channels_do_not_mix(const Make& make) {
  on_ranks(make, 3, []<class Net>(Net& net) {
    auto first = net.channel(1), second = net.channel(2);
    std::array lanes{&net, &first, &second};
    std::deque<Exchange<Net>> exchanges;
    for (auto* lane : lanes) exchanges.emplace_back(*lane);
    for (int i = 0; i < 6; ++i) {
      for (int step = 0; step < 3; ++step) {  // each rank begins with another channel
        const int channel = (step + net.rank() + i) % 3;
        for (int peer = 0; peer < 3; ++peer) {
          const auto size = varied_size(i + channel);
          const int index = channel * 10 + i;
          auto& exchange = exchanges[static_cast<std::size_t>(channel)];
          if (peer != net.rank()) exchange.sends(peer, index, size).receives(peer, index, size);
        }
      }
    }
    for (auto& exchange : exchanges) exchange.finish();
  });
}

template <class Make>
void what_a_sink_throws_passes(const Make& make) {
  struct Refusal final : hccl::sink {
    Refusal() : sink(8) {}
    void take(std::span<const std::byte>) override { throw hccl::error(hccl::errc::mismatch, "no", 1); }
  };
  on_ranks(make, 2, [](auto& net) {
    exchange_with_all(net, 100);
    if (net.rank() == 0) {
      const auto kind = failure_of([&] { Exchange(net).sends(1, 1, 8).receives(1, 1, 8).finish(); }).kind();
      return require(kind == hccl::errc::aborted || kind == hccl::errc::peer_lost,
                    "neither aborted nor peer_lost");
    }
    Refusal refusal;
    net.receive(0, refusal);
    const auto failure = failure_of([&] {
      while (net.progress(hccl::deadline::after(patience))) continue;
    });
    require(failure.kind() == hccl::errc::mismatch, "another exception than that of the sink");
    net.abort(hccl::error(hccl::errc::aborted, "the sink has refused", 1));
  });
}

template <class Make>
void moved_transports_work(const Make& make) {
  on_ranks(make, 3, [](auto& net) {
    exchange_with_all(net, 1000);
    auto moved = std::move(net);
    exchange_with_all(moved, 1000, 1);
    net = std::move(moved);
    exchange_with_all(net, 1000, 2);
  });
}

/// Takes a message of the same size again and again, and keeps nothing of it.
class Drain final : public hccl::sink {
 public:
  explicit Drain(std::size_t size) : sink(0), size_(size) {}
  void refill() { expect(size_); }

 private:
  void take(std::span<const std::byte>) override {}

  std::size_t size_;
};

template <class Make>
void nothing_allocates_in_the_steady_state(const Make& make) {
  on_ranks(make, 3, [](auto& net) {
    constexpr int most = 16;
    for (const std::size_t size : {100, 10'000, 500'000}) {
      const Outbox out(message(net.rank(), net.rank(), 0, size), 3);
      std::vector<Drain> drains(static_cast<std::size_t>(net.size() * most), Drain(size));
      const auto exchange = [&](int messages) {
        for (int i = 0; i < messages * net.size(); ++i) {
          if (i % net.size() == net.rank()) continue;
          auto& drain = drains[static_cast<std::size_t>(i)];
          drain.refill();
          net.receive(i % net.size(), drain);
          net.send(i % net.size(), out.pieces());
        }
        const auto until = hccl::deadline::after(patience);
        const auto filled = [](const Drain& drain) { return drain.remaining() == 0; };
        while (net.sending() || !std::ranges::all_of(drains, filled)) {
          require(net.progress(until), "an exchange does not finish");
        }
      };
      for (int i = 0; i < 10; ++i) exchange(most);
      const auto before = allocations_of_this_thread();
      for (int i = 0; i < 60; ++i) {
        if (i % 10 == net.rank()) std::this_thread::sleep_for(1ms);  // the others fall asleep
        exchange(most / 4);
      }
      require(allocations_of_this_thread() == before, "something was allocated in the steady state");
    }
  });
}

}  // namespace conformance

/// Runs every check as a section. `make(ranks)` returns a std::vector of the transports of a new world, by rank.
template <class Make>
void check_conformance(const Make& make) {
  using namespace conformance;
  constexpr std::pair<const char*, void (*)(const Make&)> checks[] = {
      {"ranks are numbered", ranks_are_numbered},
      {"messages keep their order", messages_keep_their_order},
      {"many peers at once", many_peers_at_once},
      {"empty messages need nothing", empty_messages_need_nothing},
      {"huge messages both ways", huge_messages_both_ways},
      {"messages of many pieces", messages_of_many_pieces},
      {"messages have no frame", messages_have_no_frame},
      {"sinks take bytes in order", sinks_take_bytes_in_order},
      {"sent memory is free again", sent_memory_is_free_again},
      {"progress keeps its deadline", progress_keeps_its_deadline},
      {"a rank that left is named", a_rank_that_left_is_named},
      {"what was sent survives its sender", what_was_sent_survives_its_sender},
      {"abort wakes everybody", abort_wakes_everybody},
      {"channels do not mix", channels_do_not_mix},
      {"what a sink throws passes", what_a_sink_throws_passes},
      {"moved transports work", moved_transports_work},
      {"nothing allocates in the steady state", nothing_allocates_in_the_steady_state},
  };
  for (const auto& [name, check] : checks) {
    DYNAMIC_SECTION(name) { CHECK_NOTHROW(check(make)); }
  }
}

}  // namespace hccl_test
