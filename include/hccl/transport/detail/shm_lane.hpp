// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory through which one process sends bytes to another, and the bell that wakes it. Linux.

#include <hccl/core/deadline.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/lane_traffic.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <utility>

namespace hccl::inline v0::detail {

/// Wakes the threads of a process that sleep.
class shm_bell {
 public:
  /// Zeros are a bell.
  struct memory {
    alignas(cache_line) std::atomic<std::uint32_t> watchers;
    std::atomic<std::uint32_t> rings;
  };

  explicit shm_bell(memory& m) : memory_(&m) {}

  /// Rung after something was published for the rank. The loads and stores by which a rank says that it is about to
  /// sleep, and those of what is published, are sequentially consistent: either it sees what is new, or the other one
  /// sees that it sleeps.
  void ring() const {
    if (memory_->watchers.load() == 0) return;
    memory_->rings.fetch_add(1);
    ::syscall(SYS_futex, &memory_->rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

  /// Asks to be rung for what is published from now on; the caller looks once more before it sleeps.
  void watch() {
    if (!std::exchange(is_watching_, true)) memory_->watchers.fetch_add(1);
    seen_ = memory_->rings.load();
  }

  void ignore() {
    if (std::exchange(is_watching_, false)) memory_->watchers.fetch_sub(1);
  }

  /// Sleeps until the bell is rung, the deadline passes, or it is time to look whether peers are alive.
  void sleep(deadline until) const {
    const auto left = std::min<std::chrono::nanoseconds>(until.remaining(), nap);
    const timespec time{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    ::syscall(SYS_futex, &memory_->rings, FUTEX_WAIT, seen_, &time, nullptr, 0);
  }

  static constexpr std::chrono::milliseconds nap{200};

 private:
  memory* memory_;
  std::uint32_t seen_ = 0;
  bool is_watching_ = false;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

/// The memory of a lane: slots for small messages, and cells, through which larger ones go piece after piece. Zeros are
/// an empty lane.
///
/// The sender publishes a slot, and the cell that it names, by a store of the slot's number, which the receiver's load
/// pairs with; the receiver gives both back by a store of `read`, which the sender's load pairs with.
struct shm_lane_memory {
  static constexpr std::uint64_t slots = 8;
  static constexpr std::uint64_t cells = 2;

  struct slot {
    alignas(cache_line) std::atomic<std::uint64_t> number;  // one more than the number of puts before
    std::uint32_t size;
    std::uint32_t is_in_cell;
    std::array<std::byte, 240> bytes;
  };

  alignas(cache_line) std::uint64_t put;  // slots; the sender's own, as is what follows
  std::uint64_t put_cells;
  std::uint64_t seen_read;
  std::array<std::uint64_t, cells> cell_ends;  // for each cell, `put` after its last use
  alignas(cache_line) std::atomic<std::uint64_t> read;
  std::uint64_t taken;  // the receiver's own, as is what follows
  std::uint64_t taken_cells;
  std::uint64_t offset;  // in what is in front
  std::array<slot, slots> slot_of;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A lane in shared memory, as one process sees it.
class shm_lane {
 public:
  shm_lane(shm_lane_memory* lane, std::byte* cells, std::size_t cell_bytes)
      : lane_(lane), cells_(cells), cell_bytes_(cell_bytes) {}

  /// Copies one slot's worth: small messages whole, larger ones as much as a cell holds. Nothing is lent.
  bool put(unsent& message, ticket&) const {
    if (!is_read(lane_->put + 1, memory::slots)) return false;
    auto& slot = lane_->slot_of[lane_->put % memory::slots];
    if (message.remaining() <= slot.bytes.size()) {
      slot.is_in_cell = 0;
      slot.size = static_cast<std::uint32_t>(message.remaining());
      message.copy(slot.bytes.data(), slot.size);
    } else {
      auto& end = lane_->cell_ends[lane_->put_cells % memory::cells];
      if (!is_read(end, 0)) return false;
      slot.is_in_cell = 1;
      slot.size = static_cast<std::uint32_t>(std::min(message.remaining(), cell_bytes_));
      message.copy(cell(lane_->put_cells++), slot.size);
      end = lane_->put + 1;
    }
    slot.number.store(++lane_->put);
    return true;
  }

  static bool is_read(ticket) { return true; }

  /// Takes what is in front, at most a cell: the sender may go on with it.
  bool take(sink& in) const {
    if (empty()) return false;
    const auto& slot = lane_->slot_of[lane_->taken % memory::slots];
    const std::byte* const bytes = slot.is_in_cell != 0 ? cell(lane_->taken_cells) : slot.bytes.data();
    const std::size_t size = std::min<std::size_t>(slot.size - lane_->offset, in.remaining());
    in.consume({bytes + lane_->offset, size});
    lane_->offset += size;
    if (lane_->offset == slot.size) {
      lane_->taken_cells += slot.is_in_cell;
      lane_->offset = 0;
      lane_->read.store(++lane_->taken);
    }
    return true;
  }

  /// Tells the receiver whether there is nothing to take.
  bool empty() const {
    return lane_->slot_of[lane_->taken % memory::slots].number.load() != lane_->taken + 1;
  }

 private:
  using memory = shm_lane_memory;

  std::byte* cell(std::uint64_t number) const { return cells_ + number % memory::cells * cell_bytes_; }

  /// Tells the sender whether `count` slots have been read, but for the last `but` of them.
  bool is_read(std::uint64_t count, std::uint64_t but) const {
    if (count <= lane_->seen_read + but) return true;
    lane_->seen_read = lane_->read.load();
    return count <= lane_->seen_read + but;
  }

  shm_lane_memory* lane_;
  std::byte* cells_;
  std::size_t cell_bytes_;
};

}  // namespace hccl::inline v0::detail
