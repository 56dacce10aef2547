// SPDX-License-Identifier: Apache-2.0

// hcclrun -n 4 program arguments...: starts four ranks of a program on this host and ends all when one fails.

#include "child.hpp"
#include "prefixed_output.hpp"

#include <hccl/bootstrap/tcp_store.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hcclrun {

/// The ranks of one job, and the store at which they meet.
class Job {
 public:
  Job(int ranks, const std::vector<std::string>& command) {
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signals_.add(number);
    watch_children();
    pass_signals_on();
    for (int rank = 0; rank < ranks; ++rank) start_rank(rank, ranks, command);
  }

  /// Waits for all ranks. Returns 0, or the exit code of the rank that failed first.
  int run() {
    io_.run();  // until the last rank has ended
    io_.restart();
    io_.run_for(drain);  // until all output is copied
    return exit_code_;
  }

 private:
  static constexpr std::chrono::seconds patience{5};  // from the request to end until the kill
  static constexpr std::chrono::seconds drain{1};     // for output after the last rank has ended

  struct Rank {
    Child child;
    bool running;
  };

  void start_rank(int rank, int ranks, const std::vector<std::string>& command) {
    // A terminal stays with the launcher: a rank is in the background there, and is stopped when it reads.
    const bool reads_input = rank == 0 && ::isatty(STDIN_FILENO) == 0;
    std::map<std::string, std::string> variables{{"RANK", std::to_string(rank)},
                                                 {"WORLD_SIZE", std::to_string(ranks)},
                                                 {"LOCAL_RANK", std::to_string(rank)},
                                                 {"LOCAL_WORLD_SIZE", std::to_string(ranks)},
                                                 {"HCCL_STORE", store_.address()}};
    if (std::getenv("ACL_SIM_DEVICES") == nullptr)  // one for each rank
      variables.emplace("ACL_SIM_DEVICES", std::to_string(ranks));
    const auto child = start(command, variables, reads_input);
    ranks_.push_back({child, true});
    const auto prefix = fmt::format("[{}] ", rank);
    std::make_shared<PrefixedOutput>(io_, child.output, STDOUT_FILENO, prefix)->run();
    std::make_shared<PrefixedOutput>(io_, child.error, STDERR_FILENO, prefix)->run();
  }

  void watch_children() {
    child_ended_.async_wait([this](auto error, int) {
      if (error) return;
      collect_children();
      if (std::ranges::any_of(ranks_, &Rank::running)) return watch_children();
      signals_.cancel();
      timer_.cancel();
      io_.stop();
    });
  }

  /// Ranks are process groups of their own, so that each gets a signal once, from here.
  void pass_signals_on() {
    signals_.async_wait([this](auto error, int number) {
      if (error) return;
      signal_all(number);
      pass_signals_on();
    });
  }

  void collect_children() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      auto& [child, running] = ranks_[rank];
      const auto outcome = running ? collect(child) : std::nullopt;
      if (!outcome) continue;
      running = false;
      if (outcome->failed() && exit_code_ == 0) end_job(rank, *outcome);
    }
  }

  void end_job(std::size_t rank, Outcome outcome) {
    exit_code_ = outcome.exit_code();
    const auto how = outcome.signalled ? fmt::format("was killed by signal {}", outcome.value)
                                       : fmt::format("exited with code {}", outcome.value);
    fmt::print(stderr, "hcclrun: rank {} failed first: it {}; ending the other ranks\n", rank, how);
    signal_all(SIGTERM);
    timer_.expires_after(patience);
    timer_.async_wait([this](auto error) {
      if (!error) signal_all(SIGKILL);
    });
  }

  void signal_all(int number) const {
    for (const auto& [child, running] : ranks_) {
      if (running) child.signal(number);
    }
  }

  boost::asio::io_context io_;
  boost::asio::signal_set child_ended_{io_, SIGCHLD};
  boost::asio::signal_set signals_{io_};
  boost::asio::steady_timer timer_{io_};
  hccl::TcpStoreServer store_;
  std::vector<Rank> ranks_;
  int exit_code_ = 0;
};

int run(int argc, char** argv) {
  CLI::App app(
      "hcclrun -n RANKS program [arguments...]\n"
      "Starts the ranks of a program on this host, and ends all when one fails.");
  app.prefix_command();
  int ranks = 0;
  app.add_option("-n,--ranks", ranks, "number of ranks")->required()->check(CLI::Range(1, 65536));
  CLI11_PARSE(app, argc, argv);

  auto command = app.remaining();
  if (!command.empty() && command.front() == "--") command.erase(command.begin());
  if (command.empty()) {
    fmt::print(stderr, "hcclrun: no program is given\n");
    return 2;
  }
  try {
    return Job(ranks, command).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "hcclrun: {}\n", error.what());
    return 127;
  }
}

}  // namespace hcclrun

int main(int argc, char** argv) { return hcclrun::run(argc, argv); }
