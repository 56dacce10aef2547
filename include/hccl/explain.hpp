// SPDX-License-Identifier: Apache-2.0
#pragma once

// explain: what a collective would run, and why.

#include <hccl/algorithm/auto.hpp>
#include <hccl/algorithm/choice.hpp>
#include <hccl/algorithm/concept.hpp>
#include <hccl/algorithm/direct.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/core/error.hpp>
#include <hccl/engine/direct.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/cost.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/view.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace hccl::inline v0 {

/// What a collective runs, and why.
struct explanation {
  /// An algorithm that might run, and the seconds that it is predicted to take.
  struct candidate {
    std::string_view algorithm;
    double seconds = 0;
  };

  std::string_view collective;
  int ranks = 1;
  int hosts = 1;
  std::size_t bytes = 0;

  candidate chosen;
  decided_by by = decided_by::price;
  std::string why;                    ///< in a sentence, with the rules that were passed over
  std::vector<candidate> candidates;  ///< among which `Auto` chooses here, the cheapest first
};

/// Tells which algorithm a collective would run, and why. Sends nothing; the same on all ranks.
///
/// Between two processes of a host, `direct` is what runs if the input is small or the buffers of both are shared (see
/// `Direct`), and else the cheapest of the other candidates.
///
/// Algo: as in the call; `Auto` unless given. c: the collective, `AllReduce{}`, `Broadcast{root}`, ... bytes: of the
/// buffer of all blocks, see `tuning_rule`. commutes: whether the reduction does. Seconds are those of `price_of` on
/// `Net::link`, with the root at rank 0 for candidates. Throws `invalid_argument` if HCCL_ALGO cannot be read, and as
/// every collective on a communicator that is used by another thread or has failed.
template <class Algo = Auto, Transport Net, Collective C>
explanation explain(communicator<Net>& comm, const C& c, std::size_t bytes, bool commutes = true) {
  static_assert(check_algorithm<Algo, C>());
  static_assert(detail::check_reach<Algo, Net>());
  explanation result{.collective = C::name,
                     .bytes = detail::known_bytes<C>(bytes),
                     .chosen = {},
                     .why = {},
                     .candidates = {}};
  const auto inquire = [&](const detail::arguments&) {
    detail::communicator_state<Net>& state = detail::access::of(comm);
    const detail::situation s{group(comm.size(), state.hosts), result.bytes, Net::link, commutes};
    const auto seconds = [&](const schedule_view& schedule) {
      return price_of(schedule, s.link).seconds(static_cast<double>(s.bytes));
    };
    const auto directly = [&]() -> explanation::candidate {
      if constexpr (DoneDirectly<C>)
        return {Direct::name,
                price_of_direct<C>(s.ranks.size(), s.link).seconds(static_cast<double>(s.bytes))};
      return {};
    };
    result.ranks = s.ranks.size();
    result.hosts = s.ranks.hosts();
    if constexpr (std::same_as<Algo, Auto>) {
      std::string passed;
      const auto pass = [&](const tuning_rule& rule) {
        passed += detail::concat("; the ", rule.algorithm, " of ", rule.origin,
                                 " is passed over, since it cannot do this call");
      };
      const detail::decision<C> d = state.choices.template choose<C>(s, pass);
      const schedule_view schedule = d.chosen->view(c, s.ranks);
      result.chosen = {schedule.algorithm(), seconds(schedule)};
      result.by = d.by;
      if constexpr (detail::RunsDirectly<Net, C>) {
        if (d.by == decided_by::price && state.net.shares_addresses()) result.chosen = directly();
      }
      result.why = detail::concat(d.rule ? d.rule->origin : "the lowest price", passed);
    } else {
      if constexpr (std::same_as<Algo, Direct>) {
        result.chosen = directly();
      } else {
        const auto schedule = schedule_view::of<Algo>(c, s.ranks);
        result.chosen = {schedule.algorithm(), seconds(schedule)};
      }
      result.by = decided_by::call;
      result.why = "the call names it";
    }
    const auto prices = state.choices.template prices<C>(s);
    for (std::size_t i = 0; i < prices.size(); ++i) {
      if (state.choices.template is_eligible<C>(i, s))
        result.candidates.push_back(
            {detail::offers<C>[i].algorithm, prices[i].seconds(static_cast<double>(s.bytes))});
    }
    if constexpr (detail::RunsDirectly<Net, C>) {
      if (state.net.shares_addresses()) result.candidates.push_back(directly());
    }
    std::ranges::stable_sort(result.candidates, {}, &explanation::candidate::seconds);
  };
  detail::operate<Net>(comm, "explain", inquire, [](auto&) {});
  return result;
}

/// Writes an explanation as lines of text.
inline std::string to_string(const explanation& e) {
  const auto microseconds = [](double seconds) {
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%.4g us", seconds * 1e6);
    return std::string(text, static_cast<std::size_t>(length));
  };
  std::string text = detail::concat(e.collective, " of ", e.bytes, " bytes over ", e.ranks, " ranks on ",
                                    e.hosts, e.hosts == 1 ? " host: " : " hosts: ", e.chosen.algorithm, ", ",
                                    microseconds(e.chosen.seconds), " (", e.why, ")\n");
  for (const explanation::candidate& each : e.candidates)
    text += detail::concat("  ", each.algorithm, ": ", microseconds(each.seconds), '\n');
  return text;
}

}  // namespace hccl::inline v0
