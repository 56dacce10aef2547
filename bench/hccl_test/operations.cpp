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
    .name = "all_reduce",
    .reduces = true,
    .run =
        [](const call& c) { return HcclAllReduce(c.send, c.recv, c.block, c.type, c.op, c.comm, c.stream); },
    .origin_of = combined,
    .bus_factor = twice_others};

const operation all_gather{
    .name = "all_gather",
    .has_shares = true,
    .recv_shares = each,
    .run = [](const call& c) { return HcclAllGather(c.send, c.recv, c.block, c.type, c.comm, c.stream); },
    .origin_of = of_each,
    .bus_factor = others};

const operation all_gatherv{.name = "all_gatherv",
                            .has_shares = true,
                            .recv_shares = each,
                            .run =
                                [](const call& c) {
                                  return HcclAllGatherV(c.send, c.block, c.recv, c.counts, c.offsets, c.type,
                                                        c.comm, c.stream);
                                },
                            .origin_of = of_each,
                            .bus_factor = others};

const operation broadcast{.name = "broadcast",
                          .run =
                              [](const call& c) {
                                void* const data = c.rank == static_cast<int>(c.root) ? c.send : c.recv;
                                return HcclBroadcast(data, c.block, c.type, c.root, c.comm, c.stream);
                              },
                          .origin_of = of_root,
                          .bus_factor = one};

const operation reduce{.name = "reduce",
                       .reduces = true,
                       .is_rooted_result = true,
                       .run =
                           [](const call& c) {
                             return HcclReduce(c.send, c.recv, c.block, c.type, c.op, c.root, c.comm,
                                               c.stream);
                           },
                       .origin_of = combined,
                       .bus_factor = one};

const operation reduce_scatter{.name = "reduce_scatter",
                               .has_shares = true,
                               .reduces = true,
                               .send_shares = each,
                               .run =
                                   [](const call& c) {
                                     return HcclReduceScatter(c.send, c.recv, c.block, c.type, c.op, c.comm,
                                                              c.stream);
                                   },
                               .origin_of = combined_share,
                               .bus_factor = others};

const operation reduce_scatterv{.name = "reduce_scatterv",
                                .has_shares = true,
                                .reduces = true,
                                .send_shares = each,
                                .run =
                                    [](const call& c) {
                                      return HcclReduceScatterV(c.send, c.counts, c.offsets, c.recv, c.block,
                                                                c.type, c.op, c.comm, c.stream);
                                    },
                                .origin_of = combined_share,
                                .bus_factor = others};

const operation scatter{
    .name = "scatter",
    .has_shares = true,
    .send_shares = each,
    .run =
        [](const call& c) { return HcclScatter(c.send, c.recv, c.block, c.type, c.root, c.comm, c.stream); },
    .origin_of = share_of_root,
    .bus_factor = others};

const operation alltoall{.name = "alltoall",
                         .has_shares = true,
                         .send_shares = each,
                         .recv_shares = each,
                         .run =
                             [](const call& c) {
                               return HcclAlltoAll(c.send, c.block, c.type, c.recv, c.block, c.type, c.comm,
                                                   c.stream);
                             },
                         .origin_of = share_of_each,
                         .bus_factor = others};

const operation alltoallv{.name = "alltoallv",
                          .has_shares = true,
                          .send_shares = each,
                          .recv_shares = each,
                          .run =
                              [](const call& c) {
                                return HcclAlltoAllV(c.send, c.counts, c.offsets, c.type, c.recv, c.counts,
                                                     c.offsets, c.type, c.comm, c.stream);
                              },
                          .origin_of = share_of_each,
                          .bus_factor = others};

const operation alltoallvc{.name = "alltoallvc",
                           .has_shares = true,
                           .send_shares = each,
                           .recv_shares = each,
                           .run =
                               [](const call& c) {
                                 return HcclAlltoAllVC(c.send, c.matrix, c.type, c.recv, c.type, c.comm,
                                                       c.stream);
                               },
                           .origin_of = share_of_each,
                           .bus_factor = others};

}  // namespace hccl_test
