// SPDX-License-Identifier: Apache-2.0
#pragma once

// LocalTransport: the ranks are threads of one process, and a receiver reads straight from the sender's
// memory.

#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/lane_member.hpp>
#include <hccl/transport/detail/local_world.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace hccl::inline v0 {

/// Moves bytes between threads of one process.
///
/// A small message travels inside its lane; of a larger one only the address travels, and the receiver takes
/// the bytes, or reduces them, from where the sender has them. Waits spin briefly, yield, then sleep. A rank
/// whose transport is gone is lost to those who wait for it. Thread-safety: one thread per rank; `abort` from
/// any.
class LocalTransport : public detail::lane_member<detail::local_member> {
 public:
  static constexpr std::string_view name = "local";
  static constexpr link_model link{
      .latency = 8e-7, .overhead = 2e-7, .seconds_per_byte = 8e-11, .reduction = 3e-11, .is_copied = true};

  /// A world of `size` ranks; each of its transports is to be used by one thread. The world lives as long as
  /// one of them.
  class world {
   public:
    explicit world(int size) : shared_(std::make_shared<detail::local_world>(size)) {}

    int size() const { return shared_->size(); }

    /// Throws `invalid_argument` for a rank outside the world.
    LocalTransport transport(int rank) const {
      if (rank < 0 || rank >= shared_->size()) {
        throw error(errc::invalid_argument,
                    detail::concat("there is no rank ", rank, " in a local world of ", shared_->size()));
      }
      return LocalTransport(shared_, rank, 0);
    }

    /// Makes all ranks fail, on behalf of rank `by`.
    void abort(const error& why, int by) const noexcept { shared_->abort(why, by); }

   private:
    std::shared_ptr<detail::local_world> shared_;
  };

  /// A world of one rank.
  LocalTransport() : LocalTransport(std::make_shared<detail::local_world>(1), 0, 0) {}

  LocalTransport channel(int id) const { return LocalTransport(member().world(), rank(), id); }

  using location = std::byte*;
  std::optional<location> locate(std::span<const std::byte> memory) const {
    return const_cast<std::byte*>(memory.data());
  }
  std::byte* reach(int, location there) const { return there; }

  /// Returns when no peer reads memory of this rank any more.
  void abort(const error& why) noexcept {
    member().world()->abort(why, rank());
    wait_for_visitors();
  }

 private:
  LocalTransport(std::shared_ptr<detail::local_world> shared, int rank, int channel)
      : lane_member(std::make_unique<detail::local_member>(std::move(shared), rank, channel)) {}
};

static_assert(SharedAddressTransport<LocalTransport>);

}  // namespace hccl::inline v0
