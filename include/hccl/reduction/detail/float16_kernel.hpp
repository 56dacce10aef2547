// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sum and Product over float16 by the conversion instructions of x86-64 (F16C), where the processor turns out
// to have them: programs are seldom built for it, and conversions in SSE2 take more than ten times as long.

#include <hccl/core/float16.hpp>
#include <hccl/reduction/arithmetic.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>

namespace hccl::inline v0::detail {

/// Combines leading elements by special instructions, to the same bits as op, and returns how many: here
/// none.
template <class Op>
constexpr std::size_t combine_float16(const Op& /*op*/, float16* /*to*/, const float16* /*from*/,
                                      const std::byte* /*arriving*/, std::size_t /*count*/) {
  return 0;
}

#if defined(__x86_64__) && defined(__GNUC__)

inline bool processor_has_f16c() {
  static const bool answer = [] {
    unsigned eax = 1, ebx = 0, ecx = 0, edx = 0;
    __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    return (ecx >> 29 & 1) != 0 && __builtin_cpu_supports("avx");
  }();
  return answer;
}

template <class Op>
__attribute__((target("avx,f16c"))) std::size_t combine_float16_eights(float16* to, const float16* from,
                                                                       const std::byte* arriving,
                                                                       std::size_t count) {
  using halves = short __attribute__((vector_size(16)));
  using floats = float __attribute__((vector_size(32)));
  std::size_t done = 0;
  for (; count - done >= 8; done += 8) {
    halves stored, arrived;
    std::memcpy(&stored, from + done, sizeof stored);
    std::memcpy(&arrived, arriving + done * sizeof(float16), sizeof arrived);
    const floats a = __builtin_ia32_vcvtph2ps256(stored);
    const floats b = __builtin_ia32_vcvtph2ps256(arrived);
    const floats result = std::same_as<Op, Sum> ? a + b : a * b;
    const halves rounded = __builtin_ia32_vcvtps2ph256(result, 0);  // 0: to nearest even
    std::memcpy(static_cast<void*>(to + done), &rounded, sizeof rounded);
  }
  return done;
}

template <class Op>
  requires std::same_as<Op, Sum> || std::same_as<Op, Product>
std::size_t combine_float16(const Op& /*op*/, float16* to, const float16* from, const std::byte* arriving,
                            std::size_t count) {
  return processor_has_f16c() ? combine_float16_eights<Op>(to, from, arriving, count) : 0;
}

#endif

}  // namespace hccl::inline v0::detail
