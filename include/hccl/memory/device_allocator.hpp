// SPDX-License-Identifier: Apache-2.0
#pragma once

// What hccl asks of an allocator of memory, also of such as only a device reaches.

#include <concepts>
#include <cstddef>

namespace hccl::inline v0 {

/// Who reaches memory: programs on the host, or only a device and copies to and from it.
enum class memory_kind { host, device };

/// Between which kinds of memory bytes are copied.
enum class copy_direction { host_to_host, host_to_device, device_to_host, device_to_device };

/// Allocates memory of one kind, and copies bytes to, from and within it.
///
/// `allocate(bytes)` returns memory that is aligned to `alignment` and has any contents; it throws `hccl::error` or
/// `std::bad_alloc` if there is none. `deallocate(memory, bytes)` takes back what it gave. `copy(to, from, bytes,
/// direction)` is complete when it returns; the two ranges do not overlap. All objects of a type are equal: one takes back
/// what another gave. Memory of a device belongs to the one that is current in the thread.
///
/// An allocator of device memory may have a type `copies`, a `copy_engine`, default-constructible, with which transfers
/// run beside other work.
template <class A>
concept DeviceAllocator =
    std::default_initializable<A> && std::copyable<A> &&
    requires(A& a, void* to, const void* from, std::size_t bytes, copy_direction direction) {
      { a.allocate(bytes) } -> std::same_as<void*>;
      { a.deallocate(to, bytes) } noexcept;
      a.copy(to, from, bytes, direction);
      { A::kind } -> std::convertible_to<memory_kind>;
      { A::alignment } -> std::convertible_to<std::size_t>;
    };

/// Explains in one sentence each what a type lacks to be a `DeviceAllocator`. Call it beside your own.
template <class A>
consteval bool check_device_allocator() {
  static_assert(std::default_initializable<A> && std::copyable<A>,
                "hccl: an allocator of memory must be default-constructible and copyable");
  static_assert(
      requires(A& a, std::size_t bytes) {
        { a.allocate(bytes) } -> std::same_as<void*>;
      }, "hccl: an allocator of memory needs `void* allocate(std::size_t bytes)`");
  static_assert(
      requires(A& a, void* memory, std::size_t bytes) {
        { a.deallocate(memory, bytes) } noexcept;
      }, "hccl: an allocator of memory needs `void deallocate(void*, std::size_t bytes) noexcept`");
  static_assert(
      requires(A& a, void* to, const void* from, std::size_t bytes, copy_direction direction) {
        a.copy(to, from, bytes, direction);
      },
      "hccl: an allocator of memory needs `copy(void* to, const void* from, std::size_t bytes, "
      "hccl::copy_direction)`");
  static_assert(
      requires {
        { A::kind } -> std::convertible_to<memory_kind>;
        { A::alignment } -> std::convertible_to<std::size_t>;
      },
      "hccl: an allocator of memory needs `static constexpr hccl::memory_kind kind` and `static constexpr "
      "std::size_t "
      "alignment`");
  return DeviceAllocator<A>;
}

}  // namespace hccl::inline v0
