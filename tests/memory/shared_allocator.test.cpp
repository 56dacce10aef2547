// SPDX-License-Identifier: Apache-2.0

#include "collective/errors.hpp"
#include "test.hpp"

#include <hccl/memory/shared_allocator.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

using hccl::SharedAllocator, hccl::shared_vector;
using hccl_test::outcome_of;

namespace {

auto descriptors() { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); }

auto& blocks() { return hccl::detail::shared_blocks::of_process(); }

}  // namespace

TEST_CASE("a shared vector is a vector") {
  shared_vector<int> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  numbers.push_back(-1);
  const shared_vector<int> copy = numbers;
  const shared_vector<int> moved = std::move(numbers);
  CHECK(copy == moved);
  CHECK(copy[9'999] == 9'999);
  CHECK(reinterpret_cast<std::uintptr_t>(copy.data()) % 4096 == 0);
}

TEST_CASE("shared memory and its descriptors go with the vector") {
  const auto before = descriptors();
  for (int i = 0; i < 200; ++i) {
    const shared_vector<double> one(1), many(100'000);
    CHECK(descriptors() == before + 2);
  }
  CHECK(descriptors() == before);
}

TEST_CASE("memory is found in the block that holds all of it, and nowhere else") {
  const shared_vector<int> vector(5000);
  const std::span<const std::byte> all = std::as_bytes(std::span(vector));
  CHECK(blocks().find(all)->offset == 0);
  CHECK(blocks().find(all.subspan(400, 8))->offset == 400);
  CHECK(blocks().find(all.last(1))->offset == all.size() - 1);
  CHECK(!blocks().find({all.data(), all.size() + 1}));
  CHECK(!blocks().find({all.data() - 1, 1}));
  CHECK(blocks().find({})->file == 0);
  const std::vector<std::byte> other(100);
  CHECK(!blocks().find(other));
}

TEST_CASE("a forked process shares the memory with its parent") {
  shared_vector<int> vector(3);
  const auto child = ::fork();
  if (child == 0) {
    vector[1] = 42;
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(vector == shared_vector<int>{0, 42, 0});
}

TEST_CASE("more shared memory than there is is an error that tells what is needed") {
  const auto before = descriptors();
  constexpr std::size_t petabyte = std::size_t{1} << 50;
  const auto failure = outcome_of([] { SharedAllocator<std::byte>().allocate(petabyte); });
  CHECK(failure.is(hccl::errc::out_of_memory));
  CHECK(failure.says("needs 1125899906842624 bytes"));
  CHECK_THROWS_AS(SharedAllocator<int>().allocate(std::numeric_limits<std::size_t>::max()),
                  std::bad_array_new_length);
  CHECK(descriptors() == before);
}
