// SPDX-License-Identifier: Apache-2.0
#pragma once

// How Auto chooses.

#include <hccl/algorithm/candidates.hpp>
#include <hccl/algorithm/hccl_algo.hpp>
#include <hccl/algorithm/tuning.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/cost.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/view.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// What decided which algorithm runs.
enum class decided_by {
  call,         ///< the template argument of the call
  rule,         ///< a rule of `communicator::set_tuning`
  environment,  ///< the variable HCCL_ALGO
  price,        ///< the price on the links of the transport
};

namespace detail {

/// What a choice depends on, besides the collective. The same on all ranks.
struct situation {
  group ranks;
  std::size_t bytes;  // of the buffer of all blocks
  link_model link;
  bool commutes;
};

/// The bytes by which a collective is chosen: what ranks exchange pair by pair, no rank knows whole.
template <Collective C>
constexpr std::size_t known_bytes(std::size_t bytes) {
  return std::same_as<C, AllToAllV> ? 0 : bytes;
}

/// One of `offers<C>`, and what decided for it.
template <Collective C>
struct decision {
  const offer<C>* chosen = nullptr;
  decided_by by = decided_by::price;
  const tuning_rule* rule = nullptr;  // none where the price decided
};

/// Chooses for the collectives of one communicator. HCCL_ALGO is read at the first choice, prices are found when a
/// collective is first asked for; later choices allocate nothing.
class chooser {
 public:
  const tuning& rules() const { return rules_; }

  /// Rules of no origin are named by their number.
  void set_rules(tuning rules) {
    rules_ = std::move(rules);
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (rules_[i].origin.empty()) rules_[i].origin = concat("rule ", i + 1);
    }
  }

  /// To be called when the group has become another.
  void forget_prices() { prices_ = {}; }

  /// The prices of `offers<C>`, in their order, for a root at rank 0.
  template <Collective C>
  std::span<const price> prices(const situation& s) {
    auto& known = std::get<prices_of<C>>(prices_);
    if (known.empty()) {
      for (const offer<C>& o : offers<C>) known.push_back(price_on<C>(o, s));
    }
    return known;
  }

  /// What the rules and the environment choose for C, none if they leave it to the price. Calls `pass(rule)` for each
  /// rule that matches and cannot be kept. Throws `invalid_argument` if HCCL_ALGO cannot be read.
  template <Collective C>
  decision<C> by_rules(const situation& s, auto&& pass) {
    if (!environment_) {
      const char* const value = std::getenv("HCCL_ALGO");
      environment_ = read_hccl_algo(value == nullptr ? "" : value);
    }
    for (const auto& [by, rules] :
         {std::pair(decided_by::rule, &rules_), std::pair(decided_by::environment, &*environment_)}) {
      for (const tuning_rule& rule : *rules) {
        if (!rule.matches(C::name, s.ranks.size(), s.bytes)) continue;
        if (const offer<C>* const chosen = kept<C>(rule, s)) return {chosen, by, &rule};
        pass(rule);
      }
    }
    return {};
  }

  /// What has the lowest price for C.
  template <Collective C>
  decision<C> by_price(const situation& s) {
    const std::span<const price> known = prices<C>(s);
    decision<C> best;
    double best_seconds = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < known.size(); ++i) {
      const double seconds = known[i].seconds(static_cast<double>(s.bytes));
      if (!is_eligible<C>(i, s) || !(seconds < best_seconds)) continue;
      best.chosen = &offers<C>[i];
      best_seconds = seconds;
    }
    return best;
  }

  /// Chooses for C: by rules, else by price.
  template <Collective C>
  decision<C> choose(const situation& s, auto&& pass) {
    const decision<C> ruled = by_rules<C>(s, pass);
    return ruled.chosen != nullptr ? ruled : by_price<C>(s);
  }

  /// Tells whether `offers<C>[i]` may be chosen.
  template <Collective C>
  bool is_eligible(std::size_t i, const situation& s) {
    const offer<C>& o = offers<C>[i];
    return (s.commutes || o.keeps_order) && (!o.needs_hosts || s.ranks.hosts() > 1) &&
           std::isfinite(prices<C>(s)[i].fixed);
  }

 private:
  template <class C>
  struct prices_of : std::vector<price> {};

  template <class... Cs>
  static std::tuple<prices_of<Cs>...> all_prices(const std::tuple<Cs...>*);

  /// The price of an algorithm, without bound if it cannot deal with the hosts.
  template <Collective C>
  static price price_on(const offer<C>& o, const situation& s) {
    try {
      return price_of(o.view({}, s.ranks), s.link);
    } catch (const error& e) {
      if (e.kind() != errc::unsupported) throw;
      return {.fixed = std::numeric_limits<double>::infinity()};
    }
  }

  /// The algorithm that a rule names, if it may be chosen.
  template <Collective C>
  const offer<C>* kept(const tuning_rule& rule, const situation& s) {
    for (std::size_t i = 0; i < offers<C>.size(); ++i) {
      if (offers<C>[i].algorithm == rule.algorithm) return is_eligible<C>(i, s) ? &offers<C>[i] : nullptr;
    }
    return nullptr;
  }

  tuning rules_;
  std::optional<tuning> environment_;
  decltype(all_prices(static_cast<const collectives*>(nullptr))) prices_;
};

}  // namespace detail

}  // namespace hccl::inline v0
