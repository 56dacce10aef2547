// SPDX-License-Identifier: Apache-2.0
#pragma once

// `Direct` between buffers that other ranks do not reach: through windows.

#include <hccl/algorithm/direct.hpp>
#include <hccl/core/partition.hpp>
#include <hccl/engine/direct_plan.hpp>
#include <hccl/engine/windows.hpp>
#include <hccl/schedule/collective.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>

namespace hccl::inline v0::detail {

/// One call, chunk by chunk. At each step a rank puts a chunk of its input into its window, takes what it needs of the
/// chunk before from the windows of all, and fetches the results of the chunk before that; then all ranks meet.
template <class Memory>
class staged_call {
 public:
  staged_call(const direct_plan& plan, windows<Memory>& windows, const std::byte* input, std::byte* output,
              piecewise& pieces)
      : plan_(plan), windows_(windows), input_(input), output_(output), pieces_(pieces) {}

  /// Puts the first chunk, while others may still be in the call before.
  void put_first() const { put(0); }

  /// Does what is left. `meet()` waits until all ranks have called it. has_put: whether all have put the first chunk.
  template <DoneDirectly C>
  void run(const C& c, bool has_put, auto&& meet) const {
    constexpr bool has_results = std::same_as<C, AllReduce> || std::same_as<C, Reduce>;
    const std::size_t most = windows_.chunk_elements(plan_);
    const std::size_t chunks = (plan_.part(0).count + most - 1) / most,
                      steps = chunks + (has_results ? 2 : 1);
    for (std::size_t step = has_put ? 1 : 0; step < steps; ++step) {
      if (step < chunks) put(step);
      if (step >= 1 && step - 1 < chunks) take(c, step - 1);
      if (has_results && step >= 2) fetch(step - 2);
      if (step + 1 < steps) meet();
    }
    windows_.pass(chunks);
  }

 private:
  /// Chunk `k` of the part of a rank.
  extent chunk(int owner, std::size_t k) const {
    const extent part = plan_.part(owner);
    const std::size_t most = windows_.chunk_elements(plan_), begin = std::min(part.count, k * most);
    return {part.offset + begin, std::min(most, part.count - begin)};
  }

  void put(std::size_t k) const {
    for (int owner = 0; owner < plan_.ranks; ++owner) {
      const bool stays = plan_.input == portion::all && owner == plan_.self;
      if (stays || !holds(plan_.input, plan_.root, plan_.self, owner, plan_.ranks, plan_.ranks)) continue;
      const extent e = chunk(owner, k);
      piecewise::copy(in(e), windows_.put(plan_, plan_.self, owner, k), plan_.bytes(e), false, freely);
    }
  }

  void take(const AllReduce&, std::size_t k) const { combine(windows_.result(plan_.self, k), k, false); }
  void take(const Reduce&, std::size_t k) const { combine(windows_.result(plan_.self, k), k, false); }
  void take(const ReduceScatter&, std::size_t k) const {
    combine(out(chunk(plan_.self, k)), k, plan_.streams());
  }
  void take(const Broadcast&, std::size_t k) const {
    for_each_owner([&](int owner) { write(owner, k, put_by(plan_.root, owner, k)); });
  }
  void take(const AllGather&, std::size_t k) const {
    for_each_owner([&](int owner) { write(owner, k, put_by(owner, owner, k)); });
  }
  void take(const AllToAll&, std::size_t k) const {
    for_each_owner([&](int owner) { write(owner, k, put_by(owner, plan_.self, k)); });
  }

  void fetch(std::size_t k) const {
    if (plan_.held(plan_.output, plan_.self).count == 0) return;
    for_each_owner([&](int owner) { write(owner, k, windows_.result(owner, k)); });
  }

  /// Combines a chunk of this rank's part.
  void combine(std::byte* to, std::size_t k, bool streams) const {
    const auto from = [&](int rank) { return put_by(rank, plan_.self, k); };
    pieces_.combine(plan_, from, {&to, 1}, chunk(plan_.self, k).count, streams, freely);
  }

  /// What a rank puts in for the owner of a part.
  const std::byte* put_by(int rank, int owner, std::size_t k) const {
    return rank == plan_.self ? in(chunk(owner, k)) : windows_.put(plan_, rank, owner, k);
  }

  void write(int owner, std::size_t k, const std::byte* from) const {
    const extent e = chunk(owner, k);
    piecewise::copy(from, out(e), plan_.bytes(e), plan_.streams(), freely);
  }

  /// Begins at this rank, so that not all read the same memory.
  void for_each_owner(auto&& f) const {
    for (int k = 0; k < plan_.ranks; ++k) f((plan_.self + k) % plan_.ranks);
  }

  const std::byte* in(extent e) const { return input_ + plan_.offset(plan_.input, plan_.self, e.offset); }
  std::byte* out(extent e) const { return output_ + plan_.offset(plan_.output, plan_.self, e.offset); }

  const direct_plan& plan_;
  windows<Memory>& windows_;
  const std::byte* input_;
  std::byte* output_;
  piecewise& pieces_;
};

}  // namespace hccl::inline v0::detail
