// SPDX-License-Identifier: Apache-2.0
#pragma once

// The copy engine of an NPU: a stream a lane, and pinned memory of the host.

#include <hccl/core/error.hpp>
#include <hccl/memory/ascend_runtime.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/device_allocator.hpp>

#include <array>
#include <cstddef>
#include <optional>

namespace hccl::inline v0::detail {

/// Memory of a runtime that grows to the largest request.
template <auto Allocate, auto Deallocate>
class runtime_room {
 public:
  runtime_room() = default;
  runtime_room(const runtime_room&) = delete;
  runtime_room& operator=(const runtime_room&) = delete;
  ~runtime_room() { release(); }

  std::byte* of(std::size_t bytes) {
    if (bytes > size_) {
      release();
      memory_ = Allocate(bytes);
      size_ = bytes;
    }
    return static_cast<std::byte*>(memory_);
  }

 private:
  void release() {
    if (memory_ != nullptr) Deallocate(memory_);
    memory_ = nullptr;
    size_ = 0;
  }

  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// Works on one device, that of the thread unless given. A stream is made when it is first needed.
template <AscendRuntime Runtime>
class ascend_copies final : public copy_engine {
 public:
  explicit ascend_copies(int device = Runtime::device()) : device_(device) {}
  ascend_copies(const ascend_copies&) = delete;
  ascend_copies& operator=(const ascend_copies&) = delete;
  ~ascend_copies() override {
    for (auto& stream : streams_) {
      if (stream) Runtime::destroy_stream(*stream);
    }
  }

  void enter() override {
    if (!Runtime::is_current(device_)) Runtime::use(device_);
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

  std::byte* host_room(std::size_t bytes) override { return host_.of(bytes); }
  std::byte* device_room(std::size_t bytes) override { return memory_.of(bytes); }

 private:
  auto& stream(int lane) {
    auto& found = streams_[static_cast<std::size_t>(lane)];
    if (!found) found = Runtime::make_stream();
    return *found;
  }

  int device_;
  std::array<std::optional<typename Runtime::stream>, lanes> streams_;
  runtime_room<&Runtime::allocate_pinned, &Runtime::deallocate_pinned> host_;
  runtime_room<&Runtime::allocate, &Runtime::deallocate> memory_;
};

}  // namespace hccl::inline v0::detail
