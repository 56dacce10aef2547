// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every built-in algorithm, and how a name becomes one.

#include <hccl/algorithm/ahc.hpp>
#include <hccl/algorithm/auto.hpp>
#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/bruck.hpp>
#include <hccl/algorithm/candidates.hpp>
#include <hccl/algorithm/choice.hpp>
#include <hccl/algorithm/concept.hpp>
#include <hccl/algorithm/direct.hpp>
#include <hccl/algorithm/double_binary_tree.hpp>
#include <hccl/algorithm/hccl_algo.hpp>
#include <hccl/algorithm/mesh.hpp>
#include <hccl/algorithm/nhr.hpp>
#include <hccl/algorithm/nonuniform_bruck.hpp>
#include <hccl/algorithm/one_shot_mesh.hpp>
#include <hccl/algorithm/pairwise.hpp>
#include <hccl/algorithm/parallel_aggregated_trees.hpp>
#include <hccl/algorithm/pipeline.hpp>
#include <hccl/algorithm/recursive_doubling.hpp>
#include <hccl/algorithm/recursive_halving_doubling.hpp>
#include <hccl/algorithm/reproducible.hpp>
#include <hccl/algorithm/ring.hpp>
#include <hccl/algorithm/star.hpp>
#include <hccl/algorithm/swing.hpp>
#include <hccl/algorithm/tuning.hpp>
#include <hccl/core/error.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>

#include <string>
#include <string_view>
#include <tuple>

namespace hccl::inline v0 {

/// Every built-in algorithm; `Auto` chooses among some of them.
using algorithms = std::tuple<Ring, Mesh, OneShotMesh, RecursiveHalvingDoubling, RecursiveDoubling, NHR,
                              NonuniformBruck, Bruck, Pairwise, Star, BinomialTree, DoubleBinaryTree,
                              Pipeline, ParallelAggregatedTrees, AHC, Swing, Reproducible>;

namespace detail {

template <Collective C, class F, class... As>
void with_named(std::string_view name, F& f, const std::tuple<As...>*) {
  bool found = false;
  std::string names = "auto";
  const auto consider = [&]<class A>() {
    if constexpr (Offers<A, C>) {
      names += concat(", ", A::name);
      if (found || name != A::name) return;
      found = true;
      f.template operator()<A>();
    }
  };
  (consider.template operator()<As>(), ...);
  if (found) return;
  throw error(errc::invalid_argument,
              concat("there is no algorithm \"", name, "\" for ", C::name, "; expected one of ", names));
}

}  // namespace detail

/// Calls `f.template operator()<A>()` with the algorithm whose `name` that is, among those that offer C: "auto",
/// "ring", ... Throws `invalid_argument` for another name. Compiles f for each of them.
template <Collective C, class F>
void with_algorithm(std::string_view name, F&& f) {
  if (name == Auto::name) {
    f.template operator()<Auto>();
  } else {
    detail::with_named<C>(name, f, static_cast<const algorithms*>(nullptr));
  }
}

}  // namespace hccl::inline v0
