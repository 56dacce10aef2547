// SPDX-License-Identifier: Apache-2.0
#pragma once

// The text of HCCL_ALGO, by which users of HCCL choose algorithms.

#include <hccl/algorithm/tuning.hpp>
#include <hccl/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

namespace detail {

struct alias {
  std::string_view theirs, ours;
};

/// Names of HCCL that differ from those here. What it calls alltoall is both forms.
inline constexpr alias hccl_algorithms[] = {{"H-D_R", "recursive_halving_doubling"},
                                            {"NHR", "nhr"},
                                            {"NHR_V1", "nhr"},
                                            {"NB", "nonuniform_bruck"},
                                            {"AHC", "ahc"},
                                            {"fullmesh", "mesh"}};
inline constexpr alias hccl_collectives[] = {
    {"reducescatter", "reduce_scatter"}, {"alltoall", "alltoall"}, {"alltoall", "alltoallv"}};

/// Reads one value of HCCL_ALGO.
class hccl_algo_reader {
 public:
  hccl_algo_reader(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  tuning read() {
    for (std::string_view rest = text_; !rest.empty();) read_part(cut(rest, '/'));
    return std::move(rules_);
  }

 private:
  /// Takes what stands before the separator from the front of `text`, and the separator.
  static std::string_view cut(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view head = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return head;
  }

  [[noreturn]] void fail(std::string_view part, std::string_view expected) const {
    throw error(errc::invalid_argument,
                concat(where(), ": \"", part, "\" is not understood; expected ", expected));
  }

  std::string where() const { return concat(origin_, "=\"", text_, "\""); }

  /// `allreduce=level0:NA;level1:ring`, or the levels alone.
  void read_part(std::string_view part) {
    std::string_view levels = part;
    if (part.find('=') == part.npos) return add_rules("", read_levels(levels));
    const std::string_view op = cut(levels, '=');
    const std::string_view algorithm = read_levels(levels);
    bool is_alias = false;
    for (const alias& a : hccl_collectives) {
      if (a.theirs != op) continue;
      is_alias = true;
      add_rules(a.ours, algorithm);
    }
    if (is_alias) return;
    require_one_of(where(), "collective", op, collective_names);
    add_rules(op, algorithm);
  }

  /// `level0:NA;level1:ring`; returns the algorithm between hosts, empty if there is none.
  std::string_view read_levels(std::string_view text) const {
    std::array<std::string_view, 3> named{};
    do {
      const std::string_view level = cut(text, ';');
      const std::string_view number = "012";
      const std::size_t index = level.size() > 5 ? number.find(level[5]) : number.npos;
      if (!level.starts_with("level") || index == number.npos || level.substr(6, 1) != ":")
        fail(level, "level0:NA, level1:<algorithm> or level2:<algorithm>, separated by ';'");
      if (!named[index].empty()) fail(level, "each level once");
      named[index] = level.substr(7);
      if (index == 0 && named[0] != none) fail(level, "level0:NA");
      named[index] = algorithm_of(named[index]);
    } while (!text.empty());
    return named[1] == none ? "" : named[1];
  }

  std::string_view algorithm_of(std::string_view name) const {
    std::vector<std::string_view> known;
    for (const alias& a : hccl_algorithms) {
      if (a.theirs == name) return a.ours;
      known.push_back(a.theirs);
    }
    if (name == none) return name;
    known.insert(known.end(), candidate_names.begin(), candidate_names.end());
    require_one_of(where(), "algorithm", name, known);
    return name;
  }

  void add_rules(std::string_view collective, std::string_view algorithm) {
    if (algorithm.empty()) return;
    const std::string hierarchical = concat(Mesh::name, ' ', inside_word, ' ', algorithm);
    for (const std::string_view name : {std::string_view(hierarchical), algorithm}) {
      if (is_one_of(name, candidate_names))
        rules_.push_back({.algorithm = std::string(name),
                          .collective = std::string(collective),
                          .origin = std::string(origin_)});
    }
  }

  static constexpr std::string_view none = "NA";

  std::string_view text_, origin_;
  tuning rules_;
};

}  // namespace detail

/// Reads a value of HCCL_ALGO: `level0:NA;level1:<a>;level2:<a>` for all collectives, or for each
/// `<op>=level0:NA;level1:<a>`, separated by `/`; the first that fits counts. Empty: no rules.
///
/// a: ring, H-D_R, NHR, NHR_V1, NB, AHC, pipeline, pairwise, fullmesh, or the name of one of `candidates`; NA for none.
/// op: allgather, reducescatter, allreduce, broadcast, reduce, scatter, alltoall (which is alltoallv too), or the name
/// of one of `collectives`. Level 1 is between hosts: on several, a rule for `Hierarchical<Mesh, a>` comes first, if
/// that is one of `candidates`, then one for a over all ranks. Level 2 is checked and has no effect, since no candidate
/// has three levels. `origin`: what has the value, for errors and `explain`. Throws `invalid_argument`, which tells the
/// origin, the text and what was expected.
inline tuning read_hccl_algo(std::string_view text, std::string_view origin = "HCCL_ALGO") {
  return detail::hccl_algo_reader(text, origin).read();
}

}  // namespace hccl::inline v0
