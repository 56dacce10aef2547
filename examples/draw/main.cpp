// SPDX-License-Identifier: Apache-2.0

// draw ring allreduce: prints the picture of a schedule as SVG. draw --all FOLDER: writes those of docs/algorithms.

#include "gallery.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Options {
  std::filesystem::path all;
  std::string algorithm, collective;
  int ranks = 8;
  std::vector<int> hosts;
  int root = 0;
};

/// The schedule of a named algorithm for a named collective, if there is one.
std::optional<hccl::schedule_view> find_schedule(const Options& options, const hccl::group& ranks) {
  std::optional<hccl::schedule_view> found;
  draw::for_each_type<hccl::algorithms>([&]<class A>() {
    draw::for_each_type<hccl::collectives>([&]<class C>() {
      if constexpr (hccl::Offers<A, C>) {
        if (A::name != options.algorithm || C::name != options.collective) return;
        C collective;
        if constexpr (hccl::Rooted<C>) collective.root = options.root;
        found = hccl::schedule_view::of<A>(collective, ranks);
      }
    });
  });
  return found;
}

void draw_one(const Options& options) {
  std::vector<std::vector<int>> levels;
  if (!options.hosts.empty()) levels.push_back(options.hosts);
  const hccl::topology hosts(levels);
  const int ranks = options.hosts.empty() ? options.ranks : hosts.size();
  if (options.root >= ranks)
    throw std::runtime_error(fmt::format("root {}: there are {} ranks", options.root, ranks));
  const auto schedule = find_schedule(options, hccl::group(ranks, hosts));
  if (!schedule) {
    throw std::runtime_error(fmt::format("no algorithm \"{}\" offers \"{}\"; see docs/algorithms/offers.md",
                                         options.algorithm, options.collective));
  }
  fmt::print("{}", draw::picture(*schedule));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Draws the schedule of an algorithm as SVG.");
  app.option_defaults()->always_capture_default();
  app.add_option("algorithm", options.algorithm, "as in ring, mesh, recursive_halving_doubling");
  app.add_option("collective", options.collective, "as in allreduce, reduce_scatter");
  app.add_option("--ranks", options.ranks, "number of ranks")->check(CLI::Range(1, 64));
  app.add_option("--hosts", options.hosts, "ranks of each host, instead of --ranks")
      ->check(CLI::Range(1, 64));
  app.add_option("--root", options.root, "of a collective with a root")->check(CLI::NonNegativeNumber);
  app.add_option("--all", options.all, "writes the pictures and the table of docs/algorithms to this folder");
  CLI11_PARSE(app, argc, argv);
  try {
    options.all.empty() ? draw_one(options) : draw::draw_all(options.all);
  } catch (const std::exception& error) {
    fmt::print(stderr, "draw: {}\n", error.what());
    return 1;
  }
}
