// SPDX-License-Identifier: Apache-2.0

#include "reduction/fold.hpp"
#include "test.hpp"

#include <hccl/reduction/reductions.hpp>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace {

struct affine {
  std::int64_t scale;
  std::int64_t shift;
};

struct Compose {
  static constexpr bool is_commutative = false;
  constexpr affine operator()(affine f, affine g) const {
    return {f.scale * g.scale, f.scale * g.shift + f.shift};
  }
};

struct Last {
  template <class T>
  constexpr T operator()(T, T b) const {
    return b;
  }
};

/// Lifted, without templates: the mean of squares, whose sum travels as double.
struct MeanSquare {
  template <class T>
  using accumulator = double;
  double operator()(double a, double b) const { return a + b; }
  double prepare(int x, int) const { return double{1} * x * x; }
  int finish(double sum, int ranks) const { return static_cast<int>(sum / ranks); }
};

struct mutable_only {
  int operator()(int a, int b) { return a + b; }
};

struct not_an_element {
  not_an_element(const not_an_element& other) : text{other.text} {}
  std::string text;
};

constexpr auto larger = [](float a, float b) { return a > b ? a : b; };

}  // namespace

template <>
inline constexpr bool hccl::commutative<Last> = false;

static_assert(hccl::commutative<hccl::Sum> && hccl::commutative<hccl::MaxLoc> &&
              hccl::commutative<hccl::Average>);
static_assert(hccl::commutative<decltype(larger)>);
static_assert(!hccl::commutative<Compose> && !hccl::commutative<Last>);
static_assert(!hccl::commutative<hccl::accumulate_in<float, Last>>);

static_assert(hccl::Reduction<hccl::Sum, int> && hccl::Reduction<hccl::Sum, std::complex<float>>);
static_assert(hccl::Reduction<hccl::Sum, bool> && hccl::Reduction<hccl::Sum, hccl::float16>);
static_assert(hccl::Reduction<decltype(larger), float> && hccl::Reduction<decltype(larger), hccl::float16>);
static_assert(hccl::Reduction<Compose, affine> && hccl::Reduction<MeanSquare, int>);
static_assert(hccl::Reduction<hccl::MinLoc, hccl::value_and_index<double>>);
static_assert(!hccl::Reduction<hccl::Sum, affine> && !hccl::Reduction<hccl::MinLoc, double>);
static_assert(!hccl::Reduction<hccl::BitAnd, float> && !hccl::Reduction<hccl::Min, std::complex<float>>);
static_assert(!hccl::Reduction<mutable_only, int> && !hccl::Reduction<Last, not_an_element>);
static_assert(!hccl::Reduction<hccl::Average, bool> && !hccl::Reduction<hccl::Average, affine>);
static_assert(!hccl::Reduction<hccl::PreMulSum<float>, int> && hccl::Reduction<hccl::PreMulSum<int>, int>);
static_assert(hccl::check_reduction<hccl::Average, std::int8_t>() &&
              hccl::check_reduction<Compose, affine>());

static_assert(!hccl::is_lifted<hccl::Sum, float> && !hccl::is_lifted<Compose, affine>);
static_assert(!hccl::is_lifted<decltype(larger), float>);
static_assert(hccl::is_lifted<hccl::Average, float> && hccl::is_lifted<hccl::PreMulSum<float>, float>);
static_assert(hccl::is_lifted<MeanSquare, int> &&
              hccl::is_lifted<hccl::accumulate_in<float, hccl::Sum>, hccl::float16>);

static_assert(std::is_same_v<hccl::accumulator_t<hccl::Sum, hccl::bfloat16>, hccl::bfloat16>);
static_assert(std::is_same_v<hccl::accumulator_t<hccl::accumulate_in<float>, hccl::bfloat16>, float>);
static_assert(std::is_same_v<hccl::accumulator_t<hccl::Average, std::int8_t>, std::int64_t>);
static_assert(sizeof(hccl::accumulator_t<hccl::Average, std::uint64_t>) == 16);

static_assert(hccl::reduction_name<hccl::Sum>() == "Sum" &&
              hccl::reduction_name<hccl::PreMulSum<float>>() == "PreMulSum");
static_assert(hccl::reduction_name<hccl::saturating<hccl::Sum>>() == "saturating<Sum>");
static_assert(hccl::reduction_name<decltype(larger)>() == "custom");

TEST_CASE("a functor with its own accumulator is prepared, combined and finished") {
  CHECK(fold(MeanSquare{}, std::vector{1, 2, 3, 4}) == 7);
  CHECK(fold(MeanSquare{}, std::vector{-5}) == 25);
}

TEST_CASE("a functor without prepare and finish reduces the elements themselves") {
  CHECK(fold(larger, std::vector{1.0f, 4.0f, 2.0f}) == 4.0f);
  CHECK(fold(Last{}, std::vector{1, 2, 3}) == 3);
  const affine result = fold(Compose{}, std::vector<affine>{{2, 1}, {3, 5}, {1, 7}});
  CHECK(result.scale == 6);
  CHECK(result.shift == 53);
}
