// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/reduction/bitwise.hpp>

#include <cstddef>
#include <cstdint>

TEMPLATE_TEST_CASE("bits combine in every integer", "", std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  const auto a = static_cast<TestType>(0b0101'1100);
  const auto b = static_cast<TestType>(-86);  // ...1010'1010
  CHECK(hccl::BitAnd{}(a, b) == 0b0000'1000);
  CHECK(hccl::BitOr{}(a, b) == static_cast<TestType>(-2));
  CHECK(hccl::BitXor{}(a, b) == static_cast<TestType>(-10));
}

TEST_CASE("bits combine in bool and std::byte") {
  CHECK(hccl::BitAnd{}(true, false) == false);
  CHECK(hccl::BitOr{}(true, false) == true);
  CHECK(hccl::BitXor{}(true, true) == false);
  CHECK(hccl::BitAnd{}(std::byte{0x5c}, std::byte{0xaa}) == std::byte{0x08});
  CHECK(hccl::BitOr{}(std::byte{0x5c}, std::byte{0xaa}) == std::byte{0xfe});
  CHECK(hccl::BitXor{}(std::byte{0x5c}, std::byte{0xaa}) == std::byte{0xf6});
}
