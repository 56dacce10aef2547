// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arguments of collectives: what counts as a buffer, and the errors that name what is wrong with one.

#include <hccl/collective/shares.hpp>
#include <hccl/core/detail/function_ref.hpp>
#include <hccl/core/element.hpp>
#include <hccl/core/error.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/device_span.hpp>
#include <hccl/memory/host_allocator.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

/// Sorts indices. `less(a, b)` tells which one comes first.
inline void sort_indices(std::vector<std::size_t>& indices,
                         function_ref<bool(std::size_t, std::size_t)> less) {
  std::sort(indices.begin(), indices.end(), less);
}

/// Anything with elements side by side in memory: a vector, an array, a span; a device_buffer, a device_span.
template <class R>
concept Buffer = requires(R& range) {
  std::ranges::data(range);
  std::ranges::size(range);
};

template <class R>
struct memory_of_buffer {
  using type = HostAllocator;
};
template <class R>
  requires(R::memory::kind == memory_kind::device)
struct memory_of_buffer<R> {
  using type = typename R::memory;
};

/// Whose memory a buffer is: HostAllocator of everything that the host reaches.
template <class R>
using memory_t = typename memory_of_buffer<std::remove_cvref_t<R>>::type;

/// A buffer of a device.
template <class R>
concept DeviceBuffer = !std::same_as<memory_t<R>, HostAllocator>;

/// Elements that go through the host, since the transport does not reach the device that they are on.
template <class Net, class Memory>
inline constexpr bool is_staged = Memory::kind == memory_kind::device && !DeviceTransport<Net>;

/// Fails to compile, with a sentence, for buffers that the transport cannot take.
template <class Net, class Memory>
consteval bool check_memory() {
  if constexpr (DeviceTransport<Net>) {
    static_assert(std::same_as<Memory, typename Net::allocator>,
                  "hccl: this transport moves memory of devices; pass a device_buffer or a device_span of "
                  "its allocator");
  }
  return true;
}

/// Anything that may stand where an operation does, and is no buffer: an array decays to a pointer there.
template <class Op>
concept Callable = !Buffer<Op> && (std::is_class_v<Op> || std::is_function_v<std::remove_pointer_t<Op>>);

template <Buffer R>
using buffer_element =
    std::remove_cv_t<std::remove_pointer_t<decltype(std::ranges::data(std::declval<R&>()))>>;

/// The element of a call: the one that the user spelled out, or that of the buffer.
template <class T, Buffer R>
using element_t = std::conditional_t<std::is_void_v<T>, buffer_element<R>, T>;

template <class T, Buffer R>
consteval bool check_buffer() {
  static_assert(std::is_same_v<T, buffer_element<R>>,
                "hccl: the buffer holds elements of another type than the collective was called for");
  static_assert(Element<T>, "hccl: the element must be trivially copyable, and neither const nor a pointer");
  static_assert(alignof(T) <= HostAllocator::alignment && alignof(T) <= memory_t<R>::alignment,
                "hccl: the element must be aligned to at most 4096 bytes, and to what its device aligns to");
  return true;
}

template <class In, class Out>
consteval bool check_same_memory() {
  static_assert(
      std::same_as<memory_t<In>, memory_t<Out>>,
      "hccl: input and output are of different memory; expected both on the host, or both on the device");
  return true;
}

/// Elements of a buffer, as a span of its memory.
template <class T, class R>
using span_of = std::conditional_t<DeviceBuffer<R>, device_span<T, memory_t<R>>, std::span<T>>;

template <class T, class Net>
struct span_for_transport {
  using type = std::span<T>;
};
template <class T, DeviceTransport Net>
struct span_for_transport<T, Net> {
  using type = device_span<T, typename Net::allocator>;
};

/// A span of memory that a transport reaches.
template <class T, class Net>
using span_for = typename span_for_transport<T, Net>::type;

/// The elements of a buffer that is read; none on a rank that does not use it.
template <class T, Buffer R>
span_of<const T, R> input_span(R&& range, bool is_used = true) {
  static_assert(check_buffer<T, R>());
  if (!is_used) return {};
  return {std::ranges::data(range), std::ranges::size(range)};
}

/// The elements of a buffer that is written.
template <class T, Buffer R>
span_of<T, R> output_span(R&& range, bool is_used = true) {
  static_assert(check_buffer<T, R>());
  static_assert(!std::is_const_v<std::remove_pointer_t<decltype(std::ranges::data(range))>>,
                "hccl: the output buffer is const; it is written to");
  if (!is_used) return {};
  return {std::ranges::data(range), std::ranges::size(range)};
}

/// A buffer without its owner.
template <Buffer R>
auto view_of(R& range) {
  return span_of<std::remove_pointer_t<decltype(std::ranges::data(range))>, R>(std::ranges::data(range),
                                                                               std::ranges::size(range));
}

template <class T>
std::span<const std::byte> bytes_of(std::span<T> elements) {
  return std::as_bytes(elements);
}
template <class T, class Memory>
std::span<const std::byte> bytes_of(device_span<T, Memory> elements) {
  return {reinterpret_cast<const std::byte*>(elements.data()), elements.size_bytes()};
}

template <class T>
std::span<std::byte> writable_bytes_of(std::span<T> elements) {
  return std::as_writable_bytes(elements);
}
template <class T, class Memory>
std::span<std::byte> writable_bytes_of(device_span<T, Memory> elements) {
  return {reinterpret_cast<std::byte*>(elements.data()), elements.size_bytes()};
}

/// Checks the arguments of one call on one rank. Every check throws `invalid_argument` and names the
/// collective, the rank, the argument and both values.
class arguments {
 public:
  arguments(std::string_view collective, int rank, int size)
      : collective_(collective), rank_(rank), size_(size) {}

  void root(int root) const { is_rank("root", root); }

  void is_rank(std::string_view argument, int value) const {
    if (value >= 0 && value < size_) return;
    fail(argument, concat(" is ", value, ", expected a rank from 0 to ", size_ - 1));
  }

  void count(std::string_view argument, std::size_t actual, std::size_t expected) const {
    if (actual == expected) return;
    fail(argument, concat(" has ", actual, " elements, expected ", expected));
  }

  void multiple_of_size(std::string_view argument, std::size_t actual) const {
    if (actual % static_cast<std::size_t>(size_) == 0) return;
    fail(argument, concat(" has ", actual, " elements, expected a multiple of the ", size_, " ranks"));
  }

  void not_null(std::string_view argument, const auto& buffer, std::size_t element_size = 1) const {
    if (buffer.data() != nullptr || buffer.empty()) return;
    fail(argument, concat(" is null, expected ", buffer.size() / element_size, " elements"));
  }

  /// Two buffers are apart, or `in` begins exactly at element `offset` of `out`: in place.
  void in_place_or_apart(const auto& in, const auto& out, std::ptrdiff_t offset = 0) const {
    if (!overlap(in, out)) return;
    const auto distance = static_cast<std::ptrdiff_t>(begin(in) - begin(out));
    const auto in_place = offset * static_cast<std::ptrdiff_t>(sizeof(*out.data()));
    if (distance == in_place) return;
    fail("input", concat(" overlaps the output and begins ", distance,
                         " bytes from its beginning; in place it begins ", in_place,
                         " bytes from it, otherwise the two are apart"));
  }

  void apart(const auto& out, const auto& in) const {
    if (overlap(out, in))
      fail("in", concat(" overlaps out, expected ", in.size(), " elements apart from it"));
  }

  /// Two buffers are the same one, or apart.
  void same_or_apart(const auto& in, const auto& out) const {
    if (begin(in) == begin(out) || !overlap(in, out)) return;
    fail("input", " overlaps the output; expected the two apart, or to begin with the same element");
  }

  /// `parts` has a share for each rank, all of which lie within `buffer` elements.
  void fit(std::string_view argument, const shares& parts, std::size_t buffer) const {
    const auto ranks = static_cast<std::size_t>(size_);
    if (parts.counts().size() != ranks)
      fail(argument,
           concat(" has ", parts.counts().size(), " counts, expected one for each of ", ranks, " ranks"));
    if (parts.has_offsets() && parts.offsets().size() != ranks) {
      fail(argument,
           concat(" has ", parts.offsets().size(), " offsets, expected one for each of ", ranks, " ranks"));
    }
    std::size_t end = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t begin = parts.has_offsets() ? parts.offsets()[r] : end;
      const std::size_t count = parts.counts()[r];
      end = begin + count;
      if (count > 0 && (begin > buffer || count > buffer - begin)) {
        fail(argument, concat(": share ", r, " has ", count, " elements from element ", begin,
                              " on, expected them within the ", buffer, " of the buffer"));
      }
    }
  }

  /// No two shares have an element in common. `order` is working memory.
  void disjoint(std::string_view argument, const shares& parts, std::vector<std::size_t>& order) const {
    if (!parts.has_offsets()) return;
    order.clear();
    for (std::size_t r = 0; r < parts.counts().size(); ++r) {
      if (parts.counts()[r] > 0) order.push_back(r);
    }
    sort_indices(order,
                 [&](std::size_t a, std::size_t b) { return parts.offsets()[a] < parts.offsets()[b]; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::size_t before = order[i - 1], after = order[i];
      if (parts.offsets()[before] + parts.counts()[before] <= parts.offsets()[after]) continue;
      fail(argument, concat(": share ", before, " overlaps share ", after,
                            "; expected shares apart, since each is written"));
    }
  }

  [[noreturn]] void fail(std::string_view argument, std::string_view what) const {
    throw error(errc::invalid_argument, concat("rank ", rank_, ": ", collective_, ": ", argument, what),
                rank_);
  }

 private:
  static std::uintptr_t begin(const auto& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); }

  static bool overlap(const auto& a, const auto& b) {
    return !a.empty() && !b.empty() && begin(a) < begin(b) + b.size_bytes() &&
           begin(b) < begin(a) + a.size_bytes();
  }

  std::string_view collective_;
  int rank_;
  int size_;
};

}  // namespace hccl::inline v0::detail
