// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <string>
#include <vector>

void call(hccl::communicator<hccl::LocalTransport>& comm, std::vector<float>& data) {
#if defined(CONTROL)
  const std::vector<float> input(data.size());
  hccl::allreduce<float>(comm, input, data);
  hccl::broadcast(comm, data, 0);
#elif defined(CASE_not_trivially_copyable)  // expect: hccl: the element must be trivially copyable
  std::vector<std::string> words(data.size());
  hccl::broadcast(comm, words, 0);
#elif defined(CASE_pointer)  // expect: hccl: the element must be trivially copyable, and neither const nor a pointer
  std::vector<float*> addresses(data.size());
  hccl::broadcast(comm, addresses, 0);
#elif defined(CASE_const_output)  // expect: hccl: the output buffer is const
  const std::vector<float> output(data.size());
  hccl::allreduce(comm, data, output);
#elif defined(CASE_other_type_spelled_out)  // expect: hccl: the buffer holds elements of another type than the collective was called for
  hccl::allreduce<double>(comm, data);
#elif defined(CASE_input_of_other_type)  // expect: hccl: the buffer holds elements of another type than the collective was called for
  const std::vector<double> input(data.size());
  hccl::allreduce(comm, input, data);
#elif defined(CASE_counts_of_another_type)  // expect: hccl: the counts of shares are a list of std::size_t, side by side
  const std::vector<int> counts(2);
  hccl::allgatherv(comm, data, data, counts);
#endif
}
