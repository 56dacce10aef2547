// SPDX-License-Identifier: Apache-2.0
#pragma once

// The front door: collectives, algorithms, reductions, communicator, proofs, and ranks as threads.

#include <hccl/algorithm/algorithms.hpp>
#include <hccl/bootstrap/run_local.hpp>
#include <hccl/collective/allgather.hpp>
#include <hccl/collective/allgatherv.hpp>
#include <hccl/collective/allreduce.hpp>
#include <hccl/collective/alltoall.hpp>
#include <hccl/collective/alltoallv.hpp>
#include <hccl/collective/barrier.hpp>
#include <hccl/collective/batch_send_recv.hpp>
#include <hccl/collective/broadcast.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/collective/exscan.hpp>
#include <hccl/collective/gather.hpp>
#include <hccl/collective/gatherv.hpp>
#include <hccl/collective/reduce.hpp>
#include <hccl/collective/reduce_scatter.hpp>
#include <hccl/collective/reduce_scatterv.hpp>
#include <hccl/collective/scan.hpp>
#include <hccl/collective/scatter.hpp>
#include <hccl/collective/scatterv.hpp>
#include <hccl/collective/send_recv.hpp>
#include <hccl/collective/shares.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/element.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/core/partition.hpp>
#include <hccl/reduction/reductions.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/cost.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/hierarchical.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/topology.hpp>
#include <hccl/schedule/verify.hpp>
#include <hccl/transport/concept.hpp>
#include <hccl/transport/local.hpp>
#include <hccl/version.hpp>
