// SPDX-License-Identifier: Apache-2.0
#pragma once

// hccl over one transport, as it is measured.

#include "measure.hpp"
#include "reduction/fold.hpp"
#include "trial.hpp"

#include <hccl/collectives.hpp>
#include <hccl/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace perf {

/// Calls `f` with the element and the reduction of those names: any type with Sum, and float with any reduction, lest
/// this take minutes to compile.
void with_names(const std::string& type, const std::string& op, auto&& f) {
  if (op == "prod") return f(float{}, hccl::Product{});
  if (op == "min") return f(float{}, hccl::Min{});
  if (op == "max") return f(float{}, hccl::Max{});
  if (op == "avg") return f(float{}, hccl::Average{});
  if (type == "int8") return f(std::int8_t{}, hccl::Sum{});
  if (type == "int32") return f(std::int32_t{}, hccl::Sum{});
  if (type == "int64") return f(std::int64_t{}, hccl::Sum{});
  if (type == "half") return f(hccl::float16{}, hccl::Sum{});
  if (type == "bfloat16") return f(hccl::bfloat16{}, hccl::Sum{});
  if (type == "double") return f(double{}, hccl::Sum{});
  f(float{}, hccl::Sum{});
}

/// Does a collective that is named.
template <class T, class Net, class Op>
void call(hccl::communicator<Net>& comm, const std::string& collective, std::span<T> in, std::span<T> out,
          int root, Op op) {
  if (collective == "allreduce") return hccl::allreduce(comm, in, out, op);
  if (collective == "reduce_scatter") return hccl::reduce_scatter(comm, in, out, op);
  if (collective == "allgather") return hccl::allgather(comm, in, out);
  if (collective == "broadcast") return hccl::broadcast(comm, in, out, root);
  if (collective == "reduce") return hccl::reduce(comm, in, out, root, op);
  if (collective == "alltoall") return hccl::alltoall(comm, in, out);
  hccl::barrier(comm);
}

/// Measures over a communicator. `Buffer<T>` is a vector.
template <template <class> class Buffer, class Net>
std::size_t measure_hccl(const options& chosen, hccl::communicator<Net>& comm) {
  if (chosen.root >= comm.size())
    throw std::invalid_argument(fmt::format("--root {} of {} ranks", chosen.root, comm.size()));
  if (chosen.algorithm != "auto") {
    hccl::tuning rules;
    for (const std::string& collective : chosen.collectives) {  // not of the barrier between rounds
      rules.push_back({.algorithm = chosen.algorithm, .collective = collective, .min_bytes = 1});
      if (collective == "barrier") rules.back() = {.algorithm = chosen.algorithm, .end_bytes = 1};
    }
    comm.set_tuning(std::move(rules));
  }
  std::size_t wrong = 0;
  with_names(chosen.type, chosen.op, [&]<class T, class Op>(T, Op op) {
    const auto prepare = [&](const point& where) {
      const auto run = [&comm, op, root = chosen.root, collective = where.collective](
                           std::span<T> in, std::span<T> out) { call(comm, collective, in, out, root, op); };
      return make_trial<T, Buffer<T>>(
          where, comm.rank(), comm.size(), chosen.root, std::same_as<Op, hccl::Product>,
          [op](const std::vector<T>& column) { return fold(op, column); }, run);
    };
    wrong = measure(
        chosen,
        {fmt::format("hccl {}.{}.{}", HCCLPP_VERSION_MAJOR, HCCLPP_VERSION_MINOR, HCCLPP_VERSION_PATCH),
         std::string(Net::name), chosen.algorithm, comm.rank(), comm.size(), sizeof(T),
         [&] { hccl::barrier(comm); },
         [&](std::vector<double>& all) { hccl::allreduce(comm, all, hccl::Max{}); }, prepare});
  });
  return wrong;
}

}  // namespace perf
