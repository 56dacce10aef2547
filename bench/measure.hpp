// SPDX-License-Identifier: Apache-2.0
#pragma once

// Each collective x algorithm x number of ranks x size over one transport, for Google Benchmark.
//
// A time is that of the slowest rank of a round, from the barrier to the return of its call, and the figures
// are medians over the rounds. The input is written anew before each round. Bytes and bandwidths are those
// of nccl-tests: `bytes` is the whole vector (of allgather the output, of reduce_scatter the input), algbw =
// bytes / time, and busbw = algbw times the share that the busiest link has to carry, so that it can be
// compared with the speed of the hardware.

#include "perf/bus_factor.hpp"

#include <hccl/collectives.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <vector>

namespace hccl_bench {

using Buffer = std::vector<float>;

template <class A>
void call(hccl::AllReduce, auto& comm, Buffer& in, Buffer& out) {
  hccl::allreduce<float, hccl::Sum, A>(comm, in, out);
}
template <class A>
void call(hccl::ReduceScatter, auto& comm, Buffer& in, Buffer& out) {
  hccl::reduce_scatter<float, hccl::Sum, A>(comm, in, out);
}
template <class A>
void call(hccl::AllGather, auto& comm, Buffer& in, Buffer& out) {
  hccl::allgather<float, A>(comm, in, out);
}
template <class A>
void call(hccl::Broadcast, auto& comm, Buffer& in, Buffer& out) {
  hccl::broadcast<float, A>(comm, in, out);
}
template <class A>
void call(hccl::Reduce, auto& comm, Buffer& in, Buffer& out) {
  hccl::reduce<float, hccl::Sum, A>(comm, in, out);
}

/// Returns the seconds that the slowest rank took in each round.
template <class C, class A, class Net>
std::vector<double> measure(hccl::communicator<Net>& comm, std::size_t bytes, int rounds) {
  using clock = std::chrono::steady_clock;
  const std::size_t whole = bytes / sizeof(float);
  const std::size_t share = whole / static_cast<std::size_t>(comm.size());
  Buffer in(std::same_as<C, hccl::AllGather> ? share : whole);
  Buffer out(std::same_as<C, hccl::ReduceScatter> ? share : whole);
  constexpr int warm_up = 5;
  std::vector<double> seconds;
  for (int round = 0; round < warm_up + rounds; ++round) {
    std::ranges::fill(in, static_cast<float>(comm.rank() + round));
    hccl::barrier(comm);
    const auto begin = clock::now();
    call<A>(C{}, comm, in, out);
    seconds.push_back(std::chrono::duration<double>(clock::now() - begin).count());
  }
  seconds.erase(seconds.begin(), seconds.begin() + warm_up);
  hccl::allreduce(comm, seconds, hccl::Max{});
  return seconds;
}

/// Few rounds of large vectors, many of small ones.
inline int rounds_for(std::size_t bytes) {
  return static_cast<int>(std::clamp<std::size_t>((std::size_t{128} << 20) / bytes, 11, 501));
}

/// Registers one line of the table. `World::run(ranks, rounds, f)` runs f(comm) on all ranks and returns
/// what rank 0 returns.
template <class World, class C, class A>
void add(int ranks, std::size_t bytes) {
  const auto name = fmt::format("{}/{}/{}/ranks:{}/bytes:{}", C::name, A::name, World::name, ranks, bytes);
  const int rounds = rounds_for(bytes);
  const auto run = [=](benchmark::State& state) {
    auto seconds = World::run(ranks, rounds, [=](auto& comm) { return measure<C, A>(comm, bytes, rounds); });
    auto next = seconds.begin();
    for ([[maybe_unused]] auto _ : state) state.SetIterationTime(*next++);
    std::ranges::nth_element(seconds, seconds.begin() + rounds / 2);
    const double median = seconds[static_cast<std::size_t>(rounds / 2)];
    const double algbw = static_cast<double>(bytes) / median / 1e9;
    state.counters["us"] = 1e6 * median;
    state.counters["algbw_GB/s"] = algbw;
    state.counters["busbw_GB/s"] = algbw * perf::bus_factor(C::name, ranks);
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Iterations(rounds)
      ->Unit(benchmark::kMicrosecond);
}

template <class World, class C, class... A>
void add_collective() {
  for (const int ranks : {2, 4}) {
    for (const std::size_t bytes : {16u, 4u << 10, 256u << 10, 4u << 20, 32u << 20}) {
      const auto add_if_offered = [&]<class B>() {
        if constexpr (std::same_as<B, hccl::Auto> || hccl::Offers<B, C>) add<World, C, B>(ranks, bytes);
      };
      (add_if_offered.template operator()<A>(), ...);
    }
  }
}

template <class World, class... C>
void add_collectives() {
  (add_collective<World, C, hccl::Auto, hccl::Ring, hccl::Mesh, hccl::OneShotMesh,
                  hccl::RecursiveHalvingDoubling, hccl::BinomialTree, hccl::Reproducible>(),
   ...);
}

/// The main function of a benchmark of all collectives.
template <class World>
int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_collectives<World, hccl::AllReduce, hccl::ReduceScatter, hccl::AllGather, hccl::Broadcast,
                  hccl::Reduce>();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace hccl_bench
