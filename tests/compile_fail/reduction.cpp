// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <array>
#include <vector>

void call(hccl::communicator<hccl::LocalTransport>& comm, std::vector<float>& data) {
#if defined(CONTROL)
  hccl::allreduce(comm, data, [](float a, float b) { return a > b ? a : b; });
  hccl::allreduce(comm, data, hccl::Average{});
#elif defined(CASE_average_of_bool)  // expect: hccl: there is no Average of bool
  std::array<bool, 4> flags{};
  hccl::allreduce(comm, flags, hccl::Average{});
#elif defined(CASE_average_of_struct)  // expect: hccl: Average takes integers, floating-point and complex numbers
  struct point {
    float x, y;
  };
  std::vector<point> points(data.size());
  hccl::allreduce(comm, points, hccl::Average{});
#elif defined(CASE_one_operand)  // expect: hccl: the reduction must be callable on two elements while const
  hccl::allreduce(comm, data, [](float a) { return a; });
#elif defined(CASE_not_const)  // expect: hccl: the reduction must be callable on two elements while const
  hccl::allreduce(comm, data, [calls = 0](float a, float b) mutable { return ++calls, a + b; });
#endif
}
