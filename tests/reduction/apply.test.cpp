// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"

#include <hccl/reduction/reductions.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

using hccl::apply;
using hccl::operand_order;

namespace {

constexpr std::size_t guard = 64;
constexpr std::byte canary{0xa5};

/// Values that differ by index and by seed, and are exact in every type. Not a vector, which packs bool.
template <class T>
std::unique_ptr<T[]> values(std::size_t count, std::size_t seed) {
  auto result = std::make_unique<T[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = static_cast<T>(static_cast<float>((i * 7 + seed * 13) % 11));
  }
  return result;
}

/// An output of `count` elements between guard bytes.
template <class T>
class guarded {
 public:
  explicit guarded(std::size_t count) : bytes_(2 * guard + count * sizeof(T), canary), count_(count) {}

  T* data() { return reinterpret_cast<T*>(bytes_.data() + guard); }

  bool guards_hold() const {
    for (std::size_t i = 0; i < guard; ++i) {
      if (bytes_[i] != canary || bytes_[bytes_.size() - 1 - i] != canary) {
        return false;
      }
    }
    return true;
  }

  bool holds(const T* expected) const {
    return std::memcmp(bytes_.data() + guard, expected, count_ * sizeof(T)) == 0;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t count_;
};

template <operand_order Order, class T, class Op>
void check_order(const Op& op, std::size_t count) {
  const auto stored = values<T>(count, 1);
  const auto arrived = values<T>(count, 2);
  const auto expected = std::make_unique<T[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = static_cast<T>(Order == operand_order::stored_first ? op(stored[i], arrived[i])
                                                                      : op(arrived[i], stored[i]));
  }

  std::vector<std::byte> at_odd_address(count * sizeof(T) + 1);
  std::memcpy(at_odd_address.data() + 1, arrived.get(), count * sizeof(T));
  guarded<T> out{count};
  apply<Order>(op, out.data(), stored.get(), at_odd_address.data() + 1, count);
  CHECK(out.holds(expected.get()));
  CHECK(out.guards_hold());

  guarded<T> in_place{count};
  std::copy_n(stored.get(), count, in_place.data());
  apply<Order>(op, in_place.data(), in_place.data(), at_odd_address.data() + 1, count);
  CHECK(in_place.holds(expected.get()));
  CHECK(in_place.guards_hold());

  guarded<T> over_arrived{count};
  std::copy_n(arrived.get(), count, over_arrived.data());
  apply<Order>(op, over_arrived.data(), stored.get(), reinterpret_cast<const std::byte*>(over_arrived.data()),
               count);
  CHECK(over_arrived.holds(expected.get()));
  CHECK(over_arrived.guards_hold());
}

template <class T, class Op>
void check(const Op& op) {
  INFO("reduction " << hccl::reduction_name<Op>() << " of " << sizeof(T) << " bytes");
  constexpr std::size_t counts[] = {0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 300, 1000};
  for (const std::size_t count : counts) {
    INFO("count " << count);
    check_order<operand_order::stored_first, T>(op, count);
    check_order<operand_order::arriving_first, T>(op, count);
  }
}

template <class T, class... Ops>
void check_all(const Ops&... ops) {
  (check<T>(ops), ...);
}

struct affine {
  std::int32_t scale;
  std::int32_t shift;
};

/// Has no default constructor, as an element need not.
struct label {
  explicit label(int v) : value(v) {}
  int value;
};

}  // namespace

TEMPLATE_TEST_CASE("apply agrees with the functor on integers", "", std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
  check_all<TestType>(hccl::Sum{}, hccl::Product{}, hccl::Min{}, hccl::Max{}, hccl::BitAnd{}, hccl::BitOr{},
                      hccl::BitXor{}, hccl::LogicalAnd{}, hccl::LogicalOr{}, hccl::LogicalXor{},
                      hccl::saturating<hccl::Sum>{}, hccl::saturating<hccl::Product>{});
}

TEMPLATE_TEST_CASE("apply agrees with the functor on floating-point numbers", "", float, double,
                   hccl::float16, hccl::bfloat16) {
  check_all<TestType>(hccl::Sum{}, hccl::Product{}, hccl::Min{}, hccl::Max{}, hccl::MinNumber{},
                      hccl::MaxNumber{});
}

TEST_CASE("apply agrees with the functor on bool and complex numbers") {
  check_all<bool>(hccl::Sum{}, hccl::Product{}, hccl::Min{}, hccl::BitXor{}, hccl::LogicalXor{});
  check_all<std::complex<float>>(hccl::Sum{}, hccl::Product{});
  check_all<std::complex<double>>(hccl::Sum{}, hccl::Product{});
}

TEMPLATE_TEST_CASE("apply keeps the order of operands", "", std::int8_t, std::int32_t, double,
                   hccl::float16) {
  check<TestType>([](TestType a, TestType b) { return static_cast<TestType>(a - b); });
}

TEST_CASE("apply takes structs, with a functor that does not commute, and without default constructor") {
  const affine f[3] = {{2, 1}, {3, 5}, {1, 7}};
  const affine g[3] = {{5, 2}, {1, 1}, {4, 0}};
  const auto compose = [](affine a, affine b) {
    return affine{a.scale * b.scale, a.scale * b.shift + a.shift};
  };
  affine out[3] = {};
  apply<operand_order::arriving_first>(compose, out, f, reinterpret_cast<const std::byte*>(g), 3);
  CHECK(out[0].scale == 10);
  CHECK(out[0].shift == 5 * 1 + 2);
  CHECK(out[2].shift == 4 * 7 + 0);

  label labels[2] = {label{3}, label{4}};
  const label others[2] = {label{10}, label{20}};
  const auto add = [](label a, label b) { return label{a.value + b.value}; };
  apply<operand_order::stored_first>(add, labels, labels, reinterpret_cast<const std::byte*>(others), 2);
  CHECK(labels[0].value == 13);
  CHECK(labels[1].value == 24);
}

TEST_CASE("case A17: bytes of a reduced bool are 0 or 1, whatever arrives") {
  bool flags[100] = {};
  unsigned char bytes[100] = {};
  for (int i = 0; i < 100; ++i) {
    bytes[i] = static_cast<unsigned char>(i % 3 == 0 ? 0 : i);
  }
  apply<operand_order::stored_first>(hccl::Sum{}, flags, flags, reinterpret_cast<const std::byte*>(bytes),
                                     100);
  unsigned char result[100];
  std::memcpy(result, flags, 100);
  for (int i = 0; i < 100; ++i) {
    CHECK(int{result[i]} == (i % 3 == 0 ? 0 : 1));
  }
}

TEMPLATE_TEST_CASE("the loop over 16-bit numbers gives the bits of the functor for every operand", "",
                   hccl::float16, hccl::bfloat16) {
  constexpr std::size_t count = 65536;
  std::vector<TestType> stored(count), arrived(count), sums(count), products(count);
  const auto is_nan = [](TestType x) { return x != x; };
  int wrong = 0;
  for (std::size_t turn = 0; turn < 16; ++turn) {
    for (std::size_t i = 0; i < count; ++i) {
      stored[i] = TestType::from_bits(static_cast<std::uint16_t>(i));
      arrived[i] = TestType::from_bits(static_cast<std::uint16_t>(i * 40503 + turn * 4099));
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(arrived.data());
    apply<operand_order::stored_first>(hccl::Sum{}, sums.data(), stored.data(), bytes, count);
    apply<operand_order::stored_first>(hccl::Product{}, products.data(), stored.data(), bytes, count);
    for (std::size_t i = 0; i < count; ++i) {
      const TestType sum{float{stored[i]} + float{arrived[i]}};
      const TestType product{float{stored[i]} * float{arrived[i]}};
      wrong += !(is_nan(sum) ? is_nan(sums[i]) : sum.bits() == sums[i].bits());
      wrong += !(is_nan(product) ? is_nan(products[i]) : product.bits() == products[i].bits());
    }
  }
  CHECK(wrong == 0);
}
