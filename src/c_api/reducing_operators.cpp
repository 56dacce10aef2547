// SPDX-License-Identifier: Apache-2.0

// The HCCL API: operators that reduce.

#include "operate.hpp"

#include <hccl/collective/allreduce.hpp>
#include <hccl/collective/reduce.hpp>
#include <hccl/collective/reduce_scatter.hpp>
#include <hccl/collective/reduce_scatterv.hpp>
#include <hccl/hccl.h>

namespace {

using namespace c_api;

}  // namespace

extern "C" {

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, std::uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return operate("HcclAllReduce", comm, [&](const called& c) {
    const std::size_t element = size_of("dataType", dataType);
    c.reduces(op, dataType);
    const piece in = c.buffer("sendBuf", sendBuf, count, element);
    const piece out = c.buffer("recvBuf", recvBuf, count, element);
    c.launch(stream, [=](const workplace& at) {
      std::byte* const data = at.input.fetch(in);
      with_reduction(dataType, op, [&]<class T>(T, auto reduction) {
        hccl::allreduce(at.comm, elements<T>(data, in.bytes), reduction);
      });
      store(data, out);
    });
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, std::uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, std::uint32_t root, HcclComm comm, aclrtStream stream) {
  return operate("HcclReduce", comm, [&](const called& c) {
    const std::size_t element = size_of("dataType", dataType);
    c.reduces(op, dataType);
    const int at_root = c.peer("root", root);
    const piece in = c.buffer("sendBuf", sendBuf, count, element);
    const piece out = c.rank() == at_root ? c.buffer("recvBuf", recvBuf, count, element) : piece();
    c.launch(stream, [=](const workplace& at) {
      std::byte* const data = at.input.fetch(in);
      with_reduction(dataType, op, [&]<class T>(T, auto reduction) {
        const auto all = elements<T>(data, in.bytes);
        hccl::reduce(at.comm, all, all, at_root, reduction);
      });
      store(data, out);
    });
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, std::uint64_t recvCount, HcclDataType dataType,
                             HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return operate("HcclReduceScatter", comm, [&](const called& c) {
    const std::size_t element = size_of("dataType", dataType);
    c.reduces(op, dataType);
    const piece in = c.buffer("sendBuf", sendBuf, c.times_ranks("recvCount", recvCount), element);
    const piece out = c.buffer("recvBuf", recvBuf, recvCount, element);
    c.launch(stream, [=](const workplace& at) {
      std::byte* const data = at.input.fetch(in);
      std::byte* const share = at.output.room(out.bytes);
      with_reduction(dataType, op, [&]<class T>(T, auto reduction) {
        hccl::reduce_scatter(at.comm, elements<T>(data, in.bytes), elements<T>(share, out.bytes), reduction);
      });
      store(share, out);
    });
  });
}

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls, void* recvBuf,
                              std::uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream) {
  return operate("HcclReduceScatterV", comm, [&](const called& c) {
    const std::size_t element = size_of("dataType", dataType);
    c.reduces(op, dataType);
    const share_list in(c, "sendBuf", sendBuf, c.list("sendCounts", sendCounts),
                        c.list("sendDispls", sendDispls), element);
    c.same("recvCount", recvCount, "sendCounts of this rank", in.counts[static_cast<std::size_t>(c.rank())]);
    const piece out = c.buffer("recvBuf", recvBuf, recvCount, element);
    c.launch(stream, [=](const workplace& at) {
      std::byte* const data = at.input.fetch(in.pieces);
      std::byte* const share = at.output.room(out.bytes);
      with_reduction(dataType, op, [&]<class T>(T, auto reduction) {
        hccl::reduce_scatterv(at.comm, elements<T>(data, in.total * sizeof(T)), elements<T>(share, out.bytes),
                              in.counts, reduction);
      });
      store(share, out);
    });
  });
}

}  // extern "C"
