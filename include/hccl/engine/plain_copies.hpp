// SPDX-License-Identifier: Apache-2.0
#pragma once

// A copy engine of nothing but an allocator.

#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/detail/scratch_memory.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/host_allocator.hpp>

#include <cstddef>
#include <memory>

namespace hccl::inline v0::detail {

/// What is begun is done at once.
template <DeviceAllocator Allocator>
class plain_copies final : public copy_engine {
 public:
  bool is_elsewhere() const override { return false; }
  void enter() override {}
  void copy(std::byte* to, const std::byte* from, std::size_t bytes, copy_direction direction) override {
    Allocator().copy(to, from, bytes, direction);
  }
  void begin_copy(int, std::byte* to, const std::byte* from, std::size_t bytes,
                  copy_direction direction) override {
    copy(to, from, bytes, direction);
  }
  bool reduces(const device_reduction&) const override { return false; }
  void begin_reduce(int, std::byte*, const std::byte*, std::size_t, const device_reduction&) override {}
  void finish(int) override {}
  void settle() noexcept override {}
  std::byte* host_room(std::size_t bytes) override { return room(host_, bytes); }
  std::byte* device_room(std::size_t bytes) override { return room(device_, bytes); }

 private:
  static std::byte* room(auto& memory, std::size_t bytes) {
    memory.reserve(bytes);
    return memory.data();
  }

  scratch_memory<HostAllocator> host_;
  scratch_memory<Allocator> device_;
};

/// The copy engine of an allocator: `Allocator::copies`, or a plain one.
template <DeviceAllocator Allocator>
std::unique_ptr<copy_engine> make_copies() {
  if constexpr (requires { typename Allocator::copies; }) {
    return std::make_unique<typename Allocator::copies>();
  } else {
    return std::make_unique<plain_copies<Allocator>>();
  }
}

}  // namespace hccl::inline v0::detail
