// SPDX-License-Identifier: Apache-2.0
#pragma once

// copy_engine: transfers between a device and the host that run beside other work.

#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/device_reduction.hpp>

#include <array>
#include <cstddef>

namespace hccl::inline v0 {

/// Copies for one device in two lanes. What is begun in a lane happens in that order, while the caller goes on and the
/// other lane does its own. One thread at a time. Everything throws `hccl::error` when the device fails.
class copy_engine {
 public:
  static constexpr int lanes = 2;

  virtual ~copy_engine() = default;

  /// Tells whether the calling thread works on another device, rather than on this one or none.
  virtual bool is_elsewhere() const = 0;

  /// Makes the device that of the calling thread. Each thread calls it before what follows.
  virtual void enter() = 0;

  /// Copies, and returns when it is done.
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes, copy_direction direction) = 0;

  /// Begins to copy. Memory of the host comes from `host_room`. All memory stays put until `finish(lane)`.
  virtual void begin_copy(int lane, std::byte* to, const std::byte* from, std::size_t bytes,
                          copy_direction direction) = 0;

  /// Tells whether the device combines such elements itself.
  virtual bool reduces(const device_reduction& what) const = 0;

  /// Begins to combine elements of this device: to[i] = op(to[i], from[i]). Only what it `reduces`.
  virtual void begin_reduce(int lane, std::byte* to, const std::byte* from, std::size_t bytes,
                            const device_reduction& what) = 0;

  /// Waits until all that was begun in a lane is done.
  virtual void finish(int lane) = 0;

  /// The same for all lanes, whatever fails.
  virtual void settle() noexcept = 0;

  /// Room of at least so many bytes on the host, or on the device. A later call that asks for more takes it away.
  virtual std::byte* host_room(std::size_t bytes) = 0;
  virtual std::byte* device_room(std::size_t bytes) = 0;
};

}  // namespace hccl::inline v0
