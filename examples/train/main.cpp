// SPDX-License-Identifier: Apache-2.0

// train: learns to tell shirts from shoes, on several ranks. Alone it starts its own ranks, as threads or as
// processes; under hcclrun, mpirun, torchrun or srun it is one of theirs.

#include "dataset.hpp"
#include "trainer.hpp"

#include <hccl/bootstrap/connect.hpp>
#include <hccl/bootstrap/launch.hpp>
#include <hccl/bootstrap/run_processes.hpp>
#include <hccl/collectives.hpp>
#include <hccl/transport/host.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

struct Options {
  int ranks = 2;
  std::string transport = "local";
  std::filesystem::path data = "/usr/share/datasets/fashion-mnist";
  train::Settings settings;
};

/// What one rank does.
template <class Net>
void run_rank(hccl::communicator<Net>& comm, const Options& options, const train::Dataset& training,
              const train::Dataset& test) {
  train::Network network(options.settings.seed);
  train::learn(comm, network, options.settings, training);
  const auto score = train::evaluate(comm, network, test);
  const auto hashes = train::fingerprints(comm, network.parameters());
  const bool identical = std::ranges::count(hashes, hashes[0]) == comm.size();

  if (comm.rank() == 0) {
    fmt::print("test accuracy {:.2f} % of {} images\n", 100 * score.correct / score.images, score.images);
    for (int rank = 0; rank < comm.size(); ++rank) {
      fmt::print("weights of rank {}: {:016x}\n", rank, hashes[static_cast<std::size_t>(rank)]);
    }
    if (identical) fmt::print("The weights are identical on all {} ranks.\n", comm.size());
    std::fflush(stdout);  // a forked rank ends without doing so
  }
  if (!identical) throw std::runtime_error("the ranks ended with different weights");
}

void run(const Options& options) {
  const auto training = train::read_dataset(options.data, "train");
  const auto test = train::read_dataset(options.data, "t10k");
  const auto rank = [&](auto& comm) { run_rank(comm, options, training, test); };

  if (hccl::launched()) {
    auto comm = hccl::connect<hccl::HostTransport>();
    rank(comm);
  } else if (options.transport == "shm") {
    hccl::run_processes<hccl::HostTransport>(options.ranks, rank, {.timeout = std::chrono::hours(24)});
  } else if (options.transport == "tcp") {
    hccl::run_processes<hccl::TcpTransport>(options.ranks, rank, {.timeout = std::chrono::hours(24)});
  } else {
    hccl::run_local(options.ranks, rank);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Trains a small convolutional network on Fashion-MNIST, on several ranks.");
  app.option_defaults()->always_capture_default();
  app.add_option("--ranks", options.ranks, "ranks to start, when no launcher has")
      ->check(CLI::Range(1, 1024));
  app.add_option("--transport", options.transport,
                 "local: ranks are threads; shm, tcp: ranks are processes, connected by shared memory or TCP")
      ->check(CLI::IsMember({"local", "shm", "tcp"}));
  app.add_option("--algorithm", options.settings.algorithm,
                 "of the allreduce, as in auto, ring, mesh, recursive_halving_doubling");
  app.add_option("--epochs", options.settings.epochs, "times to go through all images");
  app.add_option("--batch", options.settings.batch, "images in a step, over all ranks")
      ->check(CLI::PositiveNumber);
  app.add_option("--lr", options.settings.learning_rate, "learning rate at the start");
  app.add_option("--seed", options.settings.seed, "of the first weights and of the order of the images");
  app.add_option("--data", options.data, "folder with the four IDX files, gzipped or not");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "train: {}\n", error.what());
    return 1;
  }
}
