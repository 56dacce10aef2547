// SPDX-License-Identifier: Apache-2.0

#include "join.hpp"

#include "settings.hpp"
#include "workplace.hpp"

#include <hccl/algorithm/hccl_algo.hpp>
#include <hccl/bootstrap/connect.hpp>
#include <hccl/bootstrap/detail/process.hpp>
#include <hccl/collective/allgather.hpp>
#include <hccl/transport/detail/tcp_interface.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace c_api {

namespace {

/// What each rank tells all others when they have met.
struct introduction {
  std::array<char, 256> host{};
  std::array<char, 64> address{};  // at which it listens
  std::array<char, COMM_NAME_MAX_LENGTH> name{};
  std::int32_t device = 0;

  introduction() = default;
  introduction(std::string_view on_host, std::string_view at_address, std::string_view comm_name,
               std::int32_t its_device)
      : device(its_device) {
    std::ranges::copy(on_host.substr(0, host.size() - 1), host.begin());
    std::ranges::copy(at_address.substr(0, address.size() - 1), address.begin());
    std::ranges::copy(comm_name.substr(0, name.size() - 1), name.begin());
  }
};

/// Every rank has a device of its own, all mean the same communicator, and none is on a host that may not take part.
void check_introductions(std::span<const introduction> ranks) {
  const whitelist admitted;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const introduction& own = ranks[i];
    if (own.name != ranks[0].name) {
      throw refusal(HCCL_E_PARA, "rank ", i, " calls the communicator '", own.name.data(), "', rank 0 '",
                    ranks[0].name.data(), "'");
    }
    if (!admitted.has(own.address.data())) {
      throw refusal(HCCL_E_NETWORK, "rank ", i, " listens at ", own.address.data(),
                    ", which is not in the file of HCCL_WHITELIST_FILE");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (own.device == ranks[j].device && own.host == ranks[j].host) {
        throw refusal(HCCL_E_PARA, "ranks ", j, " and ", i, " both use device ", own.device, " of host ",
                      own.host.data(), "; give each rank a device of its own by aclrtSetDevice");
      }
    }
  }
}

/// That of this host by which others reach it.
std::string own_address() {
  const hccl::detail::interface_choice here(hccl::detail::interface_wishes::from_environment());
  return here.choose("").to_string();
}

constexpr std::chrono::seconds default_timeout{1836};

}  // namespace

HcclComm join(int rank, int size, const std::string& store, const std::string& name, const config& wanted) {
  aclrtContext const context = current_context();
  const std::int32_t device = current_device();
  const std::string& called = wanted.name.empty() ? name : wanted.name;
  auto& known = communicators::instance();
  if (known.named(called, context) != nullptr) {
    throw refusal(HCCL_E_PARA, "device ", device, " has a communicator '", called,
                  "' already; destroy it, or choose another name");
  }
  check_settings();
  const auto rules = hccl::read_hccl_algo(wanted.algorithm, "hcclAlgo");

  auto comm = hccl::connect<transport>({.rank = rank, .size = size, .store = store, .timeout = {}});
  const introduction own(hccl::detail::host_name(), own_address(), called, device);
  std::vector<introduction> ranks(static_cast<std::size_t>(size));
  hccl::allgather(comm, std::span(&own, 1), ranks);
  check_introductions(ranks);
  if (wanted.timeout) {
    comm.set_timeout(wanted.timeout->count() == 0 ? std::chrono::nanoseconds::max() : *wanted.timeout);
  } else if (!hccl::detail::seconds_from("HCCL_EXEC_TIMEOUT", "HCCL_TIMEOUT")) {
    comm.set_timeout(default_timeout);
  }
  if (!rules.empty()) comm.set_tuning(rules);
  return known.add(
      std::make_shared<communicator>(std::make_unique<worker>(std::move(comm)), called, context));
}

HcclComm join_at(const meeting& place, int rank, int size, const std::string& name, const config& wanted) {
  struct closing {
    const meeting& place;
    int ranks;
    ~closing() { place.close(ranks); }
  } const at_end{place, size};
  return join(rank, size, place.store, name, wanted);
}

std::string launched_job() {
  try {
    return hccl::find_launch().store;
  } catch (const hccl::error&) {  // of a launcher that tells no meeting point: a rank table does
    return {};
  }
}

int checked_size(std::uint32_t size, std::uint32_t rank) {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  if (size < 1 || size > most) throw refusal(HCCL_E_PARA, "nRanks is ", size, ", expected 1 to ", most);
  if (rank >= size) throw refusal(HCCL_E_PARA, "rank is ", rank, ", expected 0 to ", size - 1);
  return static_cast<int>(size);
}

}  // namespace c_api
