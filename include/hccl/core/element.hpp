// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a collective can move: the concept Element, and the 16-bit floating-point elements.

#include <hccl/core/bfloat16.hpp>
#include <hccl/core/float16.hpp>

#include <complex>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace hccl::inline v0 {

/// A type whose objects may travel between ranks as bytes: trivially copyable, and neither const, volatile
/// nor a pointer (an address means nothing to another rank). All ranks of a group are expected to lay it out
/// alike.
template <class T>
concept Element =
    std::is_object_v<T> && std::is_trivially_copyable_v<T> && std::is_same_v<T, std::remove_cv_t<T>> &&
    !std::is_pointer_v<T> && !std::is_member_pointer_v<T>;

/// How an element is called in messages; builtin kinds are told apart by name, others by size, and by the name that
/// they give themselves: `static constexpr std::string_view element_name`.
template <class T>
constexpr std::string_view element_name() {
  if constexpr (requires { std::string_view(T::element_name); }) return T::element_name;
  if constexpr (std::same_as<T, bool>) return "bool";
  if constexpr (std::same_as<T, float16>) return "float16";
  if constexpr (std::same_as<T, bfloat16>) return "bfloat16";
  if constexpr (std::is_integral_v<T>) {
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return is_signed ? "int8" : "uint8";
    if constexpr (sizeof(T) == 2) return is_signed ? "int16" : "uint16";
    if constexpr (sizeof(T) == 4) return is_signed ? "int32" : "uint32";
    if constexpr (sizeof(T) == 8) return is_signed ? "int64" : "uint64";
  }
  if constexpr (std::same_as<T, float>) return "float";
  if constexpr (std::same_as<T, double>) return "double";
  if constexpr (std::same_as<T, std::complex<float>>) return "complex<float>";
  if constexpr (std::same_as<T, std::complex<double>>) return "complex<double>";
  return "struct";
}

}  // namespace hccl::inline v0
