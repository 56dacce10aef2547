// SPDX-License-Identifier: Apache-2.0

// The HCCL API: operators that move elements.

#include "operate.hpp"

#include <hccl/collective/allgather.hpp>
#include <hccl/collective/allgatherv.hpp>
#include <hccl/collective/alltoall.hpp>
#include <hccl/collective/alltoallv.hpp>
#include <hccl/collective/barrier.hpp>
#include <hccl/collective/broadcast.hpp>
#include <hccl/collective/scatter.hpp>
#include <hccl/hccl.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

using namespace c_api;

/// Exchanges shares of any sizes, after both sides were checked.
void exchange(const called& c, HcclDataType type, share_list in, share_list out, aclrtStream stream) {
  c.launch(stream, [type, in = std::move(in), out = std::move(out)](const workplace& at) {
    std::byte* const data = at.input.fetch(in.pieces);
    with_element(type, [&]<class T>(T) {
      std::byte* const arrived = at.output.room(out.total * sizeof(T));
      hccl::alltoallv(at.comm, elements<T>(data, in.total * sizeof(T)), in.counts,
                      elements<T>(arrived, out.total * sizeof(T)), out.counts);
      store(arrived, out.pieces);
    });
  });
}

}  // namespace

extern "C" {

HcclResult HcclBroadcast(void* buf, std::uint64_t count, HcclDataType dataType, std::uint32_t root,
                         HcclComm comm, aclrtStream stream) {
  return operate("HcclBroadcast", comm, [&](const called& c) {
    const piece all = c.buffer("buf", buf, count, size_of("dataType", dataType));
    const int at_root = c.peer("root", root);
    c.launch(stream, [=](const workplace& at) {
      const bool is_root = at.comm.rank() == at_root;
      std::byte* const data = is_root ? at.input.fetch(all) : at.input.room(all.bytes);
      with_element(dataType,
                   [&]<class T>(T) { hccl::broadcast(at.comm, elements<T>(data, all.bytes), at_root); });
      if (!is_root) store(data, all);
    });
  });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, std::uint64_t recvCount, HcclDataType dataType,
                       std::uint32_t root, HcclComm comm, aclrtStream stream) {
  return operate("HcclScatter", comm, [&](const called& c) {
    const std::size_t element = size_of("dataType", dataType);
    const int at_root = c.peer("root", root);
    const std::uint64_t total = c.times_ranks("recvCount", recvCount);
    const piece in = c.rank() == at_root ? c.buffer("sendBuf", sendBuf, total, element) : piece();
    const piece out = c.buffer("recvBuf", recvBuf, recvCount, element);
    c.launch(stream, [=](const workplace& at) {
      std::byte* const data = at.input.fetch(in);
      std::byte* const share = at.output.room(out.bytes);
      with_element(dataType, [&]<class T>(T) {
        hccl::scatter(at.comm, elements<T>(data, in.bytes), elements<T>(share, out.bytes), at_root);
      });
      store(share, out);
    });
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, std::uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  return operate("HcclAllGather", comm, [&](const called& c) {
    const std::size_t element = size_of("dataType", dataType);
    const piece in = c.buffer("sendBuf", sendBuf, sendCount, element);
    const piece out = c.buffer("recvBuf", recvBuf, c.times_ranks("sendCount", sendCount), element);
    c.launch(stream, [=](const workplace& at) {
      std::byte* const share = at.input.fetch(in);
      std::byte* const all = at.output.room(out.bytes);
      with_element(dataType, [&]<class T>(T) {
        hccl::allgather(at.comm, elements<T>(share, in.bytes), elements<T>(all, out.bytes));
      });
      store(all, out);
    });
  });
}

HcclResult HcclAllGatherV(void* sendBuf, std::uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  return operate("HcclAllGatherV", comm, [&](const called& c) {
    const std::size_t element = size_of("dataType", dataType);
    const share_list out(c, "recvBuf", recvBuf, c.list("recvCounts", recvCounts),
                         c.list("recvDispls", recvDispls), element);
    c.same("sendCount", sendCount, "recvCounts of this rank", out.counts[static_cast<std::size_t>(c.rank())]);
    const piece in = c.buffer("sendBuf", sendBuf, sendCount, element);
    c.launch(stream, [=](const workplace& at) {
      std::byte* const share = at.input.fetch(in);
      with_element(dataType, [&]<class T>(T) {
        std::byte* const all = at.output.room(out.total * sizeof(T));
        hccl::allgatherv(at.comm, elements<T>(share, in.bytes), elements<T>(all, out.total * sizeof(T)),
                         out.counts);
        store(all, out.pieces);
      });
    });
  });
}

HcclResult HcclAlltoAll(const void* sendBuf, std::uint64_t sendCount, HcclDataType sendType,
                        const void* recvBuf, std::uint64_t recvCount, HcclDataType recvType, HcclComm comm,
                        aclrtStream stream) {
  return operate("HcclAlltoAll", comm, [&](const called& c) {
    const std::size_t element = size_of("sendType", sendType);
    c.same("recvType", recvType, "sendType", sendType);
    c.same("recvCount", recvCount, "sendCount", sendCount);
    const std::uint64_t total = c.times_ranks("sendCount", sendCount);
    const piece in = c.buffer("sendBuf", sendBuf, total, element);
    const piece out = c.buffer("recvBuf", recvBuf, total, element);
    c.launch(stream, [=](const workplace& at) {
      std::byte* const data = at.input.fetch(in);
      std::byte* const arrived = at.output.room(out.bytes);
      with_element(sendType, [&]<class T>(T) {
        hccl::alltoall(at.comm, elements<T>(data, in.bytes), elements<T>(arrived, out.bytes));
      });
      store(arrived, out);
    });
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return operate("HcclAlltoAllV", comm, [&](const called& c) {
    const std::size_t element = size_of("sendType", sendType);
    c.same("recvType", recvType, "sendType", sendType);
    exchange(c, sendType,
             share_list(c, "sendBuf", sendBuf, c.list("sendCounts", sendCounts), c.list("sdispls", sdispls),
                        element),
             share_list(c, "recvBuf", recvBuf, c.list("recvCounts", recvCounts), c.list("rdispls", rdispls),
                        element),
             stream);
  });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType,
                          const void* recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return operate("HcclAlltoAllVC", comm, [&](const called& c) {
    const std::size_t element = size_of("sendType", sendType);
    c.same("recvType", recvType, "sendType", sendType);
    const std::size_t n = c.ranks(), self = static_cast<std::size_t>(c.rank());
    const auto matrix = c.list("sendCountMatrix", sendCountMatrix, n * n);
    std::vector<std::uint64_t> column(n);
    for (std::size_t i = 0; i < n; ++i) column[i] = matrix[i * n + self];
    exchange(c, sendType, share_list(c, "sendBuf", sendBuf, matrix.subspan(self * n, n), {}, element),
             share_list(c, "recvBuf", recvBuf, column, {}, element), stream);
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return operate("HcclBarrier", comm, [&](const called& c) {
    c.launch(stream, [](const workplace& at) { hccl::barrier(at.comm); });
  });
}

}  // extern "C"
