// SPDX-License-Identifier: Apache-2.0

// The convenience spelling: blocking operators, and ranks that find each other by themselves.

#include "communicator.hpp"
#include "join.hpp"
#include "last_error.hpp"
#include "rank_table.hpp"

#include <hccl/bootstrap/connect.hpp>
#include <hccl/bootstrap/detail/process.hpp>
#include <hccl/bootstrap/launch.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/hccl.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace c_api;

constexpr const char* world_name = "hccl_world_group";

std::chrono::nanoseconds connect_timeout() {
  constexpr std::chrono::seconds usual{120};
  return hccl::detail::seconds_from("HCCL_CONNECT_TIMEOUT", "HCCL_TIMEOUT").value_or(usual);
}

/// Threads of this process that wait for each other.
class gathering {
 public:
  explicit gathering(int size) : size_(size) {}

  int size() const { return size_; }
  bool is_complete() const { return static_cast<int>(devices_.size()) == size_; }
  const std::string& store() const { return store_; }

  void come(std::int32_t device) {
    if (std::ranges::find(devices_, device) != devices_.end()) {
      throw refusal(HCCL_E_PARA, "another thread uses device ", device,
                    " already; call aclrtSetDevice with a device of its own in each");
    }
    devices_.push_back(device);
  }
  void leave(std::int32_t device) { std::erase(devices_, device); }
  std::size_t here() const { return devices_.size(); }

  /// The place of a device among all that have come.
  int rank_of(std::int32_t device) const {
    return static_cast<int>(std::ranges::count_if(devices_, [&](std::int32_t d) { return d < device; }));
  }

 private:
  int size_;
  std::string store_ = "unix:@hccl-" + hccl::detail::random_name();
  std::vector<std::int32_t> devices_;
};

/// Where the threads of this process meet.
class meeting_place {
 public:
  static meeting_place& instance() {
    static meeting_place place;
    return place;
  }

  /// Waits until `size` threads have come.
  std::shared_ptr<const gathering> wait(int size, std::int32_t device) {
    const auto until = hccl::deadline::after(connect_timeout());
    std::unique_lock lock(mutex_);
    if (std::exchange(owner_, ::getpid()) != ::getpid())
      open_ = nullptr;  // of threads that a fork has left behind
    if (!open_) open_ = std::make_shared<gathering>(size);
    const auto mine = open_;
    if (mine->size() != size)
      throw refusal(HCCL_E_PARA, "n is ", size, ", but another thread waits for ", mine->size(), " ranks");
    mine->come(device);
    if (mine->is_complete()) {
      open_ = nullptr;  // the next ones gather anew
      changed_.notify_all();
      return mine;
    }
    while (!mine->is_complete() && !until.expired()) changed_.wait_for(lock, std::chrono::milliseconds(100));
    if (mine->is_complete()) return mine;
    mine->leave(device);
    if (mine->here() == 0) open_ = nullptr;
    throw refusal(HCCL_E_TIMEOUT, "n is ", size, ", but only ", mine->here() + 1, " of ", size,
                  " ranks came before the connect timeout. Start the program by hcclrun -n ", size,
                  ", or call hcclCommInitAll in ", size,
                  " threads of it, each after aclrtSetDevice of its own device");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<gathering> open_;
  pid_t owner_ = ::getpid();
};

/// The communicator that this thread has joined last.
HcclComm& joined() {
  static thread_local HcclComm comm = nullptr;
  return comm;
}

/// The same, or null if there is none, or none any more.
std::shared_ptr<communicator> joined_here() {
  return joined() == nullptr ? nullptr : communicators::instance().find_if_there(joined());
}

/// RANK_ID, which belongs to a rank table, or else what a launcher says.
int rank_in_table(int size) {
  const char* const text = std::getenv("RANK_ID");
  if (text == nullptr && hccl::launched()) return hccl::find_launch().rank;
  const std::string_view digits = text == nullptr ? "" : text;
  int rank = -1;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  if (failure != std::errc() || end != digits.data() + digits.size() || rank < 0 || rank >= size) {
    throw refusal(HCCL_E_PARA, "RANK_TABLE_FILE is set, but RANK_ID is '", digits, "', expected 0 to ",
                  size - 1);
  }
  return rank;
}

HcclComm join_world(int n, const std::int32_t* devices) {
  if (n < 1) throw refusal(HCCL_E_PARA, "n is ", n, ", expected at least 1");
  const std::int32_t device = current_device();
  if (const char* const path = std::getenv("RANK_TABLE_FILE"); path != nullptr && *path != '\0') {
    const auto table = rank_table::load(path);
    if (n != static_cast<int>(table.ranks.size()))
      throw refusal(HCCL_E_PARA, "n is ", n, ", but the table of RANK_TABLE_FILE has ", table.ranks.size(),
                    " ranks");
    return join(rank_in_table(n), n, table.store(launched_job()), world_name, {});
  }
  const auto job = hccl::find_launch();
  if (job.origin != hccl::launch_info().origin) {
    if (n != job.size) {
      throw refusal(HCCL_E_PARA, "n is ", n, ", but the launcher has started ", job.size, " ranks (",
                    job.origin, ")");
    }
    return join(job.rank, job.size, job.store, world_name, {});
  }
  const auto all = meeting_place::instance().wait(n, device);
  int rank = all->rank_of(device);
  if (devices != nullptr) {
    const auto* const place = std::find(devices, devices + n, device);
    if (place == devices + n)
      throw refusal(HCCL_E_PARA, "devices does not name device ", device, " of this thread");
    rank = static_cast<int>(place - devices);
  }
  return join(rank, n, all->store(), world_name, {});
}

/// Waits for the operator that was launched into the default stream.
HcclResult finished(HcclResult launched, const char* call, HcclComm comm) {
  if (launched != HCCL_SUCCESS) return launched;
  return guarded(call, [&] {
    const aclError code = aclrtSynchronizeStream(nullptr);
    const failure first = communicators::instance().find(comm)->first_failure();
    if (first.result != HCCL_SUCCESS) throw refusal(first.result, first.why);
    expect_success(code, "aclrtSynchronizeStream");
  });
}

void* changeable(const void* buffer) { return const_cast<void*>(buffer); }  // only read

}  // namespace

extern "C" {

HcclResult hcclCommInitAll(hcclComm_t* comm, int n, const std::int32_t* devices) {
  return guarded("hcclCommInitAll", [&] {
    hcclComm_t& made = not_null("comm", comm);
    made = joined() = join_world(n, devices);
  });
}

HcclResult hcclCommDestroy(hcclComm_t comm) {
  const HcclResult result = HcclCommDestroy(comm);
  if (result == HCCL_SUCCESS && joined() == comm) joined() = nullptr;
  return result;
}

HcclResult hcclGetRankId(int* rank) {
  return guarded("hcclGetRankId", [&] {
    int& found = not_null("rank", rank);
    const auto comm = joined_here();
    found = comm != nullptr ? comm->rank() : hccl::find_launch().rank;
  });
}

HcclResult hcclGetRankSize(int* size) {
  return guarded("hcclGetRankSize", [&] {
    int& found = not_null("size", size);
    const auto comm = joined_here();
    found = comm != nullptr ? comm->size() : hccl::find_launch().size;
  });
}

HcclResult hcclAllReduce(const void* sendBuf, void* recvBuf, std::uint64_t count, HcclDataType type,
                         HcclReduceOp op, hcclComm_t comm) {
  return finished(HcclAllReduce(changeable(sendBuf), recvBuf, count, type, op, comm, nullptr),
                  "hcclAllReduce", comm);
}

HcclResult hcclBroadcast(void* buf, std::uint64_t count, HcclDataType type, std::uint32_t root,
                         hcclComm_t comm) {
  return finished(HcclBroadcast(buf, count, type, root, comm, nullptr), "hcclBroadcast", comm);
}

HcclResult hcclReduce(const void* sendBuf, void* recvBuf, std::uint64_t count, HcclDataType type,
                      HcclReduceOp op, std::uint32_t root, hcclComm_t comm) {
  return finished(HcclReduce(changeable(sendBuf), recvBuf, count, type, op, root, comm, nullptr),
                  "hcclReduce", comm);
}

HcclResult hcclScatter(const void* sendBuf, void* recvBuf, std::uint64_t recvCount, HcclDataType type,
                       std::uint32_t root, hcclComm_t comm) {
  return finished(HcclScatter(changeable(sendBuf), recvBuf, recvCount, type, root, comm, nullptr),
                  "hcclScatter", comm);
}

HcclResult hcclAllGather(const void* sendBuf, void* recvBuf, std::uint64_t sendCount, HcclDataType type,
                         hcclComm_t comm) {
  return finished(HcclAllGather(changeable(sendBuf), recvBuf, sendCount, type, comm, nullptr),
                  "hcclAllGather", comm);
}

HcclResult hcclReduceScatter(const void* sendBuf, void* recvBuf, std::uint64_t recvCount, HcclDataType type,
                             HcclReduceOp op, hcclComm_t comm) {
  return finished(HcclReduceScatter(changeable(sendBuf), recvBuf, recvCount, type, op, comm, nullptr),
                  "hcclReduceScatter", comm);
}

HcclResult hcclAlltoAll(const void* sendBuf, void* recvBuf, std::uint64_t countOfEach, HcclDataType type,
                        hcclComm_t comm) {
  return finished(HcclAlltoAll(sendBuf, countOfEach, type, recvBuf, countOfEach, type, comm, nullptr),
                  "hcclAlltoAll", comm);
}

HcclResult hcclSend(const void* sendBuf, std::uint64_t count, HcclDataType type, std::uint32_t destRank,
                    hcclComm_t comm) {
  return finished(HcclSend(changeable(sendBuf), count, type, destRank, comm, nullptr), "hcclSend", comm);
}

HcclResult hcclRecv(void* recvBuf, std::uint64_t count, HcclDataType type, std::uint32_t srcRank,
                    hcclComm_t comm) {
  return finished(HcclRecv(recvBuf, count, type, srcRank, comm, nullptr), "hcclRecv", comm);
}

HcclResult hcclBarrier(hcclComm_t comm) { return finished(HcclBarrier(comm, nullptr), "hcclBarrier", comm); }

}  // extern "C"
