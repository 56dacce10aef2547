// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rules that choose algorithms in place of the price.

#include <hccl/algorithm/candidates.hpp>
#include <hccl/core/error.hpp>
#include <hccl/schedule/collective.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace hccl::inline v0 {

/// Says which algorithm `Auto` takes for some calls. Bytes are those of the buffer of all blocks: of an allgather
/// the output, of a reduce-scatter the input, of an allreduce either; of an alltoallv, which no rank knows whole, 0.
struct tuning_rule {
  std::string algorithm;     ///< the name of one of `candidates`: "ring", "mesh inside ring", ...
  std::string collective{};  ///< its name: "allreduce", ...; empty for any
  int min_ranks = 1;
  int max_ranks = std::numeric_limits<int>::max();
  std::size_t min_bytes = 0;
  std::size_t end_bytes = std::numeric_limits<std::size_t>::max();  ///< more than the largest

  std::string origin{};  ///< where it comes from, for `explain`; its number if empty

  /// Tells whether the rule speaks of this collective, number of ranks and bytes.
  bool matches(std::string_view called, int ranks, std::size_t bytes) const {
    return (collective.empty() || collective == called) && min_ranks <= ranks && ranks <= max_ranks &&
           min_bytes <= bytes && bytes < end_bytes;
  }
};

/// Rules, the strongest first. The first that matches and can be kept decides. One that cannot is passed over: its
/// algorithm does not offer the collective, needs several hosts, cannot deal with their sizes, or does not keep the
/// rank order that the reduction needs.
using tuning = std::vector<tuning_rule>;

namespace detail {

/// The names of some types.
template <class... Ts>
constexpr std::array<std::string_view, sizeof...(Ts)> names_of(const std::tuple<Ts...>*) {
  return {Ts::name...};
}
inline constexpr auto candidate_names = names_of(static_cast<const candidates*>(nullptr));
inline constexpr auto collective_names = names_of(static_cast<const collectives*>(nullptr));

inline bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// Throws `invalid_argument`, which begins with `where`, unless the name is one of `names`.
inline void require_one_of(std::string_view where, std::string_view kind, std::string_view name,
                           std::span<const std::string_view> names) {
  if (is_one_of(name, names)) return;
  std::string list;
  for (const std::string_view each : names) list += concat(list.empty() ? "" : ", ", each);
  throw error(errc::invalid_argument,
              concat(where, ": there is no ", kind, " \"", name, "\"; expected one of ", list));
}

/// Throws `invalid_argument` if a rule names what does not exist, or no number of ranks or bytes.
inline void check_rule(const tuning_rule& rule, std::string_view where) {
  require_one_of(where, "algorithm", rule.algorithm, candidate_names);
  if (!rule.collective.empty()) require_one_of(where, "collective", rule.collective, collective_names);
  if (rule.min_ranks > rule.max_ranks || rule.max_ranks < 1) {
    throw error(errc::invalid_argument, concat(where, ": ranks from ", rule.min_ranks, " to ", rule.max_ranks,
                                               "; expected the first not above the last"));
  }
  if (rule.min_bytes >= rule.end_bytes) {
    throw error(errc::invalid_argument, concat(where, ": bytes from ", rule.min_bytes, " to below ",
                                               rule.end_bytes, "; expected the first below the last"));
  }
}

}  // namespace detail

}  // namespace hccl::inline v0
