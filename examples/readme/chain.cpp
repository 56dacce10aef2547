// SPDX-License-Identifier: Apache-2.0

#include "picture.hpp"

#include <hccl/collectives.hpp>

#include <cstdio>
#include <fstream>
#include <string_view>

/// Contributions travel along the chain of ranks that begins at the root, from its end.
struct Chain {
  static constexpr std::string_view name = "chain";

  static constexpr int blocks(hccl::Reduce, const hccl::group&) { return 1; }
  static constexpr int rounds(hccl::Reduce, const hccl::group& g) { return g.size() - 1; }

  static constexpr void steps(hccl::Reduce c, const hccl::group& g, int self, int round, auto&& emit) {
    using enum hccl::place;
    const int position = g.wrap(self - c.root);  // in the chain
    const int sender = g.size() - 1 - round;     // the position whose turn it is
    if (position == sender) {
      emit(hccl::send_step(g.wrap(self - 1), {0}, round == 0 ? input : scratch));
    } else if (position == sender - 1) {
      emit(hccl::reduce_step(g.wrap(self + 1), {0}, input, position == 0 ? output : scratch));
    }
  }
};

static_assert(hccl::verify<Chain, hccl::Reduce>(hccl::group(8), {.root = 3}));
static_assert(hccl::verify<Chain, hccl::Broadcast>(hccl::group(8), {.root = 3}));  // Reversed<Chain>
static_assert(hccl::verify<Chain, hccl::AllReduce>(hccl::group(8)));               // Then<Chain, Chain>

/// Claims too much: for a root other than 0 the chain wraps around.
struct Boastful : Chain {
  static constexpr bool keeps_order(hccl::Reduce) { return true; }
};

static_assert(hccl::verify<Boastful, hccl::Reduce>(hccl::group(4), {.root = 0}));
static_assert(hccl::verify<Boastful, hccl::Reduce>(hccl::group(4), {.root = 1}).what ==
              hccl::fault::out_of_order);

/// Takes the rounds in the wrong order, so that rank 1 has nothing to send when its turn comes.
struct Hasty : Chain {
  static constexpr void steps(hccl::Reduce c, const hccl::group& g, int self, int round, auto&& emit) {
    Chain::steps(c, g, self, rounds(c, g) - 1 - round, emit);
  }
};

constexpr hccl::verdict found = hccl::verify<Hasty, hccl::Reduce>(hccl::group(4));
static_assert(found.what == hccl::fault::read_before_write && found.rank == 1 && found.round == 0);

constexpr hccl::link_model network{
    .latency = 1e-5, .overhead = 3e-6, .seconds_per_byte = 4e-10, .reduction = 1e-10};

template <class Algorithm>
constexpr double seconds = hccl::cost<Algorithm, hccl::AllReduce>(hccl::group(8), 1 << 20, network);

static_assert(seconds<hccl::Pipelined<Chain, 8>> < seconds<Chain>);
static_assert(seconds<hccl::Ring> < seconds<hccl::Pipelined<Chain, 8>>);

int main(int, char** arguments) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    if (!hccl::verify<Chain, hccl::Reduce>(hccl::group(ranks), {.root = ranks / 2})) return 1;
  }

  hccl::run_local(4, [](auto& comm) {
    int letters[] = {comm.rank() + 1};
    hccl::allreduce<int, hccl::Sum, Chain>(comm, letters);
    if (comm.rank() == 0) std::printf("%d\n", letters[0]);
  });

  if (const char* file = arguments[1]) {
    const auto schedule = hccl::schedule_view::of<Chain>(hccl::Reduce{}, hccl::group(4));
    std::ofstream(file) << draw::picture(schedule);
  }
}
