// SPDX-License-Identifier: Apache-2.0
#pragma once

// AscendTransport: the ranks are threads of one process, each with an NPU, and bytes go from device to device.

#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/memory/ascend_allocator.hpp>
#include <hccl/memory/ascend_runtime.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/lane_member.hpp>
#include <hccl/transport/detail/local_world.hpp>

#include <cstddef>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// Moves bytes between the NPUs of one process.
///
/// Only addresses travel between the threads: a receiver copies from the memory of the sender's device to its own, by
/// the links between devices, and lets its device combine what it can (see `device_reduction`); other functors are
/// applied on the host, with the transfers to and fro running beside. A thread that uses the transport gets its rank's
/// device set. Thread-safety: one thread per rank; `abort` from any.
template <AscendRuntime Runtime>
class AscendTransport : public detail::lane_member<detail::local_member> {
 public:
  static constexpr std::string_view name = "ascend";
  /// Of devices that are all linked to each other (Atlas 800T A2), as seen from a thread that waits for each copy.
  static constexpr link_model link{.latency = 2e-5,
                                   .overhead = 1e-5,
                                   .seconds_per_byte = 1 / 18.3e9,
                                   .reduction = 1 / 18.3e9,
                                   .is_copied = true};

  using allocator = AscendAllocator<Runtime>;

  /// A world with a rank for each device; each of its transports is to be used by one thread. The world lives as long as
  /// one of them.
  class world {
   public:
    /// Rank r has device r.
    explicit world(int size) : world(first_devices(size)) {}

    /// Rank r has device `devices[r]`. Several may have the same one.
    explicit world(std::vector<int> devices)
        : shared_(std::make_shared<detail::local_world>(static_cast<int>(devices.size()), detail::lends_all)),
          devices_(std::move(devices)) {}

    int size() const { return shared_->size(); }

    /// Sets the device of the rank in this thread, and lets it reach the others. Throws `invalid_argument` for a rank
    /// outside the world, `device_failed` for a device that there is not, or that does not reach another one.
    AscendTransport transport(int rank) const {
      if (rank < 0 || rank >= shared_->size()) {
        throw error(errc::invalid_argument, detail::concat("there is no rank ", rank, " in a world of ",
                                                           shared_->size(), " devices"));
      }
      const int own = devices_[static_cast<std::size_t>(rank)];
      Runtime::use(own);
      for (const int device : devices_) {
        if (device != own) Runtime::reach(device);
      }
      return AscendTransport(shared_, detail::current_context<Runtime>(), rank, 0);
    }

    /// Makes all ranks fail, on behalf of rank `by`.
    void abort(const error& why, int by) const noexcept { shared_->abort(why, by); }

   private:
    static std::vector<int> first_devices(int size) {
      std::vector<int> devices(static_cast<std::size_t>(size < 0 ? 0 : size));
      std::iota(devices.begin(), devices.end(), 0);
      return devices;
    }

    std::shared_ptr<detail::local_world> shared_;
    std::vector<int> devices_;
  };

  AscendTransport channel(int id) const {
    return AscendTransport(member().world(), copies_->context(), rank(), id);
  }

  copy_engine& copies() { return *copies_; }

  /// Returns when no peer reads memory of this rank any more.
  void abort(const error& why) noexcept {
    member().world()->abort(why, rank());
    wait_for_visitors();
  }

 private:
  AscendTransport(std::shared_ptr<detail::local_world> shared, typename Runtime::context context, int rank,
                  int channel)
      : lane_member(std::make_unique<detail::local_member>(std::move(shared), rank, channel)),
        copies_(std::make_unique<detail::ascend_copies<Runtime>>(context)) {}

  std::unique_ptr<detail::ascend_copies<Runtime>> copies_;
};

}  // namespace hccl::inline v0
