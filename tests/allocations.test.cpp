// SPDX-License-Identifier: Apache-2.0

// Replaces operator new of the whole program by one that counts.

#include "allocations.hpp"

#include "test.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

namespace {

thread_local std::size_t allocations = 0;

void* try_to_allocate(std::size_t size, std::size_t alignment) noexcept {
  ++allocations;
  const std::size_t padded = (size + alignment) / alignment * alignment;  // not zero, a multiple
  return std::aligned_alloc(alignment, padded);
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (void* const memory = try_to_allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

// Not inlined: g++ takes a call of free in place of delete for a mistake.
[[gnu::noinline]] void release(void* memory) noexcept { std::free(memory); }

}  // namespace

void* operator new(std::size_t size) { return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
// Those of a sanitizer would not call the first.
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return try_to_allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

std::size_t hccl_test::allocations_of_this_thread() noexcept { return allocations; }

TEST_CASE("the allocations of a thread are counted") {
  struct alignas(256) Page {
    char bytes[256];
  };
  const std::size_t before = hccl_test::allocations_of_this_thread();
  const auto one = std::make_unique<int>(1);
  const auto several = std::make_unique<int[]>(100);
  const auto aligned = std::make_unique<Page>();
  CHECK(hccl_test::allocations_of_this_thread() == before + 3);

  std::unique_ptr<int> other;
  std::thread([&] { other = std::make_unique<int>(2); }).join();
  CHECK(hccl_test::allocations_of_this_thread() <= before + 4);  // the thread's own state
}
