// SPDX-License-Identifier: Apache-2.0

// The loops of the reductions, functor by type: GB/s of arriving bytes that are combined in place, in the
// cache.

#include <hccl/core/element.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/reduction/apply.hpp>
#include <hccl/reduction/reductions.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace {

template <class T, class Op>
void add() {
  const auto run = [](benchmark::State& state) {
    constexpr std::size_t bytes = 64 << 10;
    std::vector<T> stored(bytes / sizeof(T), T(1));
    const std::vector<T> arriving(stored.size(), T(1));
    for ([[maybe_unused]] auto _ : state) {
      hccl::apply<hccl::operand_order::stored_first>(
          Op{}, stored.data(), stored.data(), std::as_bytes(std::span(arriving)).data(), stored.size());
      benchmark::ClobberMemory();
    }
    state.counters["GB"] =
        benchmark::Counter(static_cast<double>(bytes) / 1e9, benchmark::Counter::kIsIterationInvariantRate);
  };
  benchmark::RegisterBenchmark(fmt::format("{}/{}", Op::name, hccl::element_name<T>()).c_str(), run);
}

template <class Op, class... T>
void add_types() {
  (add<T, Op>(), ...);
}

template <class... Op>
void add_numeric() {
  (add_types<Op, float, double, hccl::float16, hccl::bfloat16, std::int8_t, std::int32_t, std::int64_t,
             std::uint8_t>(),
   ...);
}

template <class... Op>
void add_integral() {
  (add_types<Op, std::int8_t, std::int32_t, std::int64_t>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_numeric<hccl::Sum, hccl::Product, hccl::Min, hccl::Max, hccl::MinNumber, hccl::MaxNumber>();
  add_integral<hccl::BitAnd, hccl::BitOr, hccl::BitXor, hccl::LogicalAnd, hccl::LogicalOr, hccl::LogicalXor,
               hccl::saturating<hccl::Sum>, hccl::saturating<hccl::Product>>();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
