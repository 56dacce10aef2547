// SPDX-License-Identifier: Apache-2.0

// What the memory of this machine allows: loops written for one collective each, on threads that meet at a barrier of
// flags, without checks, deadlines or types. It is measured the way hccl_perf measures hccl.

#include "trial.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

/// What the threads share.
struct world {
  struct member {
    alignas(128) std::atomic<std::uint64_t> arrivals = 0;
    float* in = nullptr;
    float* out = nullptr;
    std::vector<double>* values = nullptr;
  };

  explicit world(int size) : members(static_cast<std::size_t>(size)) {}

  std::size_t size() const { return members.size(); }

  void barrier(std::size_t self) {
    static const bool shares_cores = size() > std::thread::hardware_concurrency();
    const std::uint64_t now = members[self].arrivals.load(std::memory_order_relaxed) + 1;
    members[self].arrivals.store(now, std::memory_order_release);
    for (const member& other : members) {
      while (other.arrivals.load(std::memory_order_acquire) < now) {
        if (shares_cores) std::this_thread::yield();
      }
    }
  }

  std::vector<member> members;
};

/// Adds up elements [begin, end) of all inputs.
void add(const world& all, std::size_t begin, std::size_t end, float* to) {
  const float* const first = all.members[0].in;
  const float* const second = all.members[1].in;
  for (std::size_t i = begin; i < end; ++i) to[i - begin] = first[i] + second[i];
  for (std::size_t r = 2; r < all.size(); ++r) {
    const float* const next = all.members[r].in;
    for (std::size_t i = begin; i < end; ++i) to[i - begin] += next[i];
  }
}

/// Each thread does its share of the output, in pieces that stay in the cache.
void call(world& all, std::size_t self, const perf::point& where, std::span<float> in, std::span<float> out) {
  constexpr std::size_t piece = 4096;
  all.members[self].in = in.data();
  all.members[self].out = out.data();
  all.barrier(self);
  const std::size_t share = where.count / all.size();
  const std::size_t begin = where.count * self / all.size(), end = where.count * (self + 1) / all.size();
  if (where.collective == "allreduce") {
    for (std::size_t i = begin; i < end; i += piece) {
      const std::size_t stop = std::min(i + piece, end);
      add(all, i, stop, all.members[self].out + i);
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (r != self)
          std::memcpy(all.members[r].out + i, all.members[self].out + i, (stop - i) * sizeof(float));
      }
    }
  } else if (where.collective == "reduce_scatter") {
    add(all, self * share, (self + 1) * share, out.data());
  } else if (where.collective == "allgather") {
    for (std::size_t r = 0; r < all.size(); ++r)
      std::memcpy(out.data() + r * share, all.members[r].in, share * sizeof(float));
  } else if (where.collective == "alltoall") {
    for (std::size_t r = 0; r < all.size(); ++r)
      std::memcpy(out.data() + r * share, all.members[r].in + self * share, share * sizeof(float));
  } else if (where.collective == "broadcast") {
    for (std::size_t r = 1; r < all.size(); ++r)
      std::memcpy(all.members[r].out + begin, all.members[0].in + begin, (end - begin) * sizeof(float));
  }
  all.barrier(self);
}

/// What is compared: broadcast in place, the others out of place.
bool is_offered(const perf::point& where) {
  return where.collective != "reduce" && where.in_place == (where.collective == "broadcast");
}

std::size_t run(const perf::options& chosen, world& all, std::size_t self) {
  const int rank = static_cast<int>(self), size = static_cast<int>(all.size());
  const auto prepare = [&](const perf::point& where) -> perf::trial {
    if (!is_offered(where)) return {};
    const auto run_one = [&all, self, where](std::span<float> in, std::span<float> out) {
      call(all, self, where, in, out);
    };
    return perf::make_sum(where, rank, size, 0, run_one);
  };
  const auto max = [&](std::vector<double>& values) {
    all.members[self].values = &values;
    all.barrier(self);
    std::vector<double> most = values;
    for (const auto& other : all.members) {
      for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], (*other.values)[i]);
    }
    all.barrier(self);
    values = most;
    all.barrier(self);
  };
  const auto barrier = [&] { all.barrier(self); };
  return perf::measure(chosen,
                       {"bare loop", "threads", "own", rank, size, sizeof(float), barrier, max, prepare});
}

}  // namespace

int main(int argc, char** argv) {
  const perf::options chosen = perf::read_options(argc, argv);
  world all(std::max(2, chosen.ranks));
  std::atomic<std::size_t> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t self = 0; self < all.size(); ++self)
      threads.emplace_back([&, self] { wrong += run(chosen, all, self); });
  }
  return wrong == 0 ? 0 : 1;
}
