// SPDX-License-Identifier: Apache-2.0
#pragma once

// The communicator: a group of ranks, the transport between them, and what their collectives reuse.

#include <hccl/algorithm/choice.hpp>
#include <hccl/algorithm/tuning.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/staging.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/detail/function_ref.hpp>
#include <hccl/core/error.hpp>
#include <hccl/engine/direct.hpp>
#include <hccl/engine/point_to_point.hpp>
#include <hccl/engine/run.hpp>
#include <hccl/memory/detail/scratch_memory.hpp>
#include <hccl/memory/host_allocator.hpp>
#include <hccl/schedule/topology.hpp>
#include <hccl/transport/concept.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hccl::inline v0 {

namespace detail {

struct access;

/// A digest of hosts, 0 of none.
inline std::uint32_t digest(const topology& hosts) {
  std::uint32_t sum = 0;
  for (const auto& level : hosts.bounds()) {
    for (const int bound : level) sum = (sum ^ static_cast<std::uint32_t>(bound)) * 16777619u + 1;
  }
  return sum;
}

/// Where elements are kept that travel in place of the user's: where the other ranks reach them, if the transport says
/// what memory that is. `lasting` is memory that they may still read when this rank has freed it.
template <class Net>
struct memory_of {
  using type = HostAllocator;
  using lasting = HostAllocator;
};
template <SharedMemoryTransport Net>
struct memory_of<Net> {
  using type = typename Net::allocator;
  using lasting = typename Net::lasting_allocator;
};
template <DeviceTransport Net>
struct memory_of<Net> {
  using type = typename Net::allocator;
  using lasting = HostAllocator;
};

/// What a communicator owns.
template <Transport Net>
struct communicator_state {
  explicit communicator_state(Net n) : net(std::move(n)), tagged_net(net.channel(1)) {}
  communicator_state(const communicator_state&) = delete;
  communicator_state& operator=(const communicator_state&) = delete;
  ~communicator_state() {
    if constexpr (DeviceTransport<Net>) leave_device();
  }

  Net net;
  Net tagged_net;  // of send and recv
  std::chrono::nanoseconds timeout = std::chrono::minutes(30);
  std::uint32_t sequence = 0;
  std::string failure;
  std::atomic<bool> aborted = false;  // by this rank
  std::mutex abort_mutex;
  std::string abort_reason;  // the first
  std::atomic<bool> busy = false;
  std::string_view operation;  // that runs
  detail::engine<std::conditional_t<DeviceTransport<Net>, typename memory_of<Net>::type, HostAllocator>>
      engine;
  direct_engine<typename memory_of<Net>::lasting> direct;
  scratch_memory<typename memory_of<Net>::type> accumulators;
  mailbox mail;
  std::vector<parcel> parcels;  // of one batch
  topology hosts;
  std::uint32_t hosts_digest = 0;
  chooser choices;
  detail::staging staging;
  std::array<std::vector<std::size_t>, 4> lists;  // of sizes and offsets, of one call

 private:
  /// Memory of a device is given back by a thread that has set it.
  void leave_device() noexcept {
    try {
      net.copies().enter();
    } catch (const error&) {  // then the device is no more, nor its memory
    }
  }
};

}  // namespace detail

/// A group of ranks that call collectives together.
///
/// Every rank calls the same collectives in the same order. One thread at a time uses a communicator (a
/// second one gets `invalid_argument`); `abort` may be called from any. Movable; the moved-from object may
/// only be destroyed or assigned. After an error other than `invalid_argument` a communicator is unusable,
/// since it is not known which bytes have travelled: every later call throws `aborted` with the first reason.
template <Transport Net>
class communicator {
 public:
  /// Takes the transport, whose rank and size become those of the communicator. No communication. It uses channel 1 of the
  /// transport as well, for `send` and `recv`: two communicators need two worlds, each connected for itself.
  explicit communicator(Net net)
      : state_(std::make_unique<detail::communicator_state<Net>>(std::move(net))) {}

  int rank() const { return state_->net.rank(); }
  int size() const { return state_->net.size(); }

  /// The transport of the collectives. Not to be used while a collective runs.
  Net& transport() { return state_->net; }

  /// How long a collective may take before it throws `timeout`: 30 minutes unless set. Not a matter of
  /// agreement between ranks.
  std::chrono::nanoseconds timeout() const { return state_->timeout; }
  void set_timeout(std::chrono::nanoseconds timeout) { state_->timeout = timeout; }

  /// The hosts that ranks share, which `Hierarchical` and `Auto` go by: one host unless set. The same on all ranks.
  /// Throws `invalid_argument` for another number of ranks.
  const hccl::topology& hosts() const { return state_->hosts; }
  void set_hosts(hccl::topology hosts) {
    if (!hosts.bounds().empty() && hosts.size() != size()) {
      throw error(errc::invalid_argument,
                  detail::concat("rank ", rank(), ": set_hosts: the hosts have ", hosts.size(),
                                 " ranks, expected ", size()),
                  rank());
    }
    state_->hosts = std::move(hosts);
    state_->hosts_digest = detail::digest(state_->hosts);
    state_->choices.forget_prices();
  }

  /// The rules by which `Auto` chooses before it asks HCCL_ALGO and the price, the strongest first: none unless set.
  /// The same on all ranks; ranks that choose differently get `mismatch`. Throws `invalid_argument` for a rule that
  /// names what does not exist.
  const hccl::tuning& tuning() const { return state_->choices.rules(); }
  void set_tuning(hccl::tuning rules) {
    for (std::size_t i = 0; i < rules.size(); ++i)
      detail::check_rule(rules[i], detail::concat("rank ", rank(), ": set_tuning: rule ", i + 1));
    state_->choices.set_rules(std::move(rules));
  }

  /// Ends what this communicator does on all ranks: waiters here and on the peers throw `aborted`. From any
  /// thread.
  void abort(const error& why = error(errc::aborted, "abort was called")) noexcept {
    {
      const std::lock_guard lock(state_->abort_mutex);
      if (!state_->aborted.exchange(true)) state_->abort_reason = detail::reason(why);
    }
    state_->net.abort(why);
    state_->tagged_net.abort(why);
  }

 private:
  friend struct detail::access;

  std::unique_ptr<detail::communicator_state<Net>> state_;
};

namespace detail {

/// The inside of a communicator, for the collectives.
struct access {
  template <Transport Net>
  static communicator_state<Net>& of(communicator<Net>& comm) {
    return *comm.state_;
  }
};

/// Runs one operation of a communicator: alone, after `check(arguments)` has passed, and with the failures of
/// the past and the present accounted for. What `check` throws leaves the communicator as it was; what
/// `run(state)` throws makes it unusable. A lack of memory becomes `out_of_memory`. Compiled once per transport, not
/// per call.
template <Transport Net>
void operate(communicator<Net>& comm, std::string_view name, function_ref<void(const arguments&)> check,
             function_ref<void(communicator_state<Net>&)> run) {
  communicator_state<Net>& state = access::of(comm);
  if (state.busy.exchange(true, std::memory_order_acquire)) {
    throw error(errc::invalid_argument,
                concat("rank ", comm.rank(), ": ", name,
                       ": another thread is using this communicator; give each thread its own"),
                comm.rank());
  }
  struct release {
    std::atomic<bool>& busy;
    ~release() { busy.store(false, std::memory_order_release); }
  } const guard{state.busy};
  if (!state.failure.empty()) {
    throw error(errc::aborted, concat("rank ", comm.rank(), ": ", name,
                                      ": the communicator failed before: ", state.failure));
  }
  if (state.aborted.load(std::memory_order_acquire)) {
    const std::lock_guard lock(state.abort_mutex);
    throw error(errc::aborted, concat("rank ", comm.rank(), ": ", name,
                                      ": the communicator was aborted: ", state.abort_reason));
  }
  check(arguments(name, comm.rank(), comm.size()));
  state.operation = name;
  const auto fail = [&](const error& why) {
    state.failure = why.what();
    comm.abort(why);
  };
  try {
    if constexpr (DeviceTransport<Net>) state.net.copies().enter();
    run(state);
  } catch (const error& e) {
    const bool is_own = e.kind() == errc::out_of_memory || e.kind() == errc::device_failed;
    if (is_own && e.failed_rank() == no_rank) {  // of what knows no ranks
      const error why(e.kind(), concat("rank ", comm.rank(), ": ", name, ": ", reason(e)), comm.rank());
      fail(why);
      throw why;
    }
    fail(e);
    throw;
  } catch (const std::bad_alloc&) {
    const error why(errc::out_of_memory, concat("rank ", comm.rank(), ": ", name, ": no memory is left"),
                    comm.rank());
    fail(why);
    throw why;
  } catch (const std::exception& e) {
    fail(error(errc::aborted, concat("rank ", comm.rank(), ": ", name, ": ", e.what()), comm.rank()));
    throw;
  } catch (...) {
    fail(error(errc::aborted, concat("rank ", comm.rank(), ": ", name, ": an exception of unknown type"),
               comm.rank()));
    throw;
  }
}

}  // namespace detail

}  // namespace hccl::inline v0
