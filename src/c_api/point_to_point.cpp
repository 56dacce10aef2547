// SPDX-License-Identifier: Apache-2.0

// The HCCL API: messages between two ranks.

#include "group.hpp"
#include "operate.hpp"

#include <hccl/collective/batch_send_recv.hpp>
#include <hccl/hccl.h>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace c_api {

void exchange(communicator& comm, std::vector<checked_message> messages, aclrtStream stream) {
  comm.launch(stream, [messages = std::move(messages)](const workplace& at) {
    constexpr std::size_t alignment = 16;  // of the widest element
    const auto room_of = [](const checked_message& m) {
      return (m.data.bytes + alignment - 1) / alignment * alignment;
    };
    std::size_t bytes = 0;
    for (const checked_message& m : messages) bytes += room_of(m);
    std::byte* const memory = at.input.room(bytes);
    std::byte* next = memory;
    std::vector<hccl::message> parcels;
    for (const checked_message& m : messages) {
      if (m.is_sent) load(m.data, next);
      with_element(m.type, [&]<class T>(T) {
        const auto data = elements<T>(next, m.data.bytes);
        parcels.push_back(m.is_sent ? hccl::message::to(m.peer, data) : hccl::message::from(m.peer, data));
      });
      next += room_of(m);
    }
    hccl::batch_send_recv(at.comm, parcels);
    next = memory;
    for (const checked_message& m : messages) {
      if (!m.is_sent) store(next, m.data);
      next += room_of(m);
    }
  });
}

}  // namespace c_api

namespace {

using namespace c_api;

checked_message checked(const called& c, bool is_sent, std::string_view peer_name, std::uint32_t peer,
                        std::string_view buffer_name, const void* buffer, std::uint64_t count,
                        HcclDataType type) {
  return {is_sent, c.peer(peer_name, peer), c.buffer(buffer_name, buffer, count, size_of("dataType", type)),
          type};
}

/// Exchanges one message, or has the open group do it.
void exchange_one(const called& c, const checked_message& message, aclrtStream stream) {
  if (group* const open = group::current()) {
    open->exchange_at_end(c.comm(), stream, message);
  } else {
    exchange(*c.comm(), {message}, stream);
  }
}

}  // namespace

extern "C" {

HcclResult HcclSend(void* sendBuf, std::uint64_t count, HcclDataType dataType, std::uint32_t destRank,
                    HcclComm comm, aclrtStream stream) {
  return operate("HcclSend", comm, [&](const called& c) {
    exchange_one(c, checked(c, true, "destRank", destRank, "sendBuf", sendBuf, count, dataType), stream);
  });
}

HcclResult HcclRecv(void* recvBuf, std::uint64_t count, HcclDataType dataType, std::uint32_t srcRank,
                    HcclComm comm, aclrtStream stream) {
  return operate("HcclRecv", comm, [&](const called& c) {
    exchange_one(c, checked(c, false, "srcRank", srcRank, "recvBuf", recvBuf, count, dataType), stream);
  });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, std::uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  return operate("HcclBatchSendRecv", comm, [&](const called& c) {
    if (sendRecvInfo == nullptr && itemNum > 0) c.refuse(HCCL_E_PTR, "sendRecvInfo is null");
    std::vector<checked_message> messages;
    for (std::uint32_t i = 0; i < itemNum; ++i) {
      const HcclSendRecvItem& item = sendRecvInfo[i];
      if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV) {
        c.refuse(HCCL_E_PARA, "sendRecvType of item ", i, " is ", static_cast<int>(item.sendRecvType),
                 ", expected HCCL_SEND or HCCL_RECV");
      }
      messages.push_back(checked(c, item.sendRecvType == HCCL_SEND, "remoteRank", item.remoteRank, "buf",
                                 item.buf, item.count, item.dataType));
    }
    if (group::current() != nullptr)
      c.refuse(HCCL_E_PARA, "is not for a group: put HcclSend and HcclRecv there");
    exchange(*c.comm(), std::move(messages), stream);
  });
}

}  // extern "C"
