// SPDX-License-Identifier: Apache-2.0
#pragma once

// The calls of AscendCL, of whichever `acl/acl.h` is found.

#include <hccl/core/error.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/device_reduction.hpp>

#include <acl/acl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hccl::inline v0::detail {

/// An `AscendRuntime` but for its name.
struct acl_runtime {
  using context = aclrtContext;
  using stream = aclrtStream;

  static std::optional<context> current() noexcept {
    context found = nullptr;
    if (aclrtGetCurrentContext(&found) != ACL_SUCCESS || found == nullptr) return std::nullopt;
    return found;
  }
  static void enter(context place) { check(aclrtSetCurrentContext(place), "aclrtSetCurrentContext"); }
  static void use(int device) { check(aclrtSetDevice(device), "aclrtSetDevice"); }
  static void reach(int device) {
    check(aclrtDeviceEnablePeerAccess(device, 0), "aclrtDeviceEnablePeerAccess");
  }

  static void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return memory;
  }
  static void deallocate(void* memory) noexcept { aclrtFree(memory); }
  static void* allocate_pinned(std::size_t bytes) {
    void* memory = nullptr;
    check(aclrtMallocHost(&memory, bytes), "aclrtMallocHost");
    return memory;
  }
  static void deallocate_pinned(void* memory) noexcept { aclrtFreeHost(memory); }

  static void copy(void* to, const void* from, std::size_t bytes, copy_direction direction) {
    check(aclrtMemcpy(to, bytes, from, bytes, kind_of(direction)), "aclrtMemcpy");
  }

  static stream make_stream() {
    stream made = nullptr;
    check(aclrtCreateStream(&made), "aclrtCreateStream");
    return made;
  }
  static void destroy_stream(stream on) noexcept { aclrtDestroyStream(on); }

  /// AscendCL copies in a stream between addresses of 64 bytes, and not within the host: all else is done at once.
  static void begin_copy(void* to, const void* from, std::size_t bytes, copy_direction direction, stream on) {
    const auto is_aligned = [](const void* address) {
      return reinterpret_cast<std::uintptr_t>(address) % 64 == 0;
    };
    if (direction == copy_direction::host_to_host || !is_aligned(to) || !is_aligned(from)) {
      finish(on);
      return copy(to, from, bytes, direction);
    }
    check(aclrtMemcpyAsync(to, bytes, from, bytes, kind_of(direction), on), "aclrtMemcpyAsync");
  }

  /// On the first generation float is the only type of which aclrtReduceAsync knows.
  static bool reduces(const device_reduction& what) {
    if (what.what == device_reduction::operation::none || !type_of(what.element)) return false;
    if (what.element == "float") return true;
    const char* const model = aclrtGetSocName();
    const std::string_view soc = model == nullptr ? "" : model;
    constexpr std::array<std::string_view, 5> first_generation{"Ascend910", "Ascend910A", "Ascend910B",
                                                               "Ascend910ProA", "Ascend910ProB"};
    for (const auto first : first_generation) {
      if (soc == first) return false;
    }
    return !soc.empty();
  }

  static void begin_reduce(void* to, const void* from, std::size_t bytes, const device_reduction& what,
                           stream on) {
    const auto operation = what.what == device_reduction::operation::sum   ? ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM
                           : what.what == device_reduction::operation::max ? ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX
                                                                           : ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;
    check(aclrtReduceAsync(to, from, bytes, operation, *type_of(what.element), on, nullptr),
          "aclrtReduceAsync");
  }

  static void finish(stream on) { check(aclrtSynchronizeStream(on), "aclrtSynchronizeStream"); }

 private:
  static void check(aclError code, std::string_view call) {
    if (code == ACL_SUCCESS) return;
    const char* const recent = aclGetRecentErrMsg();
    const bool is_memory = code == out_of_device_memory || code == no_memory || code == ACL_ERROR_BAD_ALLOC;
    throw error(
        is_memory ? errc::out_of_memory : errc::device_failed,
        concat(call, " returned ", code, recent == nullptr ? "" : ": ", recent == nullptr ? "" : recent));
  }

  static aclrtMemcpyKind kind_of(copy_direction direction) {
    switch (direction) {
      case copy_direction::host_to_host:
        return ACL_MEMCPY_HOST_TO_HOST;
      case copy_direction::host_to_device:
        return ACL_MEMCPY_HOST_TO_DEVICE;
      case copy_direction::device_to_host:
        return ACL_MEMCPY_DEVICE_TO_HOST;
      case copy_direction::device_to_device:
        break;
    }
    return ACL_MEMCPY_DEVICE_TO_DEVICE;
  }

  /// The type of elements that devices reduce.
  static std::optional<aclDataType> type_of(std::string_view element) {
    struct entry {
      std::string_view name;
      aclDataType type;
    };
    constexpr std::array<entry, 6> types{{{"float", ACL_FLOAT},
                                          {"int8", ACL_INT8},
                                          {"int16", ACL_INT16},
                                          {"int32", ACL_INT32},
                                          {"float16", ACL_FLOAT16},
                                          {"bfloat16", ACL_BF16}}};
    for (const entry& e : types) {
      if (e.name == element) return e.type;
    }
    return std::nullopt;
  }

  static constexpr aclError no_memory = 207001, out_of_device_memory = 207018;
};

}  // namespace hccl::inline v0::detail
