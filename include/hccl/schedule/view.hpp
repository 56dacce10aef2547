// SPDX-License-Identifier: Apache-2.0
#pragma once

// A schedule as the engine sees it: the algorithm and the collective behind one function pointer.

#include <hccl/core/detail/function_ref.hpp>
#include <hccl/schedule/combinators.hpp>

#include <string_view>

namespace hccl::inline v0 {

/// The schedule of one collective over one group, with the types of algorithm and collective erased. A value
/// type of a few words; making one is free, and `steps` costs an indirect call beside the work of the
/// algorithm.
class schedule_view {
 public:
  using step_sink = detail::function_ref<void(const step&)>;

  /// Views A's schedule for `c` over `g`.
  template <class A, Collective C>
    requires Offers<A, C>
  static schedule_view of(const C& c, const group& g) {
    using S = schedule_of<A, C>;
    schedule_view view(g);
    view.root_ = root_of(c);
    view.collective_ = C::name;
    view.algorithm_ = A::name;
    view.shared_ = Shared<C>;
    view.blocks_ = blocks_of<S>(c, g);
    view.rounds_ = g.size() == 1 ? 0 : S::rounds(c, g);
    view.steps_ = [](int root, const group& ranks, int self, int round, step_sink emit) {
      if constexpr (Rooted<C>) {
        S::steps(C{root}, ranks, self, round, emit);
      } else {
        S::steps(C{}, ranks, self, round, emit);
      }
    };
    return view;
  }

  const group& ranks() const { return group_; }
  int root() const { return root_; }  ///< 0 where there is none
  std::string_view collective() const { return collective_; }
  std::string_view algorithm() const { return algorithm_; }
  int blocks() const { return blocks_; }
  int rounds() const { return rounds_; }   ///< 0 on one rank
  bool shared() const { return shared_; }  ///< blocks belong to ranks, see `Shared`

  /// Emits the steps of rank `self` in round `round`.
  void steps(int self, int round, step_sink emit) const { steps_(root_, group_, self, round, emit); }

 private:
  explicit schedule_view(const group& g) : group_(g) {}

  group group_;
  int root_ = 0;
  std::string_view collective_;
  std::string_view algorithm_;
  int blocks_ = 1;
  int rounds_ = 0;
  bool shared_ = false;
  void (*steps_)(int, const group&, int, int, step_sink) = nullptr;
};

}  // namespace hccl::inline v0
