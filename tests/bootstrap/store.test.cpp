// SPDX-License-Identifier: Apache-2.0

// The stores: what all have in common, and what is particular to each.

#include "test.hpp"
#include "timing.hpp"
#include "transport/tcp_support.hpp"

#include <hccl/bootstrap/file_store.hpp>
#include <hccl/bootstrap/open_store.hpp>
#include <hccl/bootstrap/store.hpp>
#include <hccl/bootstrap/tcp_store.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace hccl_test;
using namespace std::chrono_literals;
using hccl::deadline, hccl::errc, hccl::error;

namespace {

/// A directory that does not exist yet and is gone afterwards.
struct Directory {
  Directory() : path(std::filesystem::temp_directory_path() / ("hccl-test-" + hccl::detail::random_name())) {}
  ~Directory() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const error& e) {
    return e.what();
  }
  return "no error";
}

void keeps_its_promises(const std::string& url) {
  auto store = hccl::open_store(url, deadline::after(patience));
  auto other = hccl::open_store(url, deadline::after(patience));
  CHECK_FALSE(store.get("0/world").has_value());
  store.set("0/world", "a\nb c\n");
  CHECK(other.get("0/world") == "a\nb c\n");
  other.set("0/world", "");
  CHECK(store.get("0/world") == "");
  CHECK(store.claim("rank/1", "mine") == "mine");
  CHECK(other.claim("rank/1", "yours") == "mine");
  const std::string large(300'000, 'x');
  store.set("large", large);
  CHECK(other.get("large") == large);

  CHECK_FALSE(wait_for_any(store, {"never", "not ever"}, deadline::after(20ms)).has_value());
  std::thread later([&] {
    std::this_thread::sleep_for(30ms);
    other.set("second", "2");
  });
  const auto found = wait_for_any(store, {"first", "second"}, deadline::after(patience));
  later.join();
  REQUIRE(found.has_value());
  CHECK(found->first == "second");
  CHECK(found->second == "2");
}

void lets_one_claim_win(const std::string& url) {
  constexpr int claimants = 8;
  std::vector<std::string> standing(claimants);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < claimants; ++i) {
    threads.emplace_back([&, i] {
      auto store = hccl::open_store(url, deadline::after(patience));
      standing[i] = store.claim("prize", std::to_string(i));
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(std::set<std::string>(standing.begin(), standing.end()).size() == 1);
}

}  // namespace

TEST_CASE("a store behind a port, IPv4") {
  hccl::TcpStoreServer server;
  CHECK(server.address().starts_with("tcp://127.0.0.1:"));
  keeps_its_promises(server.address());
  lets_one_claim_win(server.address());
  const Stopwatch watch;
  server.wait_for_departures(10, deadline::after(patience));
  CHECK(watch.elapsed() < promptly);
}

TEST_CASE("a store behind a port, IPv6") {
  std::unique_ptr<hccl::TcpStoreServer> server;
  try {
    server = std::make_unique<hccl::TcpStoreServer>("tcp://[::1]:0");
  } catch (const error&) {
    return;  // no IPv6 here
  }
  CHECK(server->address().starts_with("tcp://[::1]:"));
  keeps_its_promises(server->address());
}

TEST_CASE("a store behind an abstract UNIX socket") {
  hccl::TcpStoreServer server("unix:@hccl-test-" + hccl::detail::random_name());
  keeps_its_promises(server.address());
  lets_one_claim_win(server.address());
}

TEST_CASE("a store in files") {
  Directory directory;
  keeps_its_promises("file://" + directory.path.string());
  lets_one_claim_win("file://" + directory.path.string());
}

TEST_CASE("a server may start after its clients, and the port is free again afterwards") {
  std::string url;
  {
    hccl::TcpStoreServer first;
    url = first.address();
    hccl::TcpStore client(url, deadline::after(patience));
    client.set("key", "old");
  }
  for (int i = 0; i < 5; ++i) {
    bool empty = false;
    std::thread early([&] {
      hccl::TcpStore client(url, deadline::after(patience));
      empty = !client.get("key").has_value();
      client.set("key", "new");
    });
    std::this_thread::sleep_for(10ms);
    hccl::TcpStoreServer again(url);
    early.join();
    CHECK(empty);
  }
}

TEST_CASE("a server may start long after its clients") {
  const std::string url = hccl::TcpStoreServer().address();  // a port that is free now
  std::string said;
  std::thread early([&] { said = error_of([&] { hccl::TcpStore(url, deadline::after(patience)); }); });
  std::this_thread::sleep_for(3200ms);  // longer than a store may take to answer
  hccl::TcpStoreServer server(url);
  early.join();
  CHECK(said == "no error");
}

TEST_CASE("what is wrong with an address of a store is said") {
  hccl::TcpStoreServer server;
  CHECK(contains(error_of([&] { hccl::TcpStoreServer second(server.address()); }), "Address already in use"));
  CHECK(contains(error_of([] { hccl::TcpStore("tcp://127.0.0.1:1", deadline::after(30ms)); }),
                 "Connection refused"));
  for (const std::string url : {"tcp://127.0.0.1", "http://host:1", "nonsense", "unix:name"}) {
    CHECK(contains(error_of([&] { hccl::open_store(url, deadline::after(30ms)); }), "invalid argument"));
  }
}

TEST_CASE("something else at the port is told from a store") {
  hccl::detail::asio::io_context io;
  hccl::detail::tcp::acceptor acceptor(io, {hccl::detail::asio::ip::address_v4::loopback(), 0});
  const auto url = "tcp://" + hccl::detail::to_text(acceptor.local_endpoint());
  SECTION("it talks") {
    std::thread foreign([&] {
      auto socket = acceptor.accept();
      hccl::detail::asio::write(socket,
                                hccl::detail::asio::buffer(std::string("220 mail.example ESMTP ready\r\n")));
    });
    CHECK(contains(error_of([&] { hccl::TcpStore(url, deadline::after(patience)); }),
                   "taken by something that is not an hccl store"));
    foreign.join();
  }
  SECTION("it is silent") {
    CHECK(contains(error_of([&] { hccl::TcpStore(url, deadline::after(200ms)); }),
                   "taken by something that is not an hccl store"));
  }
}

TEST_CASE("noise at the port of a server disturbs no client") {
  hccl::TcpStoreServer server;
  hccl::TcpStore client(server.address(), deadline::after(patience));
  hccl::detail::asio::io_context io;
  const auto endpoint = hccl::detail::look_up(io, hccl::detail::split_address(server.address().substr(6)));
  std::vector<hccl::detail::tcp::socket> strangers;
  const std::string greeting(hccl::detail::store_greeting);
  for (const std::string& text :
       {std::string(), std::string("GET / HTTP/1.1\r\n"), std::string(1 << 20, '\0'), greeting,
        greeting + "s\xff\xff\xff\xff\xff\xff\xff\xff", greeting + std::string(100, '?')}) {
    hccl::detail::tcp::socket socket(io);
    socket.connect(endpoint);
    hccl::detail::asio_error ignored;
    hccl::detail::asio::write(socket, hccl::detail::asio::buffer(text), ignored);
    client.set("key", text.substr(0, 10));
    CHECK(client.get("key") == text.substr(0, 10));
    strangers.push_back(std::move(socket));
  }
}

TEST_CASE("a directory with entries of a process that has gone is refused") {
  Directory directory;
  const auto outcomes = forked(1, [&](int) { hccl::FileStore(directory.path).set("0/rank/0", "dead"); });
  CHECK(outcomes[0].error.empty());
  const auto text = error_of([&] { hccl::FileStore store(directory.path); });
  CHECK(contains(text, "holds entries of an earlier run: process " + std::to_string(outcomes[0].pid)));
  CHECK(contains(text, directory.path.string()));
}

TEST_CASE("a directory that cannot be made is an error") {
  CHECK(contains(error_of([] { hccl::FileStore store("/dev/null/store"); }), "cannot make the directory"));
}
