// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that a rank opens to the others, so that what they cannot reach goes through it.

#include <hccl/engine/direct_plan.hpp>
#include <hccl/memory/detail/scratch_memory.hpp>
#include <hccl/schedule/collective.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace hccl::inline v0::detail {

/// The window of each rank: memory into which it puts what others take. It has two slots for input and two for results,
/// used in turn; turns go on from call to call, so that the slot of the next one is free when this rank returns.
///
/// Memory is such as all ranks reach. Each takes 0.5 to 0.8 MiB of it, and more only for elements of more than 256 KiB
/// over the number of ranks.
template <class Memory>
class windows {
 public:
  /// Tells whether the windows of all ranks are open and large enough for a call. The same on all ranks.
  bool fit(const direct_plan& plan) const { return slot_needed(plan) <= slot_bytes_; }

  /// Opens the window of this rank, of which the others have to be told.
  void open(const direct_plan& plan) {
    slot_bytes_ = slot_needed(plan);
    result_bytes_ = whole_pages(slot_bytes_ / index(plan.ranks));
    own_.reserve(bytes());
    of_ranks_.resize(index(plan.ranks));
    set(plan.self, own_.data());
  }

  std::span<const std::byte> own() const { return {own_.data(), bytes()}; }

  /// Says where this rank finds the window of another.
  void set(int rank, std::byte* window) { of_ranks_[index(rank)] = window; }

  /// The elements of a chunk: as many of the part of each rank, so that a rank has room for what it puts.
  static std::size_t chunk_elements(const direct_plan& plan) {
    const std::size_t parts = plan.input == portion::share ? 1 : index(plan.ranks);
    return std::max<std::size_t>(most_put / plan.what->element_bytes / parts, 1);
  }

  /// Where a rank has chunk `chunk` of its input for the owner of a part, and of its result.
  std::byte* put(const direct_plan& plan, int rank, int owner, std::size_t chunk) const {
    const std::size_t before = plan.input == portion::share ? 0 : index(owner) * chunk_elements(plan);
    return of_ranks_[index(rank)] + (turn_ + chunk) % 2 * slot_bytes_ + before * plan.what->element_bytes;
  }
  std::byte* result(int rank, std::size_t chunk) const {
    return of_ranks_[index(rank)] + 2 * slot_bytes_ + (turn_ + chunk) % 2 * result_bytes_;
  }

  /// Says that a call of so many chunks has ended.
  void pass(std::size_t chunks) { turn_ += chunks; }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  static std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }
  static std::size_t slot_needed(const direct_plan& plan) {
    return whole_pages(std::max(most_put, index(plan.ranks) * plan.what->element_bytes));
  }
  std::size_t bytes() const { return 2 * (slot_bytes_ + result_bytes_); }

  static constexpr std::size_t most_put = std::size_t{256} << 10;
  static constexpr std::size_t page = 4096;

  scratch_memory<Memory> own_;
  std::vector<std::byte*> of_ranks_;
  std::size_t slot_bytes_ = 0, result_bytes_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace hccl::inline v0::detail
