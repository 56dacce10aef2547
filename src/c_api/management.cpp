// SPDX-License-Identifier: Apache-2.0

// The HCCL API: communicators, and what they tell.

#include "communicator.hpp"
#include "config.hpp"
#include "group.hpp"
#include "join.hpp"
#include "last_error.hpp"
#include "rank_table.hpp"
#include "root_info.hpp"

#include <hccl/bootstrap/detail/process.hpp>
#include <hccl/hccl_comm.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace c_api;

void join_by_root_info(std::uint32_t size, const HcclRootInfo* info, std::uint32_t rank, const config& wanted,
                       HcclComm& made) {
  const int ranks = checked_size(size, rank);
  group::make([=, &made, place = meeting::read(info)] {
    made = join_at(place, static_cast<int>(rank), ranks, place.name, wanted);
  });
}

void join_by_table(const char* path, std::uint32_t rank, const config& wanted, HcclComm& made) {
  constexpr std::size_t longest_path = 4096;
  const std::string_view text = &not_null("clusterInfo", path);
  if (text.size() >= longest_path)
    throw refusal(HCCL_E_PARA, "clusterInfo has ", text.size(), " characters, expected less than ",
                  longest_path);
  const rank_table table = rank_table::load(std::string(text));
  const int ranks = checked_size(static_cast<std::uint32_t>(table.ranks.size()), rank);
  const int id = table.ranks[rank].id;
  std::int32_t device = 0;
  if (aclrtGetDevice(&device) == ACL_SUCCESS && device != id) {
    throw refusal(HCCL_E_PARA, "rank ", rank, " has device ", id,
                  " in the rank table, but this thread has set device ", device);
  }
  group::make([=, &made, store = table.store(launched_job())] {
    made = join(static_cast<int>(rank), ranks, store, hccl::detail::concat(store, "_world"), wanted);
  });
}

/// A device that stays in use.
class used_device {
 public:
  explicit used_device(std::int32_t id) : id_(id) { expect_success(aclrtSetDevice(id), "aclrtSetDevice"); }
  used_device(const used_device&) = delete;
  used_device& operator=(const used_device&) = delete;
  ~used_device() { aclrtResetDevice(id_); }

 private:
  std::int32_t id_;
};

/// Makes a communicator of each device, in a thread for each; throws the first failure.
std::vector<HcclComm> join_devices(const std::vector<std::int32_t>& devices) {
  const std::string name = hccl::detail::random_name(), store = "unix:@hccl-" + name;
  std::vector<HcclComm> made(devices.size());
  std::exception_ptr failed;
  std::mutex mutex;
  const auto join_one = [&](std::size_t rank) {
    try {
      auto device = std::make_shared<used_device>(devices[rank]);
      made[rank] = join(static_cast<int>(rank), static_cast<int>(devices.size()), store, name, {});
      communicators::instance().find(made[rank])->keep(std::move(device));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failed) failed = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < devices.size(); ++rank) threads.emplace_back(join_one, rank);
  }
  if (!failed) return made;
  for (HcclComm comm : made) {
    if (comm != nullptr) communicators::instance().remove(comm);
  }
  std::rethrow_exception(failed);
}

}  // namespace

extern "C" {

const char* hcclGetLastError(void) { return last_error().c_str(); }

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return guarded("HcclGetRootInfo", [&] {
    HcclRootInfo& info = not_null("rootInfo", rootInfo);
    meeting::open().write(&info);
  });
}

HcclResult HcclCommInitRootInfo(std::uint32_t nRanks, const HcclRootInfo* rootInfo, std::uint32_t rank,
                                HcclComm* comm) {
  return guarded("HcclCommInitRootInfo",
                 [&] { join_by_root_info(nRanks, rootInfo, rank, {}, not_null("comm", comm)); });
}

HcclResult HcclCommInitRootInfoConfig(std::uint32_t nRanks, const HcclRootInfo* rootInfo, std::uint32_t rank,
                                      const HcclCommConfig* commConfig, HcclComm* comm) {
  return guarded("HcclCommInitRootInfoConfig", [&] {
    join_by_root_info(nRanks, rootInfo, rank, config::read(commConfig), not_null("comm", comm));
  });
}

HcclResult HcclCommInitClusterInfo(const char* clusterInfo, std::uint32_t rank, HcclComm* comm) {
  return guarded("HcclCommInitClusterInfo",
                 [&] { join_by_table(clusterInfo, rank, {}, not_null("comm", comm)); });
}

HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, std::uint32_t rank,
                                         HcclCommConfig* commConfig, HcclComm* comm) {
  return guarded("HcclCommInitClusterInfoConfig",
                 [&] { join_by_table(clusterInfo, rank, config::read(commConfig), not_null("comm", comm)); });
}

HcclResult HcclCommInitAll(std::uint32_t ndev, std::int32_t* devices, HcclComm* comms) {
  return guarded("HcclCommInitAll", [&] {
    not_null("comms", comms);
    std::uint32_t count = 0;
    expect_success(aclrtGetDeviceCount(&count), "aclrtGetDeviceCount");
    if (ndev < 1 || ndev > count)
      throw refusal(HCCL_E_PARA, "ndev is ", ndev, ", expected 1 to ", count, ", the devices of this host");
    std::vector<std::int32_t> ids(ndev);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = devices == nullptr ? static_cast<std::int32_t>(i) : devices[i];
      if (ids[i] < 0 || static_cast<std::uint32_t>(ids[i]) >= count)
        throw refusal(HCCL_E_PARA, "devices[", i, "] is ", ids[i], ", expected 0 to ", count - 1);
      if (std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i), ids[i]) !=
          ids.begin() + static_cast<std::ptrdiff_t>(i))
        throw refusal(HCCL_E_PARA, "devices[", i, "] is ", ids[i], ", which is in the list before");
    }
    std::ranges::copy(join_devices(ids), comms);
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return guarded("HcclCommDestroy", [&] { communicators::instance().remove(comm); });
}

HcclResult HcclGetRankSize(HcclComm comm, std::uint32_t* rankSize) {
  return guarded("HcclGetRankSize", [&] {
    const auto found = communicators::instance().find(comm);
    not_null("rankSize", rankSize) = static_cast<std::uint32_t>(found->size());
  });
}

HcclResult HcclGetRankId(HcclComm comm, std::uint32_t* rank) {
  return guarded("HcclGetRankId", [&] {
    const auto found = communicators::instance().find(comm);
    not_null("rank", rank) = static_cast<std::uint32_t>(found->rank());
  });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return guarded("HcclGetCommName", [&] {
    const auto found = communicators::instance().find(comm);
    not_null("commName", commName);
    const std::string_view name = std::string_view(found->name()).substr(0, COMM_NAME_MAX_LENGTH - 1);
    *std::ranges::copy(name, commName).out = '\0';
  });
}

HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm) {
  return guarded("HcclCommGetHandleWithName", [&] {
    const std::string_view name = &not_null("commName", commName);
    HcclComm& found = not_null("comm", comm);
    HcclComm const known = communicators::instance().named(name, current_context());
    if (known == nullptr) throw refusal(HCCL_E_NOT_FOUND, "this device has no communicator '", name, "'");
    found = known;
  });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return guarded("HcclGetCommAsyncError", [&] {
    HcclResult& result = not_null("asyncError", asyncError);
    const failure first = communicators::instance().find(comm)->first_failure();
    result = first.result;
    if (result != HCCL_SUCCESS) last_error() = first.why;
  });
}

std::uint32_t HcclGetCommConfigCapability(void) { return HCCL_COMM_CONFIG_RESERVED; }

}  // extern "C"
