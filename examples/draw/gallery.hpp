// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pictures and the table of docs/algorithms.

#include "picture.hpp"

#include <hccl/algorithm/algorithms.hpp>
#include <hccl/algorithm/candidates.hpp>
#include <hccl/schedule/hierarchical.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace draw {

/// Calls `f.template operator()<T>()` for each type T of a tuple.
template <class Tuple>
void for_each_type(auto&& f) {
  [&]<class... Ts>(std::type_identity<std::tuple<Ts...>>) {
    (f.template operator()<Ts>(), ...);
  }(std::type_identity<Tuple>{});
}

/// Writes a file, or throws.
inline void write(const std::filesystem::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error(fmt::format("cannot write {}", file.string()));
}

/// The table of which algorithm offers which collective, and the candidates of `Auto`, as Markdown.
inline std::string offers() {
  std::string head = "| |", rule = "|---|", rows;
  for_each_type<hccl::collectives>([&]<class C>() {
    head += fmt::format(" `{}` |", C::name);
    rule += "---|";
  });
  for_each_type<hccl::algorithms>([&]<class A>() {
    rows += fmt::format("| [`{0}`]({0}.md) |", A::name);
    for_each_type<hccl::collectives>([&]<class C>() {
      std::string_view cell = "";
      if constexpr (hccl::Offers<A, C>) {
        using S = hccl::schedule_of<A, C>;
        constexpr bool combines = C::input == hccl::portion::all && !hccl::Transposing<C>;
        constexpr bool is_ordered = combines && hccl::keeps_order<S, C>;
        cell = std::same_as<S, A> ? (is_ordered ? "own, in order" : "own")
                                  : (is_ordered ? "derived, in order" : "derived");
      }
      rows += fmt::format(" {} |", cell);
    });
    rows += "\n";
  });
  std::string candidates;
  for_each_type<hccl::candidates>([&]<class A>() { candidates += fmt::format("- `{}`\n", A::name); });
  return "# Which algorithm offers which collective\n\n"
         "Written by `draw --all` from the concept `hccl::Offers`. **Own**: the algorithm has a schedule for "
         "it.\n"
         "**Derived**: made from its schedules for others, by `Reversed` or `Then`. **In order**: "
         "contributions are\n"
         "combined in rank order, so that the reduction need not commute.\n\n" +
         head + "\n" + rule + "\n" + rows +
         "\n`Auto` chooses among these, those with \"inside\" if there is more than one host:\n\n" +
         candidates;
}

/// Writes to a folder a picture of each algorithm and each combinator, in <name>.svg, and the table, in offers.md.
inline void draw_all(const std::filesystem::path& folder) {
  using namespace hccl;
  std::vector<std::string_view> drawn;
  const auto show = [&]<class A, class C>(std::string_view name, const C& collective, const group& ranks) {
    write(folder / fmt::format("{}.svg", name), picture(schedule_view::of<A>(collective, ranks)));
    drawn.push_back(name);
  };
  const auto algorithm = [&]<class A>(const auto& collective, const group& ranks) {
    show.template operator()<A>(A::name, collective, ranks);
  };
  const topology two_hosts({{4, 2}});
  const topology three_hosts({{3, 3, 3}});

  algorithm.operator()<Ring>(AllReduce{}, group(8));
  algorithm.operator()<Mesh>(AllReduce{}, group(6));
  algorithm.operator()<OneShotMesh>(AllReduce{}, group(6));
  algorithm.operator()<RecursiveHalvingDoubling>(AllReduce{}, group(8));
  algorithm.operator()<RecursiveDoubling>(AllReduce{}, group(6));
  algorithm.operator()<NHR>(AllReduce{}, group(6));
  algorithm.operator()<NonuniformBruck>(AllReduce{}, group(6));
  algorithm.operator()<Bruck>(AllGather{}, group(6));
  algorithm.operator()<Pairwise>(AllToAll{}, group(6));
  algorithm.operator()<Star>(AllReduce{}, group(8));
  algorithm.operator()<BinomialTree>(AllReduce{}, group(8));
  algorithm.operator()<DoubleBinaryTree>(AllReduce{}, group(8));
  algorithm.operator()<Pipeline>(Reduce{}, group(4));
  algorithm.operator()<ParallelAggregatedTrees>(ReduceScatter{}, group(12));
  algorithm.operator()<AHC>(AllReduce{}, group(6, two_hosts));
  algorithm.operator()<Swing>(AllReduce{}, group(8));
  algorithm.operator()<Reproducible>(AllReduce{}, group(6));

  show.operator()<Then<RecursiveHalvingDoubling, Ring>>("then", AllReduce{}, group(8));
  show.operator()<Reversed<BinomialTree>>("reversed", Broadcast{}, group(8));
  show.operator()<Pipelined<BinomialTree, 4>>("pipelined", Reduce{}, group(8));
  show.operator()<Hierarchical<Mesh, Ring>>("hierarchical", AllReduce{}, group(9, three_hosts));

  for_each_type<algorithms>([&]<class A>() {
    if (std::ranges::find(drawn, A::name) == drawn.end())
      throw std::logic_error(fmt::format("there is no picture of {}: add it to draw_all", A::name));
  });
  write(folder / "offers.md", offers());
}

}  // namespace draw
