// SPDX-License-Identifier: Apache-2.0
#pragma once

// ShmTransport: ranks as processes of one host, through memory that they share. Linux.

#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/memory/detail/memory_file.hpp>
#include <hccl/memory/detail/shared_blocks.hpp>
#include <hccl/memory/shared_allocator.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/check_addresses.hpp>
#include <hccl/transport/detail/foreign_blocks.hpp>
#include <hccl/transport/detail/lane_member.hpp>
#include <hccl/transport/detail/shm_world.hpp>

#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// Moves bytes between processes of one host through shared memory.
///
/// A small message travels inside its lane, a larger one through two cells that stay in the cache, and is reduced or
/// copied straight out of them. The memory is an anonymous file that nothing outlives; it is reserved when a channel is
/// made: 1.2 MiB a rank, more beyond 32 ranks. Waits spin while every rank has a core of its own, else yield, then
/// sleep.
///
/// `progress` throws `peer_lost` when a rank that is waited for has left, or within a second of its end, even by
/// SIGKILL. Channels may be used from different threads. In a process forked from the owner the destructor does
/// nothing.
class ShmTransport : public detail::lane_member<detail::shm_member> {
 public:
  static constexpr std::string_view name = "shm";
  static constexpr link_model link{.latency = 4e-7,
                                   .overhead = 1.5e-7,
                                   .seconds_per_byte = 1.2e-10,
                                   .reduction = 1e-10,
                                   .is_copied = true};

  /// Shared memory of this process: made first, so that its address can be told to the other ranks.
  class listener {
   public:
    /// Throws `out_of_memory`. Where the ranks meet does not matter.
    explicit listener(const std::string& = {}) {}

    std::string address() const { return detail::shm_address::of(file_).text(); }

   private:
    friend ShmTransport;

    detail::memory_file file_ = detail::memory_file::create();
  };

  /// Makes the transport of rank `rank` of `size`. `addresses` are those of all listeners, by rank. Throws
  /// `unsupported` if a rank is on another host, `out_of_memory` with what is needed and what there is, `peer_lost`.
  /// `names` are the numbers by which errors call the ranks, where these are part of a larger world.
  ShmTransport(listener own, int rank, int size, const std::vector<std::string>& addresses,
               const std::string& = {}, std::vector<int> names = {})
      : ShmTransport(make_world(std::move(own), rank, size, addresses, std::move(names)), 0) {}

  /// Tells whether the processes of two listeners can share memory.
  static bool share_host(const std::string& one, const std::string& other) {
    return detail::shm_address::read(one).host == detail::shm_address::read(other).host;
  }

  ShmTransport channel(int id) { return ShmTransport(member().world(), id); }

  using allocator = SharedAllocator<void>;  ///< that all ranks reach

  /// The same, of memory that others may still read when this rank has freed it.
  struct lasting_allocator : allocator {
    void deallocate(void* memory, std::size_t) noexcept {
      detail::shared_blocks::of_process().forget(static_cast<std::byte*>(memory));
    }
  };

  using location = detail::shared_place;
  std::optional<location> locate(std::span<const std::byte> memory) const {
    return detail::shared_blocks::of_process().find(memory);
  }
  std::byte* reach(int peer, const location& there) {
    return peer == rank() ? there.address : foreign_.reach(*member().world(), peer, there);
  }

  /// Returns when no peer works in memory of this rank any more.
  void abort(const error& why) noexcept {
    member().world()->abort(why);
    wait_for_visitors();
  }

 private:
  ShmTransport(std::shared_ptr<detail::shm_world> world, int id)
      : lane_member(std::make_unique<detail::shm_member>(std::move(world), id)) {}

  static std::shared_ptr<detail::shm_world> make_world(listener own, int rank, int size,
                                                       const std::vector<std::string>& addresses,
                                                       std::vector<int> names) {
    detail::check_addresses(rank, size, addresses);
    if (names.empty()) {
      names.resize(addresses.size());
      std::iota(names.begin(), names.end(), 0);
    }
    std::vector<detail::shm_address> found;
    for (const auto& address : addresses) found.push_back(detail::shm_address::read(address));
    return std::make_shared<detail::shm_world>(std::move(own.file_), rank, found, std::move(names));
  }

  detail::foreign_blocks foreign_;
};

static_assert(SharedAddressTransport<ShmTransport>);

}  // namespace hccl::inline v0
