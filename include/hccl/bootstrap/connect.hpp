// SPDX-License-Identifier: Apache-2.0
#pragma once

// connect<Transport>(): from the launcher's environment to a communicator.

#include <hccl/bootstrap/detail/rendezvous.hpp>
#include <hccl/bootstrap/launch.hpp>
#include <hccl/bootstrap/open_store.hpp>
#include <hccl/bootstrap/tcp_store.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/detail/tcp_address.hpp>

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

/// A transport that connect() can set up: `Net::listener(towards)` takes an address of this process first
/// (`towards` is the host of the meeting point, or empty), `address()` tells it as a line of text, and the
/// transport is made of the listener, rank, size, the addresses of all ranks and a text of 32 characters that
/// no other job has.
template <class Net>
concept Connectable = Transport<Net> && std::constructible_from<typename Net::listener, const std::string&> &&
                      std::constructible_from<Net, typename Net::listener, int, int,
                                              const std::vector<std::string>&, const std::string&> &&
                      requires(const typename Net::listener& bound) {
                        { bound.address() } -> std::same_as<std::string>;
                      };

/// What a program may say about its job; what is left out is found in the environment.
struct connect_options {
  std::optional<int> rank;                          ///< with `size`
  std::optional<int> size;                          ///< with `rank`
  std::string store;                                ///< URL of the meeting point, see open_store()
  std::optional<std::chrono::nanoseconds> timeout;  ///< else HCCL_CONNECT_TIMEOUT, HCCL_TIMEOUT, or 120 s
};

namespace detail {

/// Reads a duration in seconds from the first of two variables that is set; 0 means without limit.
inline std::optional<std::chrono::nanoseconds> seconds_from(const char* name, const char* common_name) {
  for (const char* variable : {name, common_name}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view text = value;
    double seconds = -1;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (failure != std::errc() || end != text.data() + text.size() || !(seconds >= 0)) {
      throw error(errc::invalid_argument, concat(variable, "='", text, "' is not a number of seconds"));
    }
    constexpr double century = 3.2e9;
    if (seconds == 0 || seconds > century) return std::chrono::nanoseconds::max();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  }
  return std::nullopt;
}

inline launch_info launch_of(const connect_options& options) {
  if (options.rank.has_value() != options.size.has_value()) {
    throw error(errc::invalid_argument, "connect: rank and size are given together or not at all");
  }
  if (!options.rank) {
    auto info = find_launch();
    if (!options.store.empty()) info.store = options.store;
    return info;
  }
  if (*options.size < 1) throw error(errc::invalid_argument, concat("connect: size=", *options.size));
  const bool alone = *options.rank == 0 && *options.size == 1;
  if (options.store.empty() && !alone)
    throw error(errc::invalid_argument, "connect: a store is needed with rank and size");
  return {*options.rank, *options.size, options.store,
          concat("rank=", *options.rank, ", size=", *options.size)};
}

/// The host of a meeting point, from which ranks choose their own address; empty when it tells nothing.
inline std::string host_of(const launch_info& info) {
  if (info.store.starts_with("unix:") || info.store.empty()) return "127.0.0.1";
  const auto scheme = info.store.find("://");
  if (scheme == info.store.npos || info.store.starts_with("file:")) return {};
  const auto rest = std::string_view(info.store).substr(scheme + 3);
  return split_address(rest.substr(0, rest.find('/'))).host;
}

/// Serves the store of a job in rank 0, unless somebody (hcclrun, for one) does already.
inline std::unique_ptr<TcpStoreServer> serve_store(const launch_info& info) {
  if (info.rank != 0 || !(info.store.starts_with("tcp://") || info.store.starts_with("unix:@")))
    return nullptr;
  try {
    return std::make_unique<TcpStoreServer>(info.store);
  } catch (const error& e) {
    if (e.kind() != errc::bootstrap_failed) throw;
    return nullptr;
  }
}

inline constexpr std::chrono::seconds time_to_read_faults{1};

inline AnyStore reach_store(const launch_info& info, deadline until) {
  try {
    return open_store(info.store, until);
  } catch (const error& e) {
    if (e.kind() != errc::timeout) throw;
    throw error(errc::timeout, concat(reason(e), "; rank 0 is missing, or does not serve it"));
  }
}

/// Meets the other ranks at a store that is served.
inline world meet_at_store(const launch_info& info, const std::string& address, deadline until) {
  auto store = reach_store(info, until);
  rendezvous meeting(store, info, address, until);
  auto* const files = store.files();
  try {
    auto met = meeting.meet();
    if (files != nullptr) {
      meeting.part();
      info.rank == 0 ? files->remove() : meeting.wait_until_removed();
    }
    return met;
  } catch (const error&) {
    if (files != nullptr && info.rank == 0) {
      std::this_thread::sleep_for(time_to_read_faults);
      files->remove();
    }
    throw;
  }
}

/// Meets the other ranks; rank 0 serves the store until all have read the outcome.
inline world meet(const launch_info& info, const std::string& address, deadline until) {
  for (;;) {
    auto server = serve_store(info);
    try {
      auto met = meet_at_store(info, address, until);
      if (server) server->wait_for_departures(info.size, until);
      return met;
    } catch (const store_lost&) {  // of a meeting that has just ended; the next one will be served
      if (until.expired()) throw;
    } catch (const error&) {
      if (server) server->wait_for_departures(info.size, deadline::after(time_to_read_faults));
      throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace detail

/// Brings the ranks of a job together and returns this rank's communicator.
///
/// Net: a Connectable transport. Every rank calls it, as often as the others. Rank, size and meeting point
/// come from `options`, else from the environment (see find_launch()); without a launcher the world has one
/// rank. Rank 0 serves a "tcp://" or "unix:@" store unless it is served already.
///
/// Ranks that run on hosts of one name share a host; `hosts()` says so if each host has consecutive ranks.
///
/// `HCCL_EXEC_TIMEOUT`, else `HCCL_TIMEOUT` (seconds; 0: never), becomes the timeout of the communicator.
///
/// Errors, on every rank that has arrived, within the timeout: `timeout` names the ranks that are missing;
/// `bootstrap_failed` names both processes (host:pid) of a duplicate rank or of differing world sizes, the
/// one with a rank outside of the world, or the port that something else has taken; `invalid_argument` names
/// the setting that is wrong on this rank.
///
/// Cost: O(size) requests at rank 0, a few at each other rank. Connections between ranks are made when they
/// are first needed.
template <Connectable Net>
communicator<Net> connect(const connect_options& options = {}) {
  const auto info = detail::launch_of(options);
  const auto found =
      options.timeout ? options.timeout : detail::seconds_from("HCCL_CONNECT_TIMEOUT", "HCCL_TIMEOUT");
  const auto until = deadline::after(found.value_or(std::chrono::seconds(120)));
  const auto collective_timeout = detail::seconds_from("HCCL_EXEC_TIMEOUT", "HCCL_TIMEOUT");

  typename Net::listener own(detail::host_of(info));
  const bool alone = info.size == 1 && info.rank == 0;
  const auto met = alone ? detail::world{detail::random_name(), {own.address()}, {detail::host_name()}}
                         : detail::meet(info, own.address(), until);
  communicator<Net> comm(Net(std::move(own), info.rank, info.size, met.addresses, met.job));
  if (collective_timeout) comm.set_timeout(*collective_timeout);
  comm.set_hosts(detail::hosts_of(met.hosts));
  return comm;
}

}  // namespace hccl::inline v0
