// SPDX-License-Identifier: Apache-2.0
#pragma once

// hccl::async: the collectives on an operation_queue.
//
// Each takes what the collective of the same name takes, with a queue in place of the communicator, and returns at once.
// Buffers are referred to, not copied: they live, and are not touched, until the request has ended. What the collective
// would throw is thrown by the request.

#include <hccl/collective/allgather.hpp>
#include <hccl/collective/allreduce.hpp>
#include <hccl/collective/alltoall.hpp>
#include <hccl/collective/barrier.hpp>
#include <hccl/collective/broadcast.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/queue.hpp>
#include <hccl/collective/reduce.hpp>
#include <hccl/collective/reduce_scatter.hpp>
#include <hccl/collective/send_recv.hpp>

namespace hccl::inline v0::async {

template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires hccl::detail::Buffer<In> && hccl::detail::Buffer<Out>
request allreduce(operation_queue<Net>& queue, In&& in, Out&& out, Op op = {}) {
  return queue.enqueue([in = hccl::detail::view_of(in), out = hccl::detail::view_of(out),
                        op](communicator<Net>& comm) { hccl::allreduce<T, Op, Algo>(comm, in, out, op); });
}

template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class Data>
  requires hccl::detail::Buffer<Data> && hccl::detail::Callable<Op>
request allreduce(operation_queue<Net>& queue, Data&& data, Op op = {}) {
  return allreduce<T, Op, Algo>(queue, data, data, op);
}

template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires hccl::detail::Buffer<In> && hccl::detail::Buffer<Out>
request reduce(operation_queue<Net>& queue, In&& in, Out&& out, int root = 0, Op op = {}) {
  return queue.enqueue([in = hccl::detail::view_of(in), out = hccl::detail::view_of(out), root,
                        op](communicator<Net>& comm) { hccl::reduce<T, Op, Algo>(comm, in, out, root, op); });
}

template <class T = void, class Op = Sum, class Algo = Auto, Transport Net, class In, class Out>
  requires hccl::detail::Buffer<In> && hccl::detail::Buffer<Out>
request reduce_scatter(operation_queue<Net>& queue, In&& in, Out&& out, Op op = {}) {
  return queue.enqueue(
      [in = hccl::detail::view_of(in), out = hccl::detail::view_of(out), op](communicator<Net>& comm) {
        hccl::reduce_scatter<T, Op, Algo>(comm, in, out, op);
      });
}

template <class T = void, class Algo = Auto, Transport Net, class Data>
  requires hccl::detail::Buffer<Data>
request broadcast(operation_queue<Net>& queue, Data&& data, int root = 0) {
  return queue.enqueue([data = hccl::detail::view_of(data), root](communicator<Net>& comm) {
    hccl::broadcast<T, Algo>(comm, data, root);
  });
}

template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires hccl::detail::Buffer<In> && hccl::detail::Buffer<Out>
request allgather(operation_queue<Net>& queue, In&& in, Out&& out) {
  return queue.enqueue([in = hccl::detail::view_of(in), out = hccl::detail::view_of(out)](
                           communicator<Net>& comm) { hccl::allgather<T, Algo>(comm, in, out); });
}

template <class T = void, class Algo = Auto, Transport Net, class In, class Out>
  requires hccl::detail::Buffer<In> && hccl::detail::Buffer<Out>
request alltoall(operation_queue<Net>& queue, In&& in, Out&& out) {
  return queue.enqueue([in = hccl::detail::view_of(in), out = hccl::detail::view_of(out)](
                           communicator<Net>& comm) { hccl::alltoall<T, Algo>(comm, in, out); });
}

template <class Algo = Auto, Transport Net>
request barrier(operation_queue<Net>& queue) {
  return queue.enqueue([](communicator<Net>& comm) { hccl::barrier<Algo>(comm); });
}

template <class T = void, Transport Net, class Data>
  requires hccl::detail::Buffer<Data>
request send(operation_queue<Net>& queue, Data&& data, int destination, int tag = 0) {
  return queue.enqueue([data = hccl::detail::view_of(data), destination, tag](communicator<Net>& comm) {
    hccl::send<T>(comm, data, destination, tag);
  });
}

template <class T = void, Transport Net, class Data>
  requires hccl::detail::Buffer<Data>
request recv(operation_queue<Net>& queue, Data&& data, int source, int tag = 0) {
  return queue.enqueue([data = hccl::detail::view_of(data), source, tag](communicator<Net>& comm) {
    hccl::recv<T>(comm, data, source, tag);
  });
}

}  // namespace hccl::inline v0::async
