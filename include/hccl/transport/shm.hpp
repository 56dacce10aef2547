// SPDX-License-Identifier: Apache-2.0
#pragma once

// ShmTransport: ranks as processes of one host, through memory that they share. Linux.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/check_addresses.hpp>
#include <hccl/transport/detail/lane_traffic.hpp>
#include <hccl/transport/detail/memory_file.hpp>
#include <hccl/transport/detail/shm_world.hpp>
#include <hccl/transport/detail/wait.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// Moves bytes between processes of one host through shared memory.
///
/// A small message travels inside its lane, a larger one through two cells that stay in the cache, and is reduced or
/// copied straight out of them. The memory is an anonymous file that nothing outlives; it is reserved when a channel is
/// made: 1 MiB a rank, more beyond 32 ranks. Waits spin while every rank has a core of its own, else yield, then sleep.
///
/// `progress` throws `peer_lost` when a rank that is waited for has left, or within a second of its end, even by
/// SIGKILL. Channels may be used from different threads. In a process forked from the owner the destructor does nothing.
class ShmTransport {
 public:
  static constexpr std::string_view name = "shm";
  static constexpr link_model link{
      .latency = 8e-7, .overhead = 3e-7, .seconds_per_byte = 1.2e-10, .reduction = 3e-11};

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

  /// Makes the transport of rank `rank` of `size`. `addresses` are those of all listeners, by rank. Throws `unsupported`
  /// if a rank is on another host, `out_of_memory` with what is needed and what there is, `peer_lost`.
  ShmTransport(listener own, int rank, int size, const std::vector<std::string>& addresses,
               const std::string& = {})
      : ShmTransport(make_world(std::move(own), rank, size, addresses), 0) {}

  int rank() const { return channel_->world()->rank(); }
  int size() const { return channel_->world()->size(); }

  void send(int peer, pieces message) { traffic_.send(peer, message); }
  bool sending() const { return traffic_.sending(); }
  void receive(int peer, sink& in) { traffic_.receive(peer, in); }

  bool progress(deadline until) {
    auto bell = channel_->bell(rank());
    const auto move = [&] {
      channel_->world()->check();
      return traffic_.move();
    };
    return detail::wait_until(until, size(), bell, move, [&] { find_lost_peer(); });
  }

  void abort(const error& why) noexcept { channel_->world()->abort(why); }
  ShmTransport channel(int id) { return ShmTransport(channel_->world(), id); }

 private:
  ShmTransport(std::shared_ptr<detail::shm_world> world, int id)
      : channel_(std::make_unique<detail::shm_channel>(std::move(world), id)),
        traffic_(*channel_, rank(), size()) {}

  static std::shared_ptr<detail::shm_world> make_world(listener own, int rank, int size,
                                                       const std::vector<std::string>& addresses) {
    detail::check_addresses(rank, size, addresses);
    std::vector<detail::shm_address> found;
    for (const auto& address : addresses) found.push_back(detail::shm_address::read(address));
    return std::make_shared<detail::shm_world>(std::move(own.file_), rank, found);
  }

  void find_lost_peer() {
    const auto now = deadline::clock::now();
    const bool look_at_processes = now >= next_look_;
    if (look_at_processes) next_look_ = now + detail::shm_bell::nap;
    const auto is_gone = [&](int peer) {
      return channel_->has_left(peer) || (look_at_processes && channel_->world()->has_ended(peer));
    };
    traffic_.for_each_sender([&](int peer) {
      if (is_gone(peer) && channel_->between(peer, rank()).empty()) lose(peer);
    });
    traffic_.for_each_receiver([&](int peer) {
      if (is_gone(peer)) lose(peer);
    });
  }

  [[noreturn]] void lose(int peer) {
    channel_->world()->check();  // an abort is why it has left
    throw error(errc::peer_lost, detail::concat("rank ", rank(), ": rank ", peer, " has left"), peer);
  }

  std::unique_ptr<detail::shm_channel> channel_;
  detail::lane_traffic<detail::shm_channel> traffic_;
  deadline::clock::time_point next_look_{};
};

static_assert(check_transport<ShmTransport>());

}  // namespace hccl::inline v0
