// SPDX-License-Identifier: Apache-2.0

// The numeric contract: the same bits on all ranks and in every run, rank order, exact accumulation.

#include "collective/matrix.hpp"
#include "reference.hpp"
#include "require.hpp"
#include "test.hpp"

#include <hccl/collectives.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace hccl;

namespace {

using Comm = communicator<LocalTransport>;

using hccl_test::require;

/// A sum that depends on the order: large numbers that cancel, and small ones.
std::vector<float> cancelling(int rank, std::size_t count) {
  constexpr float pattern[] = {1e8f, 1.0f, -1e8f, 0.3f, 3e7f, -0.7f, 1e-3f};
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = pattern[(static_cast<std::size_t>(rank) + i) % 7] + static_cast<float>(i);
  return values;
}

/// The allreduce of `data` is the same bytes on all ranks; returns them.
template <class A, class T, class Op = Sum>
std::vector<T> identical_allreduce(Comm& comm, std::vector<T> data, Op op = {}) {
  allreduce<T, Op, A>(comm, data, op);
  std::vector<T> all(data.size() * static_cast<std::size_t>(comm.size()));
  allgather(comm, data, all);
  for (int rank = 0; rank < comm.size(); ++rank) {
    require(std::memcmp(all.data() + static_cast<std::size_t>(rank) * data.size(), data.data(),
                        data.size() * sizeof(T)) == 0,
            detail::concat(A::name, ": rank ", rank, " has other bits than rank ", comm.rank()));
  }
  return data;
}

/// Composition of x -> slope * x + offset modulo 2^32 is associative and does not commute.
struct Map {
  std::uint32_t slope, offset;
};
struct Compose {
  static constexpr bool is_commutative = false;
  Map operator()(Map f, Map g) const { return {f.slope * g.slope, f.offset * g.slope + g.offset}; }
};

}  // namespace

TEST_CASE("case A8: all ranks end with the same bits, in every run") {
  std::map<std::string, std::vector<float>> first_run;
  for (int run = 0; run < 3; ++run) {
    for (const int ranks : {2, 3, 4, 5, 7, 8}) {
      run_local(ranks, [&](Comm& comm) {
        for (const std::size_t count : {1u, 3u, 100u, 5000u}) {
          hccl_test::for_each_algorithm([&]<class A>() {
            const auto bits = identical_allreduce<A>(comm, cancelling(comm.rank(), count));
            if (comm.rank() != 0) return;
            const auto& before =
                first_run.emplace(detail::concat(A::name, '/', ranks, '/', count), bits).first->second;
            require(std::memcmp(before.data(), bits.data(), count * sizeof(float)) == 0,
                    detail::concat(A::name, ": other bits in run ", run));
          });
        }
      });
    }
  }
  std::size_t algorithms = 0;
  hccl_test::for_each_algorithm([&]<class A>() { ++algorithms; });
  CHECK(first_run.size() == 6 * 4 * algorithms);
}

TEST_CASE("case A8: what one rank gets has the same bits in every run") {
  std::map<std::string, std::vector<float>> first_run;
  std::mutex mutex;
  for (int run = 0; run < 3; ++run) {
    for (const int ranks : {2, 3, 5, 8}) {
      run_local(ranks, [&](Comm& comm) {
        const auto in = cancelling(comm.rank(), 1000 * static_cast<std::size_t>(ranks));
        const auto same = [&](std::string_view what, std::string_view algorithm, auto&& call) {
          std::vector<float> out(in.size(), 0.0f);
          call(std::span(out));
          const std::lock_guard lock(mutex);
          const auto key = detail::concat(what, '/', algorithm, '/', ranks, '/', comm.rank());
          const auto& before = first_run.emplace(key, out).first->second;
          require(std::memcmp(before.data(), out.data(), out.size() * sizeof(float)) == 0,
                  detail::concat(key, ": other bits in run ", run));
        };
        hccl_test::for_each_algorithm<Reduce>([&]<class A>() {
          same("reduce", A::name, [&](auto out) { reduce<float, Sum, A>(comm, in, out, 1); });
        });
        hccl_test::for_each_algorithm<ReduceScatter>([&]<class A>() {
          same("reduce_scatter", A::name,
               [&](auto out) { reduce_scatter<float, Sum, A>(comm, in, out.first(1000)); });
        });
        hccl_test::for_each_algorithm<Scan>(
            [&]<class A>() { same("scan", A::name, [&](auto out) { scan<float, Sum, A>(comm, in, out); }); });
        hccl_test::for_each_algorithm<ExScan>([&]<class A>() {
          same("exscan", A::name, [&](auto out) { exscan<float, Sum, A>(comm, in, out); });
        });
      });
    }
  }
  CHECK(first_run.size() > 500);
}

/// The schedules that have the lowest price for an allreduce of floats, from 1 to `most` elements: a rule for each.
tuning cheapest_schedules(int ranks, std::size_t most) {
  detail::chooser choices;
  const auto chosen = [&](std::size_t count) {
    return choices.by_price<AllReduce>({group(ranks), count * sizeof(float), LocalTransport::link, true})
        .chosen->algorithm;
  };
  tuning rules;
  // Prices are linear, so that an algorithm is cheapest in one range of sizes.
  const auto search = [&](auto&& self, std::size_t low, std::size_t high) -> void {
    if (chosen(low) == chosen(high)) return;
    if (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      self(self, low, middle);
      self(self, middle, high);
      return;
    }
    const std::size_t begin = rules.empty() ? 0 : rules.back().end_bytes;
    rules.push_back(
        {.algorithm = std::string(chosen(low)), .min_bytes = begin, .end_bytes = high * sizeof(float)});
  };
  search(search, 1, most);
  rules.push_back(
      {.algorithm = std::string(chosen(most)), .min_bytes = rules.empty() ? 0 : rules.back().end_bytes});
  return rules;
}

/// An allreduce of floats by these rules has the same bits for these numbers of elements as for one fewer.
void check_bits_at(const std::vector<std::size_t>& points, int ranks, const tuning& rules) {
  CHECK_NOTHROW(run_local(ranks, [&](Comm& comm) {
    comm.set_tuning(rules);
    for (const std::size_t point : points) {
      const auto same = [&](const char* what, const auto& below, const auto& above) {
        require(std::memcmp(below.data(), above.data(), below.size() * sizeof(below[0])) == 0,
                detail::concat(what, ": other bits for ", point, " elements than for one fewer"));
      };
      const auto both = [&]<class A, class T, class Op>(const char* what, std::vector<T> data, Op op) {
        const std::vector<T> fewer(data.begin(), data.end() - 1);
        same(what, identical_allreduce<A>(comm, fewer, op), identical_allreduce<A>(comm, data, op));
      };
      std::vector<float> whole(point);  // whose sums are exact
      std::vector<std::uint32_t> wrapping(point);
      for (std::size_t i = 0; i < point; ++i) {
        whole[i] = hccl_test::value<float>(comm.rank(), i);
        wrapping[i] = hccl_test::value<std::uint32_t>(comm.rank(), i);
      }
      const auto rounded = cancelling(comm.rank(), point);
      both.template operator()<Auto>("Sum of whole numbers", whole, Sum{});
      both.template operator()<Auto>("Sum of integers", wrapping, Sum{});
      both.template operator()<Auto>("Max", rounded, Max{});
      both.template operator()<Reproducible>("Reproducible", rounded, Sum{});
    }
  }));
}

TEST_CASE("case A36: bits are equal on both sides of every switch point of Auto") {
  std::size_t switches = 0;
  for (const int ranks : {2, 3, 4, 7, 8}) {
    const tuning rules = cheapest_schedules(ranks, 1 << 20);
    std::vector<std::size_t> points;
    for (std::size_t i = 1; i < rules.size(); ++i) points.push_back(rules[i].min_bytes / sizeof(float));
    switches += points.size();
    check_bits_at(points, ranks, rules);

    std::vector<std::size_t> of_direct;
    for (const std::size_t bytes : hccl_test::switch_points_of_direct(ranks)) {
      for (std::size_t more = 0; more < 3; ++more) of_direct.push_back(bytes / sizeof(float) + more);
    }
    check_bits_at(of_direct, ranks, {});
  }
  CHECK(switches >= 5);
}

TEST_CASE("case A9: the same result everywhere for integers too") {
  for (const int ranks : {2, 3, 5, 8}) {
    CHECK_NOTHROW(run_local(ranks, [&](Comm& comm) {
      hccl_test::for_each_algorithm([&]<class A>() {
        std::vector<int> data(97);
        for (std::size_t i = 0; i < data.size(); ++i) data[i] = comm.rank() * 1000 + static_cast<int>(i);
        const auto sum = identical_allreduce<A>(comm, data);
        for (std::size_t i = 0; i < sum.size(); ++i) {
          require(sum[i] == 1000 * ranks * (ranks - 1) / 2 + ranks * static_cast<int>(i), "wrong sum");
        }
      });
    }));
  }
}

TEST_CASE("case A16: int8 sums wrap, saturate or are averaged, as asked") {
  run_local(2, [](Comm& comm) {
    const auto ask = [&](auto op) {
      std::int8_t value[] = {static_cast<std::int8_t>(comm.rank() == 0 ? 100 : 120)};
      allreduce(comm, value, op);
      return static_cast<int>(value[0]);
    };
    require(ask(Sum{}) == -36, "Sum does not wrap");
    require(ask(saturating<Sum>{}) == 127, "saturating<Sum> does not clamp");
    require(ask(Average{}) == 110, "Average overflows");
  });
  SUCCEED();
}

TEST_CASE(
    "case A16: a checked sum that does not fit is an error with the index, on every rank that gets it") {
  for (const int ranks : {1, 2, 5}) {
    std::atomic<int> told = 0;
    const auto each_index = [&]<class A>() {
      run_local(ranks, [&](Comm& comm) {
        std::vector<std::int8_t> data(300, std::int8_t{1});
        allreduce<std::int8_t, checked<Sum>, A>(comm, data);
        require(std::ranges::all_of(data, [&](int x) { return x == ranks; }), "wrong sum");
        data.assign(300, std::int8_t{0});
        data[257] = comm.rank() == 0 ? 100 : 120;
        try {
          allreduce<std::int8_t, checked<Sum>, A>(comm, data);
          require(comm.size() == 1, "no error");
        } catch (const std::exception& e) {
          require(
              std::string_view(e.what()).find("output[257]: the sum does not fit") != std::string_view::npos,
              e.what());
          ++told;
        }
      });
    };
    hccl_test::for_each_algorithm(each_index);
    CHECK(told % ranks == 0);
    CHECK((told > 0) == (ranks > 1));
  }
}

TEST_CASE("case A17: bool Sum is or, Product is and, and only 0 and 1 come out") {
  for (int ranks = 2; ranks <= 5; ++ranks) {
    run_local(ranks, [&](Comm& comm) {
      const bool in[] = {true, false, comm.rank() == 1, comm.rank() != 1};
      bool any[4], every[4];
      allreduce(comm, in, any);
      allreduce<bool, Product>(comm, in, every);
      const unsigned char wanted_any[] = {1, 0, 1, 1}, wanted_every[] = {1, 0, 0, 0};
      require(std::memcmp(any, wanted_any, 4) == 0, "Sum of bool is not or");
      require(std::memcmp(every, wanted_every, 4) == 0, "Product of bool is not and");
    });
  }
  SUCCEED();
}

TEST_CASE("case A20: 16-bit elements lose nothing when a float accumulates") {
  run_local(9, [](Comm& comm) {
    hccl_test::for_each_algorithm([&]<class A>() {
      bfloat16 brain[] = {bfloat16(comm.rank() == 0 ? 256.0f : 1.0f)};
      float16 half[] = {float16(comm.rank() == 0 ? 2048.0f : 1.0f)};
      allreduce<bfloat16, accumulate_in<float, Sum>, A>(comm, brain);
      allreduce<float16, accumulate_in<float, Sum>, A>(comm, half);
      require(static_cast<float>(brain[0]) == 264.0f, "bfloat16: 256 and 8 ones are not 264");
      require(static_cast<float>(half[0]) == 2056.0f, "float16: 2048 and 8 ones are not 2056");
    });
  });
  SUCCEED();
}

TEST_CASE("case A23: reductions on one rank are the identity, and still scale") {
  run_local(1, [](Comm& comm) {
    float halved[] = {4.0f}, mean[] = {7.0f}, out[] = {0.0f};
    allreduce(comm, halved, PreMulSum{0.5f});
    allreduce(comm, mean, Average{});
    require(halved[0] == 2.0f && mean[0] == 7.0f, "PreMulSum or Average on one rank");
    reduce(comm, halved, out, 0);
    require(out[0] == 2.0f, "reduce on one rank");
  });
  run_local(3, [](Comm& comm) {  // and on more
    float value[] = {static_cast<float>(2 + comm.rank())}, part[] = {0.0f};
    float three[] = {1.0f, 2.0f, static_cast<float>(comm.rank())};
    reduce_scatter(comm, three, part, PreMulSum{2.0f});
    require(part[0] == (comm.rank() == 0   ? 6.0f
                        : comm.rank() == 1 ? 12.0f
                                           : 6.0f),
            "PreMulSum in reduce_scatter");
    allreduce(comm, value, Average{});
    require(value[0] == 3.0f, "Average over three ranks");
  });
  SUCCEED();
}

TEST_CASE("Min and Max propagate NaN from whichever rank it comes") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (int source = 0; source < 5; ++source) {
    run_local(5, [&](Comm& comm) {
      hccl_test::for_each_algorithm([&]<class A>() {
        const float in[] = {comm.rank() == source ? nan : static_cast<float>(comm.rank()),
                            static_cast<float>(comm.rank())};
        float least[2], most[2], number[2];
        allreduce<float, Min, A>(comm, in, least);
        allreduce<float, Max, A>(comm, in, most);
        allreduce<float, MaxNumber, A>(comm, in, number);
        require(std::isnan(least[0]) && std::isnan(most[0]), "a NaN was lost");
        require(least[1] == 0.0f && most[1] == 4.0f, "wrong Min or Max");
        require(number[0] == (source == 4 ? 3.0f : 4.0f), "MaxNumber does not ignore NaN");
      });
    });
  }
  SUCCEED();
}

TEST_CASE("Reproducible gives an element the same bits whatever surrounds it") {
  for (const int ranks : {2, 3, 5, 8}) {
    run_local(ranks, [&](Comm& comm) {
      const auto element = cancelling(comm.rank(), 1).front();
      const auto alone = identical_allreduce<Reproducible>(comm, std::vector{element}).front();
      const auto same = [&](float value, const char* where) {
        require(std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(alone), where);
      };
      for (const std::size_t count : {2u, 17u, 1000u, 70000u}) {
        for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
          auto data = cancelling(comm.rank(), count);
          data[at] = element;
          same(identical_allreduce<Reproducible>(comm, data)[at], "allreduce");
          auto rooted = data;
          reduce<float, Sum, Reproducible>(comm, rooted, 0);
          if (comm.rank() == 0) same(rooted[at], "reduce");
        }
        std::vector<float> in(count * static_cast<std::size_t>(ranks), element), part(count);
        reduce_scatter<float, Sum, Reproducible>(comm, in, part);
        same(part[count - 1], "reduce_scatter");
      }
    });
  }
  SUCCEED();
}

TEST_CASE("over-aligned elements are aligned wherever the functor sees them") {
  struct alignas(1024) Page {
    std::uint32_t value;
  };
  const auto add = [](const Page& a, const Page& b) {
    for (const Page* p : {&a, &b})
      require(reinterpret_cast<std::uintptr_t>(p) % alignof(Page) == 0, "an operand is misaligned");
    return Page{a.value + b.value};
  };
  run_local(5, [&](Comm& comm) {
    std::vector<Page> data(3, Page{1});
    reduce<Page, std::remove_const_t<decltype(add)>, BinomialTree>(comm, data, 0, add);  // by way of scratch
    if (comm.rank() == 0) require(data[2].value == 5, "wrong sum");
  });
  SUCCEED();
}

TEST_CASE("a functor that does not commute is applied in rank order") {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    run_local(ranks, [&](Comm& comm) {
      const auto map_of = [](int rank, std::uint32_t i) {
        return Map{static_cast<std::uint32_t>(rank) * 2 + 3, i * 7 + static_cast<std::uint32_t>(rank)};
      };
      hccl_test::for_each_algorithm([&]<class A>() {
        if constexpr (hccl_test::can_do<A, AllReduce, Compose>) {
          std::vector<Map> data;
          for (std::uint32_t i = 0; i < 33; ++i) data.push_back(map_of(comm.rank(), i));
          allreduce<Map, Compose, A>(comm, data);
          for (std::uint32_t i = 0; i < 33; ++i) {
            Map wanted = map_of(0, i);
            for (int rank = 1; rank < ranks; ++rank) wanted = Compose{}(wanted, map_of(rank, i));
            require(data[i].slope == wanted.slope && data[i].offset == wanted.offset,
                    detail::concat(A::name, ": wrong order"));
          }
        }
      });
    });
  }
  CHECK(hccl_test::can_do<Mesh, AllReduce, Compose>);
  CHECK(hccl_test::can_do<RecursiveHalvingDoubling, AllReduce, Compose>);
  CHECK_FALSE(hccl_test::can_do<Ring, AllReduce, Compose>);
  CHECK_FALSE(hccl_test::can_do<RecursiveHalvingDoubling, ReduceScatter, Compose>);
}
