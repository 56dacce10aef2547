// SPDX-License-Identifier: Apache-2.0
#pragma once

// The copy engine of an NPU: a stream a lane, and pinned memory of the host.

#include <hccl/core/error.hpp>
#include <hccl/memory/ascend_runtime.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/detail/scratch_memory.hpp>
#include <hccl/memory/device_allocator.hpp>

#include <array>
#include <cstddef>
#include <optional>

namespace hccl::inline v0::detail {

/// Memory of the device of the thread.
template <AscendRuntime Runtime>
struct ascend_memory {
  static constexpr memory_kind kind = memory_kind::device;
  static constexpr std::size_t alignment = 64;

  void* allocate(std::size_t bytes) { return Runtime::allocate(bytes); }
  void deallocate(void* memory, std::size_t) noexcept { Runtime::deallocate(memory); }
  void copy(void* to, const void* from, std::size_t bytes, copy_direction direction) {
    Runtime::copy(to, from, bytes, direction);
  }
};

/// Memory of the host from which and to which copies run in a stream.
template <AscendRuntime Runtime>
struct pinned_memory : ascend_memory<Runtime> {
  static constexpr memory_kind kind = memory_kind::host;

  void* allocate(std::size_t bytes) { return Runtime::allocate_pinned(bytes); }
  void deallocate(void* memory, std::size_t) noexcept { Runtime::deallocate_pinned(memory); }
};

/// The context of this thread. Throws `device_failed` if there is none.
template <AscendRuntime Runtime>
typename Runtime::context current_context() {
  if (const auto current = Runtime::current()) return *current;
  throw error(errc::device_failed, "no device is set in this thread; call aclrtSetDevice first");
}

/// Works in one context. A stream is made when it is first needed.
template <AscendRuntime Runtime>
class ascend_copies final : public copy_engine {
 public:
  explicit ascend_copies(typename Runtime::context context = current_context<Runtime>())
      : context_(context) {}
  ascend_copies(const ascend_copies&) = delete;
  ascend_copies& operator=(const ascend_copies&) = delete;
  ~ascend_copies() override {
    const auto before = Runtime::current();
    try {
      enter();
      for (auto& stream : streams_) {
        if (stream) Runtime::destroy_stream(*stream);
      }
      host_.release();
      device_.release();
      if (before) Runtime::enter(*before);
    } catch (const error&) {  // the context is gone, and all that was in it
    }
  }

  typename Runtime::context context() const { return context_; }

  bool is_elsewhere() const override {
    const auto current = Runtime::current();
    return current && *current != context_;
  }

  void enter() override {
    if (Runtime::current() != context_) Runtime::enter(context_);
  }

  void copy(std::byte* to, const std::byte* from, std::size_t bytes, copy_direction direction) override {
    Runtime::copy(to, from, bytes, direction);
  }

  void begin_copy(int lane, std::byte* to, const std::byte* from, std::size_t bytes,
                  copy_direction direction) override {
    Runtime::begin_copy(to, from, bytes, direction, stream(lane));
  }

  bool reduces(const device_reduction& what) const override { return Runtime::reduces(what); }

  void begin_reduce(int lane, std::byte* to, const std::byte* from, std::size_t bytes,
                    const device_reduction& what) override {
    Runtime::begin_reduce(to, from, bytes, what, stream(lane));
  }

  void finish(int lane) override { Runtime::finish(stream(lane)); }

  void settle() noexcept override {
    for (auto& stream : streams_) {
      try {
        if (stream) Runtime::finish(*stream);
      } catch (const error&) {  // what has failed is done as well
      }
    }
  }

  std::byte* host_room(std::size_t bytes) override {
    host_.reserve(bytes);
    return host_.data();
  }
  std::byte* device_room(std::size_t bytes) override {
    device_.reserve(bytes);
    return device_.data();
  }

 private:
  auto& stream(int lane) {
    auto& found = streams_[static_cast<std::size_t>(lane)];
    if (!found) found = Runtime::make_stream();
    return *found;
  }

  typename Runtime::context context_;
  std::array<std::optional<typename Runtime::stream>, lanes> streams_;
  scratch_memory<pinned_memory<Runtime>> host_;
  scratch_memory<ascend_memory<Runtime>> device_;
};

}  // namespace hccl::inline v0::detail
