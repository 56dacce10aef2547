// SPDX-License-Identifier: Apache-2.0

#include "allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;

void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  ++count;
  return std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
}

void* not_null(void* place) {
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace

std::size_t hccl_test::allocations_of_this_thread() { return count; }

// The standard library's other forms call these.
void* operator new(std::size_t size) { return not_null(allocate(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return not_null(allocate(size, static_cast<std::size_t>(alignment)));
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
