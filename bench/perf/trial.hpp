// SPDX-License-Identifier: Apache-2.0
#pragma once

// The buffers of one measured call, and what its output has to be.

#include "measure.hpp"
#include "vectors.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace perf {

/// Which part of the whole vector a rank puts in and gets: all of it, or its share.
inline bool takes_share(const std::string& collective) { return collective == "allgather"; }
inline bool gets_share(const std::string& collective) { return collective == "reduce_scatter"; }

/// Buffers of type Buffer, a vector of T, and what is done with them. `fold(column)` is what a reduction makes of one
/// element of each rank; `call(in, out)` is what is measured.
template <class T, class Buffer>
trial make_trial(const point& where, int rank, int size, int root, bool multiplies,
                 std::function<T(const std::vector<T>&)> fold,
                 std::function<void(std::span<T>, std::span<T>)> call) {
  const auto self = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(size);
  const std::size_t share = where.count / ranks;
  struct memory {
    Buffer in, out;
  };
  const auto buffers = std::make_shared<memory>();
  const std::size_t puts = takes_share(where.collective) ? share : where.count;
  const std::size_t gets = gets_share(where.collective) ? share : where.count;
  std::span<T> in, out;
  if (where.in_place) {
    buffers->out.resize(where.count);
    const std::span<T> whole(buffers->out);
    in = puts == share ? whole.subspan(self * share, share) : whole;
    out = gets == share ? whole.subspan(self * share, share) : whole;
  } else {
    buffers->in.resize(puts);
    buffers->out.resize(gets);
    in = buffers->in;
    out = buffers->out;
  }

  trial t;
  t.call = [buffers, in, out, call] { call(in, out); };
  t.fill = [=](int round) { input_of<T>(rank, round, multiplies).write(in); };
  t.read = [=] { read_all(std::span<const T>(out)); };
  t.wrong = [=, collective = where.collective](int round) -> std::size_t {
    const auto input = [&](std::size_t of) { return input_of<T>(static_cast<int>(of), round, multiplies); };
    const std::span<const T> found = out;
    if (collective == "barrier" || (collective == "reduce" && rank != root)) return 0;
    if (collective == "broadcast") return input(static_cast<std::size_t>(root)).wrong(found);
    std::size_t sum = 0;
    if (collective == "allgather" || collective == "alltoall") {
      for (std::size_t of = 0; of < ranks; ++of)
        sum += input(of).wrong(found.subspan(of * share, share), collective == "alltoall" ? self * share : 0);
      return sum;
    }
    std::vector<pattern<T>> inputs;
    for (std::size_t of = 0; of < ranks; ++of) inputs.push_back(input(of));
    const pattern<T> expected([&](std::size_t j) {
      std::vector<T> column;
      for (const auto& each : inputs) column.push_back(each.at(j));
      return fold(column);
    });
    return expected.wrong(found, gets_share(collective) ? self * share : 0);
  };
  return t;
}

/// The same for sums of floats, which the other libraries are measured with.
inline trial make_sum(const point& where, int rank, int size, int root,
                      std::function<void(std::span<float>, std::span<float>)> call) {
  const auto sum = [](const std::vector<float>& column) {
    return std::accumulate(column.begin(), column.end(), 0.0f);
  };
  return make_trial<float, std::vector<float>>(where, rank, size, root, false, sum, std::move(call));
}

}  // namespace perf
