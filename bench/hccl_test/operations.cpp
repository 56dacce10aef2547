// SPDX-License-Identifier: Apache-2.0

#include "operation.hpp"

namespace hccl_test {

namespace {

double others(double ranks) { return (ranks - 1) / ranks; }
double twice_others(double ranks) { return 2 * others(ranks); }
double one(double) { return 1; }

origin combined(const call&, std::size_t i) { return {origin::all, i}; }
origin combined_share(const call& c, std::size_t i) {
  return {origin::all, static_cast<std::size_t>(c.rank) * c.block + i};
}
origin of_root(const call& c, std::size_t i) { return {static_cast<int>(c.root), i}; }
origin share_of_root(const call& c, std::size_t i) {
  return {static_cast<int>(c.root), static_cast<std::size_t>(c.rank) * c.block + i};
}
origin of_each(const call& c, std::size_t i) { return {static_cast<int>(i / c.block), i % c.block}; }
origin share_of_each(const call& c, std::size_t i) {
  return {static_cast<int>(i / c.block), static_cast<std::size_t>(c.rank) * c.block + i % c.block};
}

constexpr std::size_t each = operation::each;

}  // namespace

const operation all_reduce{
    "all_reduce",
    false,
    true,
    false,
    1,
    1,
    [](const call& c) { return HcclAllReduce(c.send, c.recv, c.block, c.type, c.op, c.comm, c.stream); },
    combined,
    twice_others};

const operation all_gather{
    "all_gather",
    true,
    false,
    false,
    1,
    each,
    [](const call& c) { return HcclAllGather(c.send, c.recv, c.block, c.type, c.comm, c.stream); },
    of_each,
    others};

const operation all_gatherv{"all_gatherv",
                            true,
                            false,
                            false,
                            1,
                            each,
                            [](const call& c) {
                              return HcclAllGatherV(c.send, c.block, c.recv, c.counts, c.offsets, c.type,
                                                    c.comm, c.stream);
                            },
                            of_each,
                            others};

const operation broadcast{"broadcast",
                          false,
                          false,
                          false,
                          1,
                          1,
                          [](const call& c) {
                            void* const data = c.rank == static_cast<int>(c.root) ? c.send : c.recv;
                            return HcclBroadcast(data, c.block, c.type, c.root, c.comm, c.stream);
                          },
                          of_root,
                          one};

const operation reduce{
    "reduce",
    false,
    true,
    true,
    1,
    1,
    [](const call& c) { return HcclReduce(c.send, c.recv, c.block, c.type, c.op, c.root, c.comm, c.stream); },
    combined,
    one};

const operation reduce_scatter{
    "reduce_scatter",
    true,
    true,
    false,
    each,
    1,
    [](const call& c) { return HcclReduceScatter(c.send, c.recv, c.block, c.type, c.op, c.comm, c.stream); },
    combined_share,
    others};

const operation reduce_scatterv{"reduce_scatterv",
                                true,
                                true,
                                false,
                                each,
                                1,
                                [](const call& c) {
                                  return HcclReduceScatterV(c.send, c.counts, c.offsets, c.recv, c.block,
                                                            c.type, c.op, c.comm, c.stream);
                                },
                                combined_share,
                                others};

const operation scatter{
    "scatter",
    true,
    false,
    false,
    each,
    1,
    [](const call& c) { return HcclScatter(c.send, c.recv, c.block, c.type, c.root, c.comm, c.stream); },
    share_of_root,
    others};

const operation alltoall{"alltoall",
                         true,
                         false,
                         false,
                         each,
                         each,
                         [](const call& c) {
                           return HcclAlltoAll(c.send, c.block, c.type, c.recv, c.block, c.type, c.comm,
                                               c.stream);
                         },
                         share_of_each,
                         others};

const operation alltoallv{"alltoallv",
                          true,
                          false,
                          false,
                          each,
                          each,
                          [](const call& c) {
                            return HcclAlltoAllV(c.send, c.counts, c.offsets, c.type, c.recv, c.counts,
                                                 c.offsets, c.type, c.comm, c.stream);
                          },
                          share_of_each,
                          others};

const operation alltoallvc{
    "alltoallvc",
    true,
    false,
    false,
    each,
    each,
    [](const call& c) { return HcclAlltoAllVC(c.send, c.matrix, c.type, c.recv, c.type, c.comm, c.stream); },
    share_of_each,
    others};

}  // namespace hccl_test
