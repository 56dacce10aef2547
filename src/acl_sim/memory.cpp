// SPDX-License-Identifier: Apache-2.0

// AscendCL, simulated: memory, copies, reductions of a device.

#include "call.hpp"

#include <hccl/core/bfloat16.hpp>
#include <hccl/core/float16.hpp>
#include <hccl/reduction/apply.hpp>
#include <hccl/reduction/arithmetic.hpp>
#include <hccl/reduction/min_max.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace {

using namespace acl_sim;

constexpr std::align_val_t page{4096};

/// A copy, or a reduction, whose memory has been looked at.
struct transfer {
  place to, from;
  std::size_t size = 0;
  double seconds = 0;  // on the links
};

/// Finds memory that a call uses on device `here`: within one allocation, and of a device that may be reached.
aclError find(std::string_view call, std::string_view argument, machine& m, int here, const void* memory,
              std::size_t size, place& found) {
  if (memory == nullptr) return null_argument(call, argument);
  found = m.memory().find(memory);
  if (found.is_freed) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, call, ": ", argument, " is ", text_of(memory),
                ", which is device memory that was freed, or never allocated");
  }
  if (found.device == host) return ACL_SUCCESS;
  if (size > found.size) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, call, ": ", argument, " is ", text_of(memory), " on device ",
                found.device, ", where ", found.size, " bytes are left of the allocation; ", size,
                " are asked for");
  }
  if (!m.can_reach(here, found.device)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, call, ": ", argument, " is memory of device ", found.device,
                ", which device ", here, " may not access; call aclrtDeviceEnablePeerAccess(", found.device,
                ", 0)");
  }
  return ACL_SUCCESS;
}

double seconds_of(const machine& m, const place& to, const place& from, std::size_t size) {
  const bool crosses_host = to.device == host || from.device == host;
  const double speed = crosses_host ? host_link : m.setup().system.bytes_per_second(from.device, to.device);
  return copy_latency + static_cast<double>(size) / speed;
}

aclError check_copy(std::string_view call, machine& m, int here, void* to, std::size_t most, const void* from,
                    std::size_t size, aclrtMemcpyKind kind, transfer& made) {
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)
    return fail(ACL_ERROR_RT_PARAM_INVALID, call, ": kind is ", static_cast<int>(kind), ", expected 0 to 7");
  if (size > most)
    return fail(ACL_ERROR_RT_PARAM_INVALID, call, ": count is ", size, ", more than destMax, ", most);
  if (const aclError code = find(call, "dst", m, here, to, size, made.to)) return code;
  if (const aclError code = find(call, "src", m, here, from, size, made.from)) return code;
  made.size = size;
  made.seconds = seconds_of(m, made.to, made.from, size);
  return ACL_SUCCESS;
}

aclError check_fill(std::string_view call, machine& m, int here, void* memory, std::size_t most,
                    std::size_t count, place& found) {
  if (count > most)
    return fail(ACL_ERROR_RT_PARAM_INVALID, call, ": count is ", count, ", more than maxCount, ", most);
  return find(call, "devPtr", m, here, memory, count, found);
}

/// A copy, as a task.
aclError copy(const transfer& t, stream& on) {
  std::memmove(t.to.bytes, t.from.bytes, t.size);
  on.spend(t.seconds);
  return ACL_SUCCESS;
}

template <class T>
void reduce(aclrtReduceKind kind, std::byte* to, const std::byte* from, std::size_t count) {
  auto* const target = reinterpret_cast<T*>(to);
  const auto combine = [&](const auto& op) {
    hccl::apply<hccl::operand_order::stored_first, T>(op, target, target, from, count);
  };
  if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM) {
    combine(hccl::Sum{});
  } else if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX) {
    combine(hccl::Max{});
  } else {
    combine(hccl::Min{});
  }
}

using reduction = void (*)(aclrtReduceKind, std::byte*, const std::byte*, std::size_t);

/// The reduction over elements of a type and their size; none if the devices do not offer it.
std::pair<reduction, std::size_t> find_reduction(const machine& m, aclDataType type) {
  const bool has_float_only = m.setup().system.soc == host_systems[0].soc;
  if (type == ACL_FLOAT) return {&reduce<float>, sizeof(float)};
  if (has_float_only) return {nullptr, 0};
  switch (type) {
    case ACL_INT8:
      return {&reduce<std::int8_t>, 1};
    case ACL_INT16:
      return {&reduce<std::int16_t>, 2};
    case ACL_INT32:
      return {&reduce<std::int32_t>, 4};
    case ACL_FLOAT16:
      return {&reduce<hccl::float16>, 2};
    case ACL_BF16:
      return {&reduce<hccl::bfloat16>, 2};
    default:
      return {nullptr, 0};
  }
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** memory, std::size_t size, aclrtMemMallocPolicy policy) {
  if (memory == nullptr) return null_argument("aclrtMalloc", "devPtr");
  return in_context("aclrtMalloc", [&](machine& m, const std::shared_ptr<context>& here) {
    constexpr unsigned places =
        ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;
    if ((static_cast<unsigned>(policy) & ~places) > ACL_MEM_MALLOC_HUGE1G_ONLY_P2P)
      return fail(ACL_ERROR_RT_INVALID_MALLOC_TYPE, "aclrtMalloc: policy ", static_cast<int>(policy),
                  " is unknown");
    if (size == 0) return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMalloc: size is 0");
    return m.memory().allocate(here->device, size, memory);
  });
}

aclError aclrtFree(void* memory) {
  if (memory == nullptr) return null_argument("aclrtFree", "devPtr");
  return in_context("aclrtFree", [&](machine& m, const auto&) { return m.memory().release(memory); });
}

aclError aclrtMallocHost(void** memory, std::size_t size) {
  if (memory == nullptr) return null_argument("aclrtMallocHost", "hostPtr");
  return in_context("aclrtMallocHost", [&](machine& m, const auto&) {
    if (size == 0) return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMallocHost: size is 0");
    *memory = ::operator new(size, page);
    m.pin(*memory, size);
    return ACL_SUCCESS;
  });
}

aclError aclrtFreeHost(void* memory) {
  if (memory == nullptr) return null_argument("aclrtFreeHost", "hostPtr");
  return on_machine("aclrtFreeHost", [&](machine& m) {
    if (!m.unpin(memory)) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost: ", text_of(memory),
                  " is not what aclrtMallocHost gave, or was freed before");
    }
    ::operator delete(memory, page);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemset(void* memory, std::size_t most, std::int32_t value, std::size_t count) {
  return in_context("aclrtMemset", [&](machine& m, const std::shared_ptr<context>& here) {
    place found;
    if (const aclError code = check_fill("aclrtMemset", m, here->device, memory, most, count, found))
      return code;
    std::memset(found.bytes, value, count);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemsetAsync(void* memory, std::size_t most, std::int32_t value, std::size_t count,
                          aclrtStream handle) {
  return on_stream("aclrtMemsetAsync", handle, [&](machine& m, const auto& here, const auto& on) {
    place found;
    if (const aclError code = check_fill("aclrtMemsetAsync", m, here->device, memory, most, count, found))
      return code;
    const double seconds = seconds_of(m, found, found, count);
    return on->push([=](stream& s, std::string&) {
      std::memset(found.bytes, value, count);
      s.spend(seconds);
      return ACL_SUCCESS;
    });
  });
}

aclError aclrtMemcpy(void* to, std::size_t most, const void* from, std::size_t count, aclrtMemcpyKind kind) {
  return in_context("aclrtMemcpy", [&](machine& m, const std::shared_ptr<context>& here) {
    transfer t;
    if (const aclError code = check_copy("aclrtMemcpy", m, here->device, to, most, from, count, kind, t))
      return code;
    std::memmove(t.to.bytes, t.from.bytes, t.size);
    return ACL_SUCCESS;
  });
}

aclError aclrtMemcpyAsync(void* to, std::size_t most, const void* from, std::size_t count,
                          aclrtMemcpyKind kind, aclrtStream handle) {
  return on_stream("aclrtMemcpyAsync", handle, [&](machine& m, const auto& here, const auto& on) {
    transfer t;
    if (const aclError code = check_copy("aclrtMemcpyAsync", m, here->device, to, most, from, count, kind, t))
      return code;
    if (t.to.device == host && t.from.device == host)
      return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpyAsync: both addresses are of the host");
    if (const aclError code = on->push([t](stream& s, std::string&) { return copy(t, s); })) return code;
    const bool is_pageable =
        (t.to.device == host && !m.is_pinned(to)) || (t.from.device == host && !m.is_pinned(from));
    if (!is_pageable) return ACL_SUCCESS;
    event done;  // host memory that is not pinned may change, or go, as soon as this returns
    const auto number = done.expect();
    if (const aclError code = on->push([&done, number](stream& s, std::string&) {
          done.record(number, s.now());
          return ACL_SUCCESS;
        }))
      return code;
    if (!done.wait(number, {}, [&] { return on->is_aborted() && on->is_idle(); }))
      return fail(ACL_ERROR_RT_STREAM_ABORT, "aclrtMemcpyAsync: the stream was aborted");
    return ACL_SUCCESS;
  });
}

aclError aclrtReduceAsync(void* to, const void* from, std::uint64_t bytes, aclrtReduceKind kind,
                          aclDataType type, aclrtStream handle, void*) {
  return on_stream("aclrtReduceAsync", handle, [&](machine& m, const auto& here, const auto& on) {
    if (kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN)
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReduceAsync: kind is ", static_cast<int>(kind),
                  ", expected 10 to 12");
    const auto [combine, width] = find_reduction(m, type);
    if (combine == nullptr) {
      return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtReduceAsync: ", m.setup().system.soc,
                  " does not reduce elements of aclDataType ", static_cast<int>(type));
    }
    if (bytes % width != 0)
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReduceAsync: count is ", bytes,
                  " bytes, expected whole elements of ", width);
    transfer t;
    if (const aclError code = find("aclrtReduceAsync", "dst", m, here->device, to, bytes, t.to)) return code;
    if (const aclError code = find("aclrtReduceAsync", "src", m, here->device, from, bytes, t.from))
      return code;
    if (t.to.device != here->device || t.from.device != here->device) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReduceAsync: dst and src are to be memory of device ",
                  here->device, ", where this thread is");
    }
    const double seconds = seconds_of(m, t.to, t.from, bytes);
    return on->push([t, kind, reduce = combine, count = bytes / width, seconds](stream& s, std::string&) {
      reduce(kind, t.to.bytes, t.from.bytes, count);
      s.spend(seconds);
      return ACL_SUCCESS;
    });
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attribute, std::size_t* free, std::size_t* total) {
  if (free == nullptr || total == nullptr) return null_argument("aclrtGetMemInfo", "a pointer");
  return in_context("aclrtGetMemInfo", [&](machine& m, const std::shared_ptr<context>& here) {
    if (attribute < ACL_DDR_MEM || attribute > ACL_HBM_MEM_P2P_NORMAL)
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtGetMemInfo: attr is ", static_cast<int>(attribute),
                  ", expected 0 to 9");
    *total = m.memory().capacity();
    *free = m.memory().free_bytes(here->device);
    return ACL_SUCCESS;
  });
}

}  // extern "C"
