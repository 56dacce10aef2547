// SPDX-License-Identifier: Apache-2.0
#pragma once

// HybridTransport: one transport inside hosts, another between them.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/check_addresses.hpp>
#include <hccl/transport/detail/wait.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// Moves bytes by `Near` between ranks that share a host, and by `Far` between those that do not.
///
/// Near: its constructor takes also the numbers by which errors call its ranks, and `Near::share_host(address,
/// address)` tells whether it can connect two. Each of the two transports is made only where it is needed: where all
/// ranks share a host this is `Near`, and `Direct` does what it does there. Errors and thread-safety are those of the
/// two.
template <class Near, Transport Far>
  requires SharedAddressTransport<Near>
class HybridTransport {
 public:
  static constexpr std::string_view name = "hybrid";
  static constexpr link_model link{.latency = Near::link.latency,
                                   .overhead = Near::link.overhead,
                                   .seconds_per_byte = Near::link.seconds_per_byte,
                                   .reduction = Near::link.reduction,
                                   .host_latency = Far::link.latency,
                                   .host_seconds_per_byte = Far::link.seconds_per_byte,
                                   .is_copied = Near::link.is_copied};

  /// Those of both transports.
  class listener {
   public:
    explicit listener(const std::string& towards = "127.0.0.1") : near_(towards), far_(towards) {}

    std::string address() const { return near_.address() + separator + far_.address(); }

   private:
    friend HybridTransport;

    typename Near::listener near_;
    typename Far::listener far_;
  };

  /// As the constructors of `Near` and `Far`.
  HybridTransport(listener own, int rank, int size, const std::vector<std::string>& addresses,
                  const std::string& job)
      : rank_(rank) {
    detail::check_addresses(rank, size, addresses);
    std::vector<std::string> near_addresses, far_addresses, here;
    std::vector<int> neighbours;
    for (const std::string& address : addresses) {
      const auto end = address.find(separator);
      if (end == address.npos)
        throw error(errc::invalid_argument,
                    detail::concat("'", address, "' is not the address of a HybridTransport"));
      near_addresses.push_back(address.substr(0, end));
      far_addresses.push_back(address.substr(end + 1));
    }
    for (int peer = 0; peer < size; ++peer) {
      const bool is_near = Near::share_host(at(near_addresses, rank), at(near_addresses, peer));
      near_rank_.push_back(is_near ? static_cast<int>(here.size()) : no_rank);
      if (!is_near) continue;
      here.push_back(at(near_addresses, peer));
      neighbours.push_back(peer);
    }
    const int ranks_here = static_cast<int>(here.size());
    if (ranks_here > 1 || size == 1)
      near_.emplace(std::move(own.near_), at(near_rank_, rank), ranks_here, here, job, neighbours);
    if (ranks_here < size) far_.emplace(std::move(own.far_), rank, size, far_addresses, job);
  }

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(near_rank_.size()); }

  void send(int peer, pieces message) {
    is_near(peer) ? near_->send(at(near_rank_, peer), message) : far_->send(peer, message);
  }
  bool sending() const { return (near_ && near_->sending()) || (far_ && far_->sending()); }
  void receive(int peer, sink& in) {
    is_near(peer) ? near_->receive(at(near_rank_, peer), in) : far_->receive(peer, in);
  }

  /// Where there are both, each is looked at in turn, and a rank that has waited for some milliseconds looks every
  /// millisecond at what is near.
  bool progress(deadline until) {
    if (!far_) return near_->progress(until);
    if (!near_) return far_->progress(until);
    const auto awake = deadline::after(detail::most_yielding);
    for (;;) {
      if (near_->progress(deadline::passed())) return true;
      const auto wait = awake.expired() ? std::min(until, deadline::after(nap)) : deadline::passed();
      if (far_->progress(wait)) return true;
      if (until.expired()) return false;
      if (!awake.expired()) std::this_thread::yield();
    }
  }

  void abort(const error& why) noexcept {
    if (far_) far_->abort(why);
    if (near_) near_->abort(why);
  }

  HybridTransport channel(int id) { return HybridTransport(*this, id); }

  // What a SharedAddressTransport has, if all ranks share a host.

  bool shares_addresses() const { return !far_; }
  static constexpr std::size_t note_bytes = Near::note_bytes;
  void post(pieces note) { near_->post(note); }
  bool await_posts(deadline until) { return near_->await_posts(until); }
  bool await_post(int rank, deadline until) { return near_->await_post(rank, until); }
  bool has_posted(int rank) const { return near_->has_posted(rank); }
  std::span<const std::byte> note(int rank) const { return near_->note(rank); }
  using allocator = typename Near::allocator;
  using lasting_allocator = typename Near::lasting_allocator;
  using location = typename Near::location;
  std::optional<location> locate(std::span<const std::byte> memory) { return near_->locate(memory); }
  std::byte* reach(int rank, const location& there) { return near_->reach(rank, there); }
  auto visit() { return near_->visit(); }

 private:
  HybridTransport(HybridTransport& world, int id) : rank_(world.rank_), near_rank_(world.near_rank_) {
    if (world.near_) near_.emplace(world.near_->channel(id));
    if (world.far_) far_.emplace(world.far_->channel(id));
  }

  static auto at(const auto& list, int rank) { return list[static_cast<std::size_t>(rank)]; }

  bool is_near(int peer) const { return at(near_rank_, peer) != no_rank; }

  static constexpr char separator = '|';
  static constexpr std::chrono::milliseconds nap{1};

  int rank_ = 0;
  std::vector<int> near_rank_;  // of each rank, no_rank on other hosts
  std::optional<Near> near_;
  std::optional<Far> far_;
};

}  // namespace hccl::inline v0
