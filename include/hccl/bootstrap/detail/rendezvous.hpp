// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the ranks of a job meet at a store and find out who does not belong there.
//
// Each rank claims "rank/<r>"; rank 0 collects the claims and publishes "world". Whoever finds something
// wrong claims "fault"; all others wait for "world" or "fault", so that everybody throws the same. A store
// that outlives a meeting (hcclrun, torchrun) has the meetings numbered: a meeting is over when its "world"
// exists.

#include <hccl/bootstrap/detail/process.hpp>
#include <hccl/bootstrap/launch.hpp>
#include <hccl/bootstrap/store.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/schedule/topology.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

/// The outcome of a meeting.
struct world {
  std::string job;                     ///< a text that no other job has
  std::vector<std::string> addresses;  ///< by rank
  std::vector<std::string> hosts;      ///< by rank, the names
};

/// The hosts of ranks as a topology; one host if a host has ranks on both sides of another's.
inline topology hosts_of(const std::vector<std::string>& names) {
  std::vector<int> sizes;
  std::vector<std::string> seen;
  for (const auto& name : names) {
    if (!seen.empty() && seen.back() == name) {
      ++sizes.back();
      continue;
    }
    if (std::ranges::find(seen, name) != seen.end()) return topology();
    seen.push_back(name);
    sizes.push_back(1);
  }
  return sizes.size() > 1 ? topology({sizes}) : topology();
}

template <Store S>
class rendezvous {
 public:
  rendezvous(S& store, const launch_info& me, std::string address, deadline until)
      : store_(store), me_(me), address_(std::move(address)), until_(until) {}

  /// Meets the other ranks. Throws bootstrap_failed, or timeout with the missing ranks, on every rank that
  /// has arrived.
  world meet() {
    arrive();
    if (me_.rank == 0) publish();
    std::istringstream text(wait_for("world"));
    world met;
    std::getline(text, met.job);
    for (std::string claim; std::getline(text, claim);) {  // "host:pid address"
      met.hosts.push_back(claim.substr(0, claim.find(':')));
      met.addresses.push_back(claim.substr(claim.find(' ') + 1));
    }
    return met;
  }

  /// Says that this rank has read the outcome; rank 0 returns when all have said so.
  void part() {
    if (me_.rank > 0) return store_.set(key(concat("seen/", me_.rank)), "");
    for (int rank = 1; rank < me_.size; ++rank) wait_for_any(store_, {key(concat("seen/", rank))}, until_);
  }

  /// Waits until the store has been emptied, so that it can be used again.
  void wait_until_removed() {
    while (store_.get(key("world")) && !until_.expired())
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

 private:
  std::string key(const std::string& name) const { return concat(round_, '/', name); }
  std::string self() const { return concat("rank ", me_.rank, " at ", process_name()); }

  void arrive() {
    while (store_.get(key("world"))) ++round_;
    if (me_.rank < 0 || me_.rank >= me_.size) {
      fault(errc::bootstrap_failed, concat("there is no rank ", me_.rank, " in a world of ", me_.size, ": ",
                                           process_name(), " (", me_.origin, ')'));
    }
    const auto claim = concat(process_name(), ' ', address_);
    for (;; ++round_) {
      compare_size();  // first: rank 0 takes a claimed rank for one that agrees
      const auto standing = store_.claim(key(concat("rank/", me_.rank)), claim);
      if (standing == claim) break;
      if (store_.get(key("world"))) continue;
      fault(errc::bootstrap_failed, concat("two processes are rank ", me_.rank, ": ",
                                           standing.substr(0, standing.find(' ')), " and ", process_name()));
    }
  }

  void compare_size() {
    const auto standing = store_.claim(key("size"), concat(me_.size, " says ", self()));
    int size = 0;
    const auto [end, failure] = std::from_chars(standing.data(), standing.data() + standing.size(), size);
    if (failure == std::errc() && size == me_.size) return;
    fault(errc::bootstrap_failed,
          concat("the world sizes differ: ", standing, ", ", me_.size, " says ", self()));
  }

  void publish() {
    std::string text = random_name();
    for (int rank = 0; rank < me_.size; ++rank) text += concat('\n', wait_for(concat("rank/", rank)));
    store_.set(key("world"), text);
  }

  std::string wait_for(const std::string& name) {
    const auto found = wait_for_any(store_, {key("fault"), key(name)}, until_);
    if (!found) give_up();
    if (found->first == key("fault")) rethrow(found->second);
    return found->second;
  }

  [[noreturn]] void give_up() {
    constexpr int most_names = 16;
    std::string names;
    int missing = 0;
    for (int rank = 0; rank < me_.size; ++rank) {
      if (store_.get(key(concat("rank/", rank)))) continue;
      if (++missing <= most_names) names += concat(missing == 1 ? "" : ", ", rank);
    }
    if (missing == 0)
      fault(errc::timeout, "all ranks have arrived, but rank 0 has not published their addresses in time");
    if (missing > most_names) names += concat(" and ", missing - most_names, " more");
    fault(errc::timeout, concat(missing == 1 ? "rank " : "ranks ", names, " of a world of ", me_.size,
                                missing == 1 ? " has" : " have",
                                " not arrived within the connect timeout; noticed by ", self()));
  }

  /// Tells everybody; the first fault of a meeting stands.
  [[noreturn]] void fault(errc kind, const std::string& what) {
    rethrow(store_.claim(key("fault"), concat(static_cast<int>(kind), ' ', what)));
  }

  [[noreturn]] static void rethrow(const std::string& fault) {
    int kind = 0;
    const auto [end, failure] = std::from_chars(fault.data(), fault.data() + fault.size(), kind);
    const bool is_timeout = failure == std::errc() && kind == static_cast<int>(errc::timeout);
    throw error(is_timeout ? errc::timeout : errc::bootstrap_failed, fault.substr(fault.find(' ') + 1));
  }

  S& store_;
  launch_info me_;
  std::string address_;
  deadline until_;
  int round_ = 0;
};

}  // namespace hccl::inline v0::detail
