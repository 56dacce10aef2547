// SPDX-License-Identifier: Apache-2.0
#pragma once

// The operators that are measured: their buffers, how they are called, and what they have to make.

#include <hccl/hccl.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hccl_test {

/// What one rank calls.
struct call {
  void *send = nullptr, *recv = nullptr;
  std::size_t block = 0;  ///< elements of a share; of operators without shares all
  HcclDataType type = HCCL_DATA_TYPE_FP32;
  HcclReduceOp op = HCCL_REDUCE_SUM;
  std::uint32_t root = 0;
  int rank = 0, size = 1;
  const std::uint64_t *counts = nullptr, *offsets = nullptr, *matrix = nullptr;  ///< of equal shares
  HcclComm comm = nullptr;
  aclrtStream stream = nullptr;
};

/// Where an element of the result comes from: element `index` of rank `from`, or of all ranks, combined.
struct origin {
  int from = 0;
  std::size_t index = 0;
  static constexpr int all = -1;
};

/// One operator.
struct operation {
  std::string_view name;    ///< of the program, without _test
  bool has_shares = false;  ///< its data is divided by the ranks
  bool reduces = false;
  bool is_rooted_result = false;                 ///< only the root gets something
  std::size_t send_shares = 1, recv_shares = 1;  ///< 1, or `each`, for every rank one
  HcclResult (*run)(const call&);
  origin (*origin_of)(const call&, std::size_t element);
  double (*bus_factor)(double ranks);

  static constexpr std::size_t each = 0;
};

extern const operation all_reduce, all_gather, all_gatherv, broadcast, reduce, reduce_scatter,
    reduce_scatterv, scatter, alltoall, alltoallv, alltoallvc;

/// The program of an operator.
int run_program(const operation& measured, int argc, char** argv);

}  // namespace hccl_test
