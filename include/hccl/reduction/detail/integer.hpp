// SPDX-License-Identifier: Apache-2.0
#pragma once

// Integer types in which arithmetic neither promotes to a signed type nor overflows.

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace hccl::inline v0::detail {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

template <class T>
concept wide_integral = std::same_as<T, int128> || std::same_as<T, uint128>;

/// An integer that counts: not bool.
template <class T>
concept number_integral = std::integral<T> && !std::same_as<T, bool>;

/// The unsigned type in which + and * on T wrap: at least unsigned int, which short operands would promote
/// past.
template <number_integral T>
using wrapping_t = typename std::conditional_t<(sizeof(T) < sizeof(unsigned)), std::type_identity<unsigned>,
                                               std::make_unsigned<T>>::type;

/// The type that holds the sum of T over any number of ranks.
template <number_integral T>
using wide_sum_t = std::conditional_t<(sizeof(T) < sizeof(std::int64_t)),
                                      std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                                      std::conditional_t<std::is_signed_v<T>, int128, uint128>>;

}  // namespace hccl::inline v0::detail
