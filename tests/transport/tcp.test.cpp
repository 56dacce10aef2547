// SPDX-License-Identifier: Apache-2.0

// What is particular to TcpTransport; the conformance suite tests what all transports have in common.

#include "test.hpp"
#include "timing.hpp"
#include "transport/tcp_support.hpp"

#include <hccl/transport/tcp.hpp>

#include <fcntl.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <latch>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace hccl_test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using hccl::deadline, hccl::errc, hccl::error, hccl::TcpTransport;

namespace {

/// The listeners of a job in one process.
struct Job {
  explicit Job(int count, const std::string& host = "127.0.0.1") {
    for (int rank = 0; rank < count; ++rank)
      addresses.push_back(listeners.emplace_back(host, wishes).address());
  }

  TcpTransport transport(int rank) {
    return {std::move(listeners[static_cast<std::size_t>(rank)]), rank, static_cast<int>(addresses.size()),
            addresses, "job"};
  }

  hccl::detail::interface_wishes wishes;
  std::vector<TcpTransport::listener> listeners;
  std::vector<std::string> addresses;
};

/// Runs body(transport) in a thread per rank; gives what each has thrown.
template <class Body>
std::vector<std::optional<error>> run(Job& job, Body body) {
  std::vector<std::optional<error>> errors(job.addresses.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        auto net = job.transport(static_cast<int>(rank));
        body(net);
      } catch (const error& e) {
        errors[rank].emplace(e);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return errors;
}

bool have_ipv6() {
  try {
    return TcpTransport::listener("::1", {}).address().starts_with("[::1]:");
  } catch (const error&) {
    return false;
  }
}

/// A connection of somebody who does not belong to the job.
class Stranger {
 public:
  explicit Stranger(const std::string& address) {
    socket_.connect(hccl::detail::look_up(io_, hccl::detail::split_address(address)));
  }

  Stranger& says(const std::string& text) {
    boost::system::error_code ignored;
    asio::write(socket_, asio::buffer(text), ignored);
    return *this;
  }
  Stranger& resets() {
    socket_.set_option(asio::socket_base::linger(true, 0));
    socket_.close();
    return *this;
  }
  /// Everything that is said to the stranger until the connection ends.
  std::string hears() {
    std::string text;
    boost::system::error_code ignored;
    asio::read(socket_, asio::dynamic_buffer(text), ignored);
    return text;
  }

 private:
  asio::io_context io_;
  asio::ip::tcp::socket socket_{io_};
};

std::string hello_text(hccl::detail::hello h) { return encode(h); }

double cpu_seconds_of_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::set<int> open_descriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    if (::fcntl(descriptor, F_GETFD) >= 0) found.insert(descriptor);
  }
  return found;
}

}  // namespace

TEST_CASE("bytes go around over IPv4 and IPv6") {
  const std::string host = GENERATE("127.0.0.1", "::1");
  const int ranks = GENERATE(2, 3, 5);
  if (host == "::1" && !have_ipv6()) return;
  Job job(ranks, host);
  std::atomic<int> right = 0;
  const auto errors = run(job, [&](TcpTransport& net) {
    for (const std::size_t size : {0u, 1u, 7u, 4095u, 4096u, 300'000u, 3'000'000u}) {
      right += passes_around(net, size, false);
      right += passes_around(net, size, true);
    }
  });
  for (const auto& e : errors) CHECK(!e);
  CHECK(right == ranks * 14);
}

TEST_CASE("many small messages keep their order, and one may be read as several") {
  Job job(2);
  const auto errors = run(job, [&](TcpTransport& net) {
    constexpr int count = 500;
    if (net.rank() == 0) {
      std::vector<std::vector<std::byte>> messages;
      std::vector<std::span<const std::byte>> pieces;
      for (int i = 0; i < count; ++i) messages.push_back(message_of(0, 6, i));
      for (const auto& message : messages) pieces.emplace_back(message);
      for (const auto& piece : pieces) net.send(1, {&piece, 1});
      finish(net);
    } else {
      std::vector<VectorSink> sinks;
      for (int i = 0; i < 2 * count; ++i) sinks.emplace_back(3, i % 2 == 0);
      for (auto& in : sinks) net.receive(0, in);
      finish(net, &sinks.back());
      for (int i = 0; i < count; ++i) {
        const auto expected = message_of(0, 6, i);
        const auto at = static_cast<std::size_t>(2 * i);
        auto got = sinks[at].bytes();
        got.insert(got.end(), sinks[at + 1].bytes().begin(), sinks[at + 1].bytes().end());
        if (got != expected) throw error(errc::mismatch, "message " + std::to_string(i));
      }
    }
  });
  for (const auto& e : errors) CHECK(!e);
}

TEST_CASE("a hello is 64 bytes and reads back") {
  const hccl::detail::hello sent{
      3, hccl::detail::hello_purpose::notice, "some job", 70'000, 5, 1'000'000, 2'000'000, 12};
  const auto bytes = encode(sent);
  CHECK(bytes.size() == hccl::detail::hello_size);
  CHECK(bytes.starts_with("hccl-tcp"));
  const auto read = hccl::detail::decode_hello(bytes);
  CHECK(read.version == 3);
  CHECK(read.purpose == hccl::detail::hello_purpose::notice);
  CHECK(read.job == hccl::detail::padded_job("some job"));
  CHECK(read.channel == 70'000);
  CHECK(read.from == 5);
  CHECK(read.to == 1'000'000);
  CHECK(read.size == 2'000'000);
  CHECK(read.body == 12);

  const auto notice =
      hccl::detail::decode_notice(hccl::detail::encode_notice(error(errc::mismatch, "it differs", 4)));
  CHECK(notice.kind() == errc::mismatch);
  CHECK(notice.failed_rank() == 4);
  CHECK(notice.what() == std::string(error(errc::mismatch, "it differs").what()));
}

TEST_CASE("strangers are turned away and disturb nobody") {
  Job job(3);
  const auto addresses = job.addresses;
  const auto other_job = hello_text({.job = "another", .channel = 0, .from = 1, .to = 0, .size = 3});
  const auto half = hello_text({.job = "job", .channel = 0, .from = 2, .to = 0, .size = 3}).substr(0, 40);
  constexpr int rounds = 10;
  std::vector<std::optional<Stranger>> idle(3);
  for (std::size_t i = 0; i < 3; ++i) idle[i].emplace(addresses[i]).says(half);

  std::atomic<int> visits = 0;
  std::atomic<int> leaving = 0;
  std::thread strangers([&] {
    while (visits < rounds) {
      for (const auto& address : addresses) {
        Stranger{address};
        Stranger(address).resets();
        Stranger(address).says("abc");
        Stranger(address).says(std::string(1 << 20, 'x'));
        Stranger(address).says(other_job);
      }
      ++visits;
    }
  });
  std::atomic<int> right = 0;
  const auto errors = run(job, [&](TcpTransport& net) {
    for (int channel = 1; channel <= rounds; ++channel) {  // each connects anew
      auto fresh = net.channel(channel);
      right += passes_around(fresh, 1000, false, channel);
      right += passes_around(net, 50'000, false, channel);
      // A stranger who says much goes away only when somebody turns him away.
      while (visits < channel) net.progress(deadline::after(1ms));
    }
    ++leaving;
    while (leaving < 3) net.progress(deadline::after(1ms));
  });
  strangers.join();
  for (const auto& e : errors) CHECK(!e);
  CHECK(right == 3 * 2 * rounds);
}

TEST_CASE("a stranger hears nothing") {
  Job job(2);
  const auto address = job.addresses[0];
  auto net = job.transport(0);
  Stranger noise(address), foreign(address);
  noise.says("GET / HTTP/1.1\r\n\r\n");
  foreign.says(hello_text({.job = "another", .channel = 0, .from = 1, .to = 0, .size = 2}));
  std::string heard;
  std::atomic<bool> turned_away = false;
  std::thread strangers([&] {
    heard = noise.hears() + foreign.hears();
    turned_away = true;
  });
  bool moved = false;
  while (!turned_away) moved |= net.progress(deadline::after(50ms));
  strangers.join();
  CHECK(heard.empty());
  CHECK_FALSE(moved);
}

TEST_CASE("a rank of the job with another version or another world size is an error on both sides") {
  SECTION("version") {
    Job job(2);
    const auto address = job.addresses[0];
    auto net = job.transport(0);
    Stranger newer(address);
    newer.says(hello_text({.version = 9, .job = "job", .channel = 0, .from = 1, .to = 0, .size = 2}));
    try {
      net.progress(deadline::after(patience));
      CHECK(false);
    } catch (const error& e) {
      CHECK(e.kind() == errc::version_mismatch);
      CHECK(e.failed_rank() == 1);
      CHECK(contains(e.what(), "rank 1 speaks version 9"));
    }
    const auto answer = hccl::detail::decode_welcome(newer.hears());
    CHECK(answer.version == hccl::detail::tcp_version);
    CHECK(answer.size == 2);
  }
  SECTION("world size") {
    Job job(2);
    auto larger = job.addresses;
    larger.push_back("127.0.0.1:1");
    std::optional<error> low, high;
    std::thread other([&] {
      TcpTransport net(std::move(job.listeners[1]), 1, 3, larger, "job");
      VectorSink in(8, false);
      try {
        net.receive(0, in);
        finish(net, &in);
      } catch (const error& e) {
        high.emplace(e);
      }
    });
    auto net = job.transport(0);
    const auto out = message_of(0, 8);
    const std::span<const std::byte> piece(out);
    try {
      net.send(1, {&piece, 1});
      finish(net);
    } catch (const error& e) {
      low.emplace(e);
    }
    other.join();
    REQUIRE((low && high));
    CHECK(low->kind() == errc::mismatch);
    CHECK(low->failed_rank() == 1);
    CHECK(contains(low->what(), "rank 1 is in a world of 3"));
    CHECK(high->kind() == errc::mismatch);
    CHECK(high->failed_rank() == 0);
    CHECK(contains(high->what(), "rank 0 of a world of 2"));
  }
}

TEST_CASE("a rank that has gone before it was connected is missed") {
  const int gone = GENERATE(0, 1);
  Job job(2);
  {
    auto leaves = job.transport(gone);
  }
  auto net = job.transport(1 - gone);
  VectorSink in(8, false);
  const Stopwatch watch;
  try {
    net.receive(gone, in);
    finish(net, &in);
    CHECK(false);
  } catch (const error& e) {
    CHECK(e.kind() == errc::peer_lost);
    CHECK(e.failed_rank() == gone);
  }
  CHECK(watch.elapsed() < promptly);
}

TEST_CASE("a rank that dies is missed by those who wait for it") {
  const auto outcomes = [] {
    Job job(3);
    return forked(3, [&](int rank) {
      auto net = job.transport(rank);
      passes_around(net, 1000);
      if (rank == 1) ::_exit(0);
      VectorSink in(8, false);
      net.receive(1, in);
      finish(net, &in);
    });
  }();
  CHECK(outcomes[1].error.empty());
  CHECK(contains(outcomes[0].error, "rank 1"));
  CHECK(contains(outcomes[2].error, "rank 1"));
  CHECK(outcomes[0].elapsed < promptly);
}

TEST_CASE("who gives up tells those who wait for a third rank") {
  Job job(4);
  std::latch failed(3);
  const auto errors = run(job, [&](TcpTransport& net) {
    if (net.rank() == 3) {  // waited for, alive, and silent
      passes_around(net, 100);
      return failed.wait();
    }
    VectorSink in(8, false);
    try {
      passes_around(net, 100);
      if (net.rank() == 0) {
        std::this_thread::sleep_for(50ms);  // the others have fallen asleep
        net.abort(error(errc::timeout, "rank 3 is late", 3));
      }
      net.receive(3, in);
      finish(net, &in);
    } catch (const error&) {
      failed.count_down();
      throw;
    }
  });
  REQUIRE((errors[0] && errors[1] && errors[2]));
  CHECK(errors[0]->kind() == errc::aborted);
  for (const std::size_t rank : {1u, 2u}) {
    CHECK(errors[rank]->kind() == errc::timeout);
    CHECK(errors[rank]->failed_rank() == 3);
    CHECK(contains(errors[rank]->what(), "rank 0 has given up: rank 3 is late"));
  }
}

TEST_CASE("abort from another thread wakes a sleeper, and the transport fails from then on") {
  Job job(2);
  auto net = job.transport(0), peer = job.transport(1);
  VectorSink in(8, false);
  net.receive(1, in);
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    net.abort(error(errc::aborted, "enough"));
    net.abort(error(errc::aborted, "the first reason stands"));
  });
  const Stopwatch watch;
  CHECK_THROWS_AS(net.progress(deadline::after(patience)), error);
  CHECK(watch.elapsed() < promptly);
  other.join();
  try {
    net.receive(1, in);
    CHECK(false);
  } catch (const error& e) {
    CHECK(e.kind() == errc::aborted);
    CHECK(contains(e.what(), "enough"));
  }
  CHECK_THROWS_AS(peer.progress(deadline::after(patience)), error);
}

TEST_CASE("abort ends all channels, also those that sleep on another rank") {
  Job job(2);
  auto net = job.transport(0), peer = job.transport(1);
  auto lane = net.channel(1), peer_lane = peer.channel(1);
  const auto sleep_in = [](TcpTransport& waiter, int from, std::optional<error>& seen) {
    VectorSink in(8, false);
    try {
      waiter.receive(from, in);
      finish(waiter, &in);
    } catch (const error& e) {
      seen.emplace(e);
    }
  };
  std::optional<error> here, there;
  std::thread local([&] { sleep_in(lane, 1, here); }), remote([&] { sleep_in(peer_lane, 0, there); });
  std::this_thread::sleep_for(50ms);
  const Stopwatch watch;
  net.abort(error(errc::aborted, "enough"));
  local.join();
  remote.join();
  CHECK(watch.elapsed() < promptly);
  REQUIRE((here && there));
  CHECK(here->kind() == errc::aborted);
  CHECK(there->kind() == errc::aborted);
  CHECK(there->failed_rank() == 0);
  CHECK_THROWS_AS(peer.progress(deadline::after(patience)), error);
}

TEST_CASE("channels are used by several threads at once and do not mix") {
  Job job(3);
  std::atomic<int> right = 0;
  const auto errors = run(job, [&](TcpTransport& net) {
    std::vector<std::thread> threads;
    for (int id = 1; id <= 3; ++id) {
      threads.emplace_back([&, id, lane = net.channel(id)]() mutable {
        for (int i = 0; i < 20; ++i) right += passes_around(lane, 5000, false, id);
      });
    }
    for (auto& thread : threads) thread.join();
  });
  for (const auto& e : errors) CHECK(!e);
  CHECK(right == 3 * 3 * 20);
}

TEST_CASE("what was sent arrives although the sender has gone") {
  Job job(2);
  std::latch gone(1);
  std::thread sender([&, net = std::optional(job.transport(0))]() mutable {
    const auto out = message_of(0, 200'000);
    const std::span<const std::byte> piece(out);
    net->send(1, {&piece, 1});
    finish(*net);
    net.reset();
    gone.count_down();
  });
  auto net = job.transport(1);
  VectorSink first(1, false), rest(199'999, false);
  net.receive(0, first);
  finish(net, &first);
  gone.wait();
  net.receive(0, rest);
  finish(net, &rest);
  sender.join();
  const auto expected = message_of(0, 200'000);
  CHECK(std::equal(rest.bytes().begin(), rest.bytes().end(), expected.begin() + 1));
}

TEST_CASE("a waiting rank sleeps") {
  Job job(2);
  auto net = job.transport(0), peer = job.transport(1);
  std::thread other([&] {
    passes_around(peer, 8);
    std::this_thread::sleep_for(400ms);
    passes_around(peer, 8);
  });
  CHECK(passes_around(net, 8));
  const auto before = cpu_seconds_of_thread();
  CHECK(passes_around(net, 8));
  CHECK(cpu_seconds_of_thread() - before < 0.1);
  other.join();
}

TEST_CASE("descriptors are closed on exec, and none is left behind") {
  const auto before = open_descriptors();
  {
    Job job(2);
    auto net = job.transport(0), peer = job.transport(1);
    std::thread other([&] { passes_around(peer, 8); });
    passes_around(net, 8);
    other.join();
    for (const int descriptor : open_descriptors()) {
      if (!before.contains(descriptor)) CHECK((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
    }
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("a forked child that leaves does not disturb its parent") {
  Job job(2);
  auto net = job.transport(0), peer = job.transport(1);
  const auto exchange = [&] {
    bool right = false;
    std::thread other([&] { right = passes_around(peer, 100'000); });
    CHECK(passes_around(net, 100'000));
    other.join();
    CHECK(right);
  };
  exchange();
  forked(1, [&](int) {
    auto inherited = std::move(net);
    auto inherited_too = std::move(peer);
  });
  exchange();
}

TEST_CASE("the address is chosen as the user wishes") {
  using hccl::detail::interface_choice;
  const auto choose = [](const hccl::detail::interface_wishes& wishes, const std::string& towards) {
    return interface_choice(wishes).choose(towards).to_string();
  };
  CHECK(choose({}, "127.0.0.1") == "127.0.0.1");
  CHECK(choose({.names = "lo", .address = "", .family = ""}, "") == "127.0.0.1");
  CHECK(choose({.names = "none,l", .address = "", .family = ""}, "") == "127.0.0.1");
  CHECK(choose({.names = "=lo", .address = "", .family = "AF_INET"}, "") == "127.0.0.1");
  CHECK(choose({.names = "", .address = "127.0.0.1", .family = ""}, "") == "127.0.0.1");
  if (have_ipv6()) {
    CHECK(choose({}, "::1") == "::1");
    CHECK(choose({.names = "lo", .address = "", .family = "AF_INET6"}, "") == "::1");
    CHECK(choose({.names = "", .address = "", .family = "AF_INET6"}, "127.0.0.1") == "::1");
  }
  const auto refusal = [&](const hccl::detail::interface_wishes& wishes) -> std::string {
    try {
      return choose(wishes, "127.0.0.1");
    } catch (const error& e) {
      return e.kind() == errc::invalid_argument ? e.what() : "another kind";
    }
  };
  for (const std::string names : {"=l", "nothing0", "=lo0,nothing"}) {
    INFO(names);
    CHECK(contains(refusal({.names = names, .address = "", .family = ""}),
                   "HCCL_SOCKET_IFNAME='" + names + "'"));
    CHECK(contains(refusal({.names = names, .address = "", .family = ""}), "lo=127.0.0.1"));
  }
  CHECK(contains(refusal({.names = "", .address = "203.0.113.1", .family = ""}), "HCCL_IF_IP='203.0.113.1'"));
  CHECK(contains(refusal({.names = "", .address = "", .family = "AF_UNIX"}), "HCCL_SOCKET_FAMILY='AF_UNIX'"));
}

TEST_CASE("addresses are read and refused") {
  using hccl::detail::split_address;
  CHECK(split_address("127.0.0.1:80").host == "127.0.0.1");
  CHECK(split_address("[::1]:65535").host == "::1");
  CHECK(split_address("[::1]:65535").port == 65535);
  for (const char* text : {"", "host", "host:", ":80", "host:65536", "host:8x", "host:-1"}) {
    INFO(text);
    CHECK_THROWS_AS(split_address(text), error);
  }
}

namespace {

/// What a call says when it throws an error of that kind.
std::string reason(errc kind, auto&& f) {
  try {
    f();
  } catch (const error& e) {
    return e.kind() == kind ? e.what() : "another kind";
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("ports at which a host may listen") {
  using hccl::detail::read_ports;
  using ports = std::vector<std::uint16_t>;
  CHECK(read_ports("", "P") == ports{0});
  CHECK(read_ports("auto", "P") == ports{0});
  CHECK(read_ports("65535", "P") == ports{65535});
  CHECK(read_ports("60000,60050-60052", "P") == ports{60000, 60050, 60051, 60052});
  for (const char* wrong : {"0", "65536", "-1", "5-", "-5", "5-4", "1,", ",1", "1,,2", "1 ", "a", "1-2-3"}) {
    INFO(wrong);
    CHECK(contains(reason(errc::invalid_argument, [&] { read_ports(wrong, "P"); }), "P='"));
  }
}

TEST_CASE("ports that are taken are passed over, and it is an error when none is free") {
  const hccl::TcpTransport::listener taken;
  const std::string port = taken.address().substr(taken.address().find(':') + 1);
  ::setenv("HCCL_HOST_SOCKET_PORT_RANGE", port.c_str(), 1);
  CHECK(contains(reason(errc::bootstrap_failed, [] { hccl::TcpTransport::listener(); }),
                 "cannot listen at 127.0.0.1"));
  ::setenv("HCCL_HOST_SOCKET_PORT_RANGE", (port + ",1024-65535").c_str(), 1);
  const hccl::TcpTransport::listener other;
  ::unsetenv("HCCL_HOST_SOCKET_PORT_RANGE");
  CHECK(other.address() != taken.address());
}
