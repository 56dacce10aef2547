// SPDX-License-Identifier: Apache-2.0

// The HCCL API: windows, memory of equal size on all ranks.

#include "communicator.hpp"
#include "last_error.hpp"
#include "workplace.hpp"

#include <hccl/collective/allgather.hpp>
#include <hccl/hccl_comm.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

namespace {

using namespace c_api;

struct window {
  HcclComm comm;
  const std::byte* begin;
  std::size_t size;
};

/// The windows of this process. Never destroyed: threads may use them until the end.
struct window_list {
  std::mutex mutex;
  std::list<window> windows;

  static window_list& instance() {
    static auto* const all = new window_list;
    return *all;
  }
};

/// All ranks register as many bytes.
void agree(communicator& comm, std::uint64_t size) {
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(comm.size()));
  comm.run_now([&](const workplace& at) { hccl::allgather(at.comm, std::span(&size, 1), sizes); });
  const auto other = std::ranges::find_if(sizes, [&](std::uint64_t s) { return s != size; });
  if (other != sizes.end()) {
    throw refusal(HCCL_E_PARA, "size is ", size, " on rank ", comm.rank(), ", but ", *other, " on rank ",
                  other - sizes.begin());
  }
}

}  // namespace

extern "C" {

HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, std::uint64_t size, HcclCommSymWindow* winHandle,
                                  std::uint32_t flag) {
  return guarded("HcclCommSymWinRegister", [&] {
    const auto found = communicators::instance().find(comm);
    not_null("addr", static_cast<std::byte*>(addr));
    HcclCommSymWindow& made = not_null("winHandle", winHandle);
    if (size == 0) throw refusal(HCCL_E_PARA, "size is 0");
    if (flag != 1) throw refusal(HCCL_E_PARA, "flag is ", flag, ", expected 1");
    agree(*found, size);
    auto& all = window_list::instance();
    const std::lock_guard lock(all.mutex);
    made = &all.windows.emplace_back(window{comm, static_cast<const std::byte*>(addr), size});
  });
}

HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle) {
  return guarded("HcclCommSymWinDeregister", [&] {
    auto& all = window_list::instance();
    const std::lock_guard lock(all.mutex);
    if (all.windows.remove_if([&](const window& w) { return &w == winHandle; }) == 0)
      throw refusal(HCCL_E_PARA, "winHandle is no window");
  });
}

HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, std::size_t size, HcclCommSymWindow* winHandle,
                             std::size_t* offset) {
  return guarded("HcclCommSymWinGet", [&] {
    communicators::instance().find(comm);
    HcclCommSymWindow& found = not_null("winHandle", winHandle);
    std::size_t& distance = not_null("offset", offset);
    const auto begin = reinterpret_cast<std::uintptr_t>(ptr);
    auto& all = window_list::instance();
    const std::lock_guard lock(all.mutex);
    for (window& w : all.windows) {
      const auto first = reinterpret_cast<std::uintptr_t>(w.begin);
      if (w.comm != comm || begin < first || begin - first > w.size || size > w.size - (begin - first))
        continue;
      found = &w;
      distance = begin - first;
      return;
    }
    throw refusal(HCCL_E_NOT_FOUND, "no window of this communicator has ", size, " bytes at ptr");
  });
}

}  // extern "C"
