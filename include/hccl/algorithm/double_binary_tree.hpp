// SPDX-License-Identifier: Apache-2.0
#pragma once

// DoubleBinaryTree: two trees with half of the vector each, in which every rank works in one only.

#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>

#include <bit>
#include <string_view>

namespace hccl::inline v0 {

/// Two binary trees over the ranks other than the root, each with one half of the vector. A rank with children in
/// one tree is a leaf of the other, so that no rank sends or receives much more than another.
///
/// Reduce: floor(log2(p-1)) + 1 rounds of n/2, at most n sent and n received per rank; broadcast is its mirror
/// image, allreduce both. `Pipelined<DoubleBinaryTree, S>` for large vectors. The reduction must commute.
///
/// Source: P. Sanders, J. Speck and J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", Parallel Computing 2009.
struct DoubleBinaryTree {
  static constexpr std::string_view name = "double_binary_tree";

  static constexpr int blocks(const Reduce&, const group&) { return 2; }

  static constexpr int rounds(const Reduce&, const group& g) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(g.size() - 1)));
  }

  static constexpr void steps(const Reduce& c, const group& g, int self, int round, auto&& emit) {
    const int nodes = g.size() - 1;  // numbered from 1 on, in order
    const auto rank_of = [&](int node, int tree) {
      return g.wrap(c.root + (tree == 0 ? node : twin(node, nodes)));
    };
    for (const int tree : {0, 1}) {
      const auto take = [&](int child, bool is_first, place to) {
        emit(reduce_step(rank_of(child, tree), {tree}, is_first ? place::input : to, to));
      };
      const int top = 1 << (rounds(c, g) - 1);
      if (self == c.root) {
        if (round == rounds(c, g) - 1) take(top, true, place::output);
        continue;
      }
      const int position = g.wrap(self - c.root);
      const int node = tree == 0 ? position : twin_of(position, nodes);
      const int height = level(node);
      if (round == height) {  // all below have been heard
        const int parent = node == top ? c.root : rank_of(parent_of(node, nodes), tree);
        emit(send_step(parent, {tree}, height == 0 ? place::input : place::scratch));
      }
      if (height == 0) continue;
      const int half = 1 << (height - 1);
      const int right = right_child(node, nodes);
      if (right > 0 && level(right) == round) take(right, true, place::scratch);
      if (round == height - 1) take(node - half, right == 0, place::scratch);
    }
  }

 private:
  static constexpr int level(int node) { return std::countr_zero(static_cast<unsigned>(node)); }

  /// The parent in order: of the two neighbours one level up the one that exists.
  static constexpr int parent_of(int node, int nodes) {
    const int bit = 1 << level(node);
    const int up = (node ^ bit) | 2 * bit;
    return up <= nodes ? up : node ^ bit;
  }

  /// The child above a node in order, 0 if there is none.
  static constexpr int right_child(int node, int nodes) {
    for (int half = (1 << level(node)) / 2; half > 0; half /= 2) {
      if (node + half <= nodes) return node + half;
    }
    return 0;
  }

  /// The position that has a node of the second tree: the mirror image if the number of nodes is even, else the
  /// next one, so that leaves and others change places.
  static constexpr int twin(int node, int nodes) {
    return nodes % 2 == 0 ? nodes + 1 - node : node % nodes + 1;
  }
  static constexpr int twin_of(int position, int nodes) {
    return nodes % 2 == 0 ? nodes + 1 - position : (position + nodes - 2) % nodes + 1;
  }
};

}  // namespace hccl::inline v0
