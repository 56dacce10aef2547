// SPDX-License-Identifier: Apache-2.0

// Ranks that meet, and ranks that should not have come.

#include "test.hpp"
#include "timing.hpp"
#include "transport/tcp_support.hpp"

#include <hccl/bootstrap/connect.hpp>
#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/transport/tcp.hpp>

#include <sys/time.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace hccl_test;
using namespace std::chrono_literals;
using hccl::connect, hccl::deadline, hccl::errc, hccl::error, hccl::TcpTransport;

namespace {

std::string fresh_store() { return "unix:@hccl-test-" + hccl::detail::random_name(); }

/// A port of this host that is free now.
std::string free_port() {
  hccl::TcpStoreServer server;
  return server.address();
}

void join(const hccl::connect_options& options) {
  auto comm = connect<TcpTransport>(options);
  if (comm.rank() != *options.rank || comm.size() != *options.size)
    throw error(errc::mismatch, "another rank or size");
  if (!passes_around(comm.transport(), 1000)) throw error(errc::mismatch, "wrong bytes");
}

std::string at(const Outcome& outcome) {
  return hccl::detail::host_name() + ":" + std::to_string(outcome.pid);
}

/// A store at which the others can act between two words of this rank.
struct HesitantStore {
  hccl::TcpStore store;
  std::chrono::milliseconds pause;

  void set(const std::string& key, const std::string& value) { store.set(key, value); }
  std::optional<std::string> get(const std::string& key) { return store.get(key); }
  std::string claim(const std::string& key, const std::string& value) {
    auto standing = store.claim(key, value);
    std::this_thread::sleep_for(pause);
    return standing;
  }
};

struct Variable {
  Variable(const char* variable, const char* value) : name(variable) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name); }
  const char* name;
};

}  // namespace

TEST_CASE("ranks meet at every kind of store") {
  const auto directory =
      std::filesystem::temp_directory_path() / ("hccl-test-" + hccl::detail::random_name());
  std::vector<std::string> stores{free_port(), fresh_store(), "file://" + directory.string()};
  for (const auto& store : stores) {
    INFO(store);
    const auto outcomes = forked(3, [&](int rank) {
      for (int i = 0; i < 3; ++i)
        join({.rank = rank, .size = 3, .store = store, .timeout = patience});  // again and again
    });
    for (const auto& outcome : outcomes) CHECK(outcome.error == "");
  }
  CHECK_FALSE(std::filesystem::exists(directory));
}

TEST_CASE("ranks meet over IPv6") {
  try {
    hccl::TcpStoreServer probe("tcp://[::1]:0");
  } catch (const error&) {
    return;  // no IPv6 here
  }
  const auto port = free_port();
  const auto store = "tcp://[::1]" + port.substr(port.rfind(':'));
  for (const auto& outcome :
       forked(2, [&](int rank) { join({.rank = rank, .size = 2, .store = store, .timeout = patience}); })) {
    CHECK(outcome.error == "");
  }
}

TEST_CASE("ranks meet at a store that somebody else serves, several times") {
  hccl::TcpStoreServer server;
  std::vector<std::string> errors(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&server, &text = errors[static_cast<std::size_t>(rank)], rank] {
      try {
        for (int i = 0; i < 5; ++i)
          join({.rank = rank, .size = 3, .store = server.address(), .timeout = patience});
      } catch (const error& e) {
        text = e.what();
      }
    });
  }
  for (auto& rank : ranks) rank.join();
  for (const auto& text : errors) CHECK(text == "");
}

TEST_CASE("a world of one needs nobody") {
  auto comm = connect<TcpTransport>();
  CHECK(comm.rank() == 0);
  CHECK(comm.size() == 1);
}

TEST_CASE("case B14: two processes that are the same rank are both named, on every rank") {
  const auto store = fresh_store();
  const int ranks[] = {0, 1, 1};
  const auto outcomes =
      forked(3, [&](int i) { join({.rank = ranks[i], .size = 3, .store = store, .timeout = patience}); });
  for (const auto& outcome : outcomes) {
    CHECK(contains(outcome.error, "two processes are rank 1"));
    CHECK(contains(outcome.error, at(outcomes[1])));
    CHECK(contains(outcome.error, at(outcomes[2])));
    CHECK(outcome.elapsed < promptly);
  }
}

TEST_CASE("two processes that are rank 0 are both named") {
  const auto store = free_port();
  const auto outcomes =
      forked(2, [&](int) { join({.rank = 0, .size = 2, .store = store, .timeout = patience}); });
  for (const auto& outcome : outcomes) {
    CHECK(contains(outcome.error, "two processes are rank 0"));
    CHECK(contains(outcome.error, at(outcomes[0])));
    CHECK(contains(outcome.error, at(outcomes[1])));
  }
}

TEST_CASE("case B14: a rank outside of the world is named, on every rank") {
  const int outside = GENERATE(3, -1);
  const auto store = fresh_store();
  const int ranks[] = {0, 1, outside};
  const auto outcomes =
      forked(3, [&](int i) { join({.rank = ranks[i], .size = 3, .store = store, .timeout = patience}); });
  for (const auto& outcome : outcomes) {
    CHECK(contains(outcome.error, "there is no rank " + std::to_string(outside) + " in a world of 3"));
    CHECK(contains(outcome.error, at(outcomes[2])));
    CHECK(outcome.elapsed < promptly);
  }
}

TEST_CASE("case B14: world sizes that differ are named with both processes, on every rank") {
  const auto store = fresh_store();
  const int sizes[] = {3, 4, 3};
  const auto outcomes = forked(
      3, [&](int rank) { join({.rank = rank, .size = sizes[rank], .store = store, .timeout = patience}); });
  for (const auto& outcome : outcomes) {
    CHECK(contains(outcome.error, "the world sizes differ"));
    CHECK(contains(outcome.error, "4 says rank 1 at " + at(outcomes[1])));
    CHECK(contains(outcome.error, "3 says rank "));
    CHECK(outcome.elapsed < promptly);
  }
}

TEST_CASE("world sizes that differ are named by a rank that takes its time") {
  hccl::TcpStoreServer server;
  const int sizes[] = {3, 4, 3};
  std::vector<std::string> errors(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank, &text = errors[static_cast<std::size_t>(rank)]] {
      const auto until = deadline::after(patience);
      HesitantStore store{hccl::TcpStore(server.address(), until), rank == 1 ? 200ms : 0ms};
      hccl::launch_info me;
      me.rank = rank, me.size = sizes[rank];
      try {
        hccl::detail::rendezvous(store, me, "nowhere", until).meet();
      } catch (const error& e) {
        text = e.what();
      }
    });
  }
  for (auto& rank : ranks) rank.join();
  for (const auto& text : errors) CHECK(contains(text, "the world sizes differ"));
}

TEST_CASE("ranks that do not come are named at the deadline, on every rank") {
  SECTION("rank 0 is there") {
    const auto store = fresh_store();
    const auto outcomes = forked(2, [&](int i) {  // rank 2, which begins first, then rank 0, which gives up
      i == 0 ? join({.rank = 2, .size = 5, .store = store, .timeout = patience})
             : join({.rank = 0, .size = 5, .store = store, .timeout = 600ms});
    });
    for (const auto& outcome : outcomes) {
      CHECK(contains(outcome.error, "ranks 1, 3, 4 of a world of 5 have not arrived"));
      CHECK(outcome.elapsed < promptly);
    }
  }
  SECTION("rank 0 is missing, and nobody else serves") {
    const auto store = free_port();
    const auto outcomes =
        forked(1, [&](int) { join({.rank = 1, .size = 2, .store = store, .timeout = 300ms}); });
    CHECK(contains(outcomes[0].error, "no store answers at " + store));
    CHECK(contains(outcomes[0].error, "rank 0 is missing"));
  }
  SECTION("rank 0 is missing, and the launcher serves") {
    hccl::TcpStoreServer server;
    try {
      join({.rank = 1, .size = 2, .store = server.address(), .timeout = 300ms});
      CHECK(false);
    } catch (const error& e) {
      CHECK(e.kind() == errc::timeout);
      CHECK(contains(e.what(), "rank 0 of a world of 2 has not arrived"));
    }
  }
}

TEST_CASE("case D14: a port that something else has taken is said by every rank") {
  hccl::detail::asio::io_context io;
  hccl::detail::tcp::acceptor acceptor(io, {hccl::detail::asio::ip::address_v4::loopback(), 0});
  const auto store = "tcp://" + hccl::detail::to_text(acceptor.local_endpoint());
  const auto outcomes =
      forked(2, [&](int rank) { join({.rank = rank, .size = 2, .store = store, .timeout = 500ms}); });
  for (const auto& outcome : outcomes) {
    CHECK(contains(outcome.error, store + " is taken by something that is not an hccl store"));
  }
}

TEST_CASE("case D14: ten jobs start at the same time") {
  const auto outcomes = forked(10, [&](int) {
    hccl::run_processes<TcpTransport>(2, [](hccl::communicator<TcpTransport>& comm) {
      if (!passes_around(comm.transport(), 10'000)) throw error(errc::mismatch, "wrong bytes");
    });
  });
  for (const auto& outcome : outcomes) CHECK(outcome.error == "");
}

TEST_CASE("signals that interrupt system calls change nothing") {
  const auto store = fresh_store();
  const auto outcomes = forked(2, [&](int rank) {
    struct sigaction action{};
    action.sa_handler = [](int) {};  // without SA_RESTART
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval every_millisecond{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &every_millisecond, nullptr);
    for (int i = 0; i < 5; ++i) {
      auto comm = connect<TcpTransport>({.rank = rank, .size = 2, .store = store, .timeout = patience});
      for (int salt = 0; salt < 20; ++salt) {
        if (!passes_around(comm.transport(), 300'000, false, salt))
          throw error(errc::mismatch, "wrong bytes");
      }
      std::this_thread::sleep_for(5ms * rank);
    }
  });
  for (const auto& outcome : outcomes) CHECK(outcome.error == "");
}

TEST_CASE("the environment sets the time limits") {
  SECTION("of collectives") {
    const Variable common("HCCL_TIMEOUT", "7"), exec("HCCL_EXEC_TIMEOUT", "2.5");
    CHECK(connect<TcpTransport>().timeout() == 2500ms);
  }
  SECTION("in common") {
    const Variable common("HCCL_TIMEOUT", "7");
    CHECK(connect<TcpTransport>().timeout() == 7s);
  }
  SECTION("none") {
    const Variable exec("HCCL_EXEC_TIMEOUT", "0");
    CHECK(connect<TcpTransport>().timeout() == std::chrono::nanoseconds::max());
  }
  SECTION("of the meeting") {
    const Variable limit("HCCL_CONNECT_TIMEOUT", "0.2");
    CHECK_THROWS_AS(connect<TcpTransport>({.rank = 0, .size = 2, .store = fresh_store(), .timeout = {}}),
                    error);
  }
  SECTION("wrongly") {
    const Variable limit("HCCL_CONNECT_TIMEOUT", "soon");
    CHECK_THROWS_AS(connect<TcpTransport>(), error);
  }
}

TEST_CASE("options that are not whole are refused") {
  CHECK_THROWS_AS(connect<TcpTransport>({.rank = 0, .size = {}, .store = "", .timeout = {}}), error);
  CHECK_THROWS_AS(connect<TcpTransport>({.rank = 0, .size = 2, .store = "", .timeout = {}}), error);
  CHECK_THROWS_AS(connect<TcpTransport>({.rank = 0, .size = 0, .store = "", .timeout = {}}), error);
  CHECK_THROWS_AS(connect<TcpTransport>({.rank = 1, .size = 2, .store = "nowhere", .timeout = {}}), error);
}
