// SPDX-License-Identifier: Apache-2.0

#include "../../examples/readme/socket_transport.hpp"

#include <hccl/collectives.hpp>

#include <vector>

/// Keeps the left operand: does not commute.
struct First {
  static constexpr bool is_commutative = false;
  float operator()(float a, float) const { return a; }
};

void call(hccl::communicator<hccl::LocalTransport>& comm,
          [[maybe_unused]] hccl::communicator<SocketTransport>& apart, std::vector<float>& in,
          std::vector<float>& out, [[maybe_unused]] const hccl::shares& counts) {
#if defined(CONTROL)
  hccl::allreduce<float, First, hccl::Mesh>(comm, in, out);
  hccl::allreduce<float, First>(comm, in, out);
  hccl::allreduce<float, hccl::Sum, hccl::BinomialTree>(comm, in, out);
  hccl::allreduce<float, First, hccl::Direct>(comm, in, out);
#elif defined(CASE_A11_ring_does_not_keep_order)  // expect: hccl: the reduction does not commute, but this algorithm does not keep rank order
  hccl::allreduce<float, First, hccl::Ring>(comm, in, out);
#elif defined(CASE_A11_halving_does_not_keep_order)  // expect: hccl: the reduction does not commute, but this algorithm does not keep rank order
  hccl::reduce_scatter<float, First, hccl::RecursiveHalvingDoubling>(comm, in, out);
#elif defined(CASE_tree_does_not_scatter)  // expect: hccl: this algorithm does not offer this collective
  hccl::reduce_scatter<float, hccl::Sum, hccl::BinomialTree>(comm, in, out);
#elif defined(CASE_direct_without_shared_addresses)  // expect: hccl: Direct works in the memory of other ranks, which this transport does not reach
  hccl::allreduce<float, hccl::Sum, hccl::Direct>(apart, in, out);
#elif defined(CASE_direct_scan)  // expect: hccl: Direct offers allreduce, reduce, reduce_scatter, broadcast, allgather and alltoall only
  hccl::scan<float, hccl::Sum, hccl::Direct>(comm, in, out);
#elif defined(CASE_direct_with_uneven_shares)  // expect: hccl: Direct needs shares of equal size
  hccl::allgatherv<float, hccl::Direct>(comm, in, out, counts);
#elif defined(CASE_no_algorithm)  // expect: hccl: an algorithm needs `static constexpr std::string_view name`
  struct Nothing {};
  hccl::allreduce<float, hccl::Sum, Nothing>(comm, in, out);
#endif
}
