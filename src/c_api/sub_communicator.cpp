// SPDX-License-Identifier: Apache-2.0

// The HCCL API: communicators of some ranks of another.

#include "communicator.hpp"
#include "config.hpp"
#include "group.hpp"
#include "join.hpp"
#include "last_error.hpp"
#include "root_info.hpp"
#include "workplace.hpp"

#include <hccl/collective/send_recv.hpp>
#include <hccl/hccl_comm.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace c_api;

constexpr std::uint64_t of_no_member = 0xffffffff;
constexpr int invitation_tag = std::numeric_limits<int>::max();  // no program's: it cannot say tags

void check_members(const communicator& whole, std::span<const std::uint32_t> ids, std::uint32_t own_place) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= static_cast<std::uint32_t>(whole.size()))
      throw refusal(HCCL_E_PARA, "rankIds[", i, "] is ", ids[i], ", expected 0 to ", whole.size() - 1);
    if (std::ranges::find(ids.first(i), ids[i]) != ids.begin() + static_cast<std::ptrdiff_t>(i))
      throw refusal(HCCL_E_PARA, "rankIds[", i, "] is ", ids[i], ", which is in the list before");
  }
  if (ids[own_place] != static_cast<std::uint32_t>(whole.rank())) {
    throw refusal(HCCL_E_PARA, "rankIds[", own_place, "] is ", ids[own_place], ", but this is rank ",
                  whole.rank());
  }
}

/// The first member opens a meeting and tells the others.
meeting invite(communicator& whole, const std::vector<int>& members, int own_place) {
  HcclRootInfo info;
  meeting place;
  if (own_place == 0) {
    place = meeting::open();
    place.write(&info);
  }
  whole.run_now([&](const workplace& at) {
    const std::span<char> text = info.internal;
    if (own_place == 0) {
      for (std::size_t i = 1; i < members.size(); ++i) hccl::send(at.comm, text, members[i], invitation_tag);
    } else {
      hccl::recv(at.comm, text, members[0], invitation_tag);
    }
  });
  return own_place == 0 ? place : meeting::read(&info);
}

}  // namespace

extern "C" HcclResult HcclCreateSubCommConfig(HcclComm* comm, std::uint32_t rankNum, std::uint32_t* rankIds,
                                              std::uint64_t subCommId, std::uint32_t subCommRankId,
                                              HcclCommConfig* commConfig, HcclComm* subComm) {
  return guarded("HcclCreateSubCommConfig", [&] {
    const HcclComm handle = not_null("comm", comm);
    HcclComm& made = not_null("subComm", subComm);
    const auto whole = communicators::instance().find(handle);
    if (whole->parent() != nullptr) {
      throw refusal(HCCL_E_NOT_SUPPORT, "'", whole->name(),
                    "' is a part itself; make another part of the whole communicator");
    }
    if (rankIds == nullptr && subCommId == of_no_member) {
      made = nullptr;
      return;
    }
    not_null("rankIds", rankIds);
    const int size = checked_size(rankNum, subCommRankId), own_place = static_cast<int>(subCommRankId);
    if (rankNum > static_cast<std::uint32_t>(whole->size()))
      throw refusal(HCCL_E_PARA, "rankNum is ", rankNum, ", expected 1 to ", whole->size());
    check_members(*whole, {rankIds, rankNum}, subCommRankId);
    const config wanted = commConfig == nullptr ? config() : config::read(commConfig);
    group::make([=, &made, members = std::vector<int>(rankIds, rankIds + rankNum)] {
      const meeting place = invite(*whole, members, own_place);
      const auto name = hccl::detail::concat(whole->name(), "_sub_", subCommId);
      made = join_at(place, own_place, size, name, wanted);
      communicators::instance().find(made)->set_parent(handle);
    });
  });
}
