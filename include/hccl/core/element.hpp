// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a collective can move: the concept Element, and the 16-bit floating-point elements.

#include <hccl/core/bfloat16.hpp>
#include <hccl/core/float16.hpp>

#include <type_traits>

namespace hccl::inline v0 {

/// A type whose objects may travel between ranks as bytes: trivially copyable, and neither const, volatile
/// nor a pointer (an address means nothing to another rank). All ranks of a group are expected to lay it out
/// alike.
template <class T>
concept Element = std::is_object_v<T> && std::is_trivially_copyable_v<T> &&
                  std::is_same_v<T, std::remove_cv_t<T>> && !std::is_pointer_v<T> &&
                  !std::is_member_pointer_v<T>;

}  // namespace hccl::inline v0
