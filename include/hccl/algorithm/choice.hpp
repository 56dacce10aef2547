// SPDX-License-Identifier: Apache-2.0
#pragma once

// How Auto chooses.

#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/bruck.hpp>
#include <hccl/algorithm/mesh.hpp>
#include <hccl/algorithm/nhr.hpp>
#include <hccl/algorithm/one_shot_mesh.hpp>
#include <hccl/algorithm/pairwise.hpp>
#include <hccl/algorithm/pipeline.hpp>
#include <hccl/algorithm/recursive_doubling.hpp>
#include <hccl/algorithm/recursive_halving_doubling.hpp>
#include <hccl/algorithm/ring.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/schedule/cost.hpp>
#include <hccl/schedule/view.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace hccl::inline v0 {

namespace detail {

/// Among these Auto chooses; of equal prices the first wins.
using candidates = std::tuple<Mesh, OneShotMesh, RecursiveDoubling, RecursiveHalvingDoubling, NHR, Ring,
                              BinomialTree, Bruck, Pairwise, Pipeline>;

/// The prices of all candidates for each collective of a communicator, found when first asked for.
class choice_cache {
 public:
  /// The cheapest schedule for `c` over `g` and `bytes` bytes of the buffer of all blocks.
  template <Collective C>
  schedule_view cheapest(const C& c, const group& g, std::size_t bytes, const link_model& link,
                         bool commutes) {
    auto& known = std::get<std::optional<prices<C>>>(known_);
    if (!known) known = price_all<C>(g);
    std::optional<schedule_view> best;
    double best_seconds = std::numeric_limits<double>::infinity();
    for_each_candidate([&]<class A, std::size_t I>() {
      if constexpr (Offers<A, C>) {
        const double seconds = (*known)[I].seconds(static_cast<double>(bytes), link);
        if ((commutes || keeps_order<schedule_of<A, C>, C>) && seconds < best_seconds) {
          best = schedule_view::of<A>(c, g);
          best_seconds = seconds;
        }
      }
    });
    return *best;
  }

 private:
  template <class C>
  struct prices : std::array<price, std::tuple_size_v<candidates>> {};

  template <class F>
  static void for_each_candidate(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f.template operator()<std::tuple_element_t<I, candidates>, I>(), ...);
    }(std::make_index_sequence<std::tuple_size_v<candidates>>{});
  }

  template <Collective C>
  static prices<C> price_all(const group& g) {
    prices<C> all{};
    for_each_candidate([&]<class A, std::size_t I>() {
      if constexpr (Offers<A, C>) all[I] = price_of<A, C>(g);
    });
    return all;
  }

  template <class... Cs>
  static std::tuple<std::optional<prices<Cs>>...> unknown(const std::tuple<Cs...>*);

  decltype(unknown(static_cast<const collectives*>(nullptr))) known_;
};

}  // namespace detail

}  // namespace hccl::inline v0
