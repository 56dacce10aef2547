// SPDX-License-Identifier: Apache-2.0
#pragma once

// The elements and reductions of the HCCL API as types.

#include "last_error.hpp"

#include <hccl/core/bfloat16.hpp>
#include <hccl/core/float16.hpp>
#include <hccl/hccl_types.h>
#include <hccl/reduction/arithmetic.hpp>
#include <hccl/reduction/min_max.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace c_api {

/// An element that is only moved.
template <HcclDataType Type, std::size_t Bytes>
struct opaque {
  static constexpr std::string_view element_name = Type == HCCL_DATA_TYPE_INT128    ? "int128"
                                                   : Type == HCCL_DATA_TYPE_HIF8    ? "hif8"
                                                   : Type == HCCL_DATA_TYPE_FP8E4M3 ? "fp8e4m3"
                                                   : Type == HCCL_DATA_TYPE_FP8E5M2 ? "fp8e5m2"
                                                                                    : "fp8e8m0";
  std::array<std::byte, Bytes> bytes;
};

/// Calls f(an element) if the type is one that can be reduced; tells whether it is.
template <class F>
bool with_number(HcclDataType type, F&& f) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return f(std::int8_t{}), true;
    case HCCL_DATA_TYPE_UINT8:
      return f(std::uint8_t{}), true;
    case HCCL_DATA_TYPE_INT16:
      return f(std::int16_t{}), true;
    case HCCL_DATA_TYPE_UINT16:
      return f(std::uint16_t{}), true;
    case HCCL_DATA_TYPE_INT32:
      return f(std::int32_t{}), true;
    case HCCL_DATA_TYPE_UINT32:
      return f(std::uint32_t{}), true;
    case HCCL_DATA_TYPE_INT64:
      return f(std::int64_t{}), true;
    case HCCL_DATA_TYPE_UINT64:
      return f(std::uint64_t{}), true;
    case HCCL_DATA_TYPE_FP16:
      return f(hccl::float16{}), true;
    case HCCL_DATA_TYPE_BFP16:
      return f(hccl::bfloat16{}), true;
    case HCCL_DATA_TYPE_FP32:
      return f(float{}), true;
    case HCCL_DATA_TYPE_FP64:
      return f(double{}), true;
    default:
      return false;
  }
}

/// Calls f(an element); tells whether there is such a type.
template <class F>
bool with_element(HcclDataType type, F&& f) {
  switch (type) {
    case HCCL_DATA_TYPE_INT128:
      return f(opaque<HCCL_DATA_TYPE_INT128, 16>{}), true;
    case HCCL_DATA_TYPE_HIF8:
      return f(opaque<HCCL_DATA_TYPE_HIF8, 1>{}), true;
    case HCCL_DATA_TYPE_FP8E4M3:
      return f(opaque<HCCL_DATA_TYPE_FP8E4M3, 1>{}), true;
    case HCCL_DATA_TYPE_FP8E5M2:
      return f(opaque<HCCL_DATA_TYPE_FP8E5M2, 1>{}), true;
    case HCCL_DATA_TYPE_FP8E8M0:
      return f(opaque<HCCL_DATA_TYPE_FP8E8M0, 1>{}), true;
    default:
      return with_number(type, f);
  }
}

/// Calls f(an element, the functor); tells whether there are such a number and such a reduction.
template <class F>
bool with_reduction(HcclDataType type, HcclReduceOp op, F&& f) {
  const auto with = [&](auto functor) {
    return with_number(type, [&](auto element) { f(element, functor); });
  };
  switch (op) {
    case HCCL_REDUCE_SUM:
      return with(hccl::Sum{});
    case HCCL_REDUCE_PROD:
      return with(hccl::Product{});
    case HCCL_REDUCE_MAX:
      return with(hccl::Max{});
    case HCCL_REDUCE_MIN:
      return with(hccl::Min{});
    default:
      return false;
  }
}

/// The bytes of an element. Throws HCCL_E_PARA if there is no such type.
inline std::size_t size_of(std::string_view argument, HcclDataType type) {
  std::size_t bytes = 0;
  if (!with_element(type, [&](auto element) { bytes = sizeof element; }))
    throw refusal(HCCL_E_PARA, argument, " is ", static_cast<int>(type), ", which is no HcclDataType");
  return bytes;
}

}  // namespace c_api
