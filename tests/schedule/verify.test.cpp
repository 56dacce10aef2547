// SPDX-License-Identifier: Apache-2.0

// The verifier is put to the test: right schedules with a mistake planted in each.

#include "test.hpp"

#include <hccl/algorithm/binomial_tree.hpp>
#include <hccl/algorithm/mesh.hpp>
#include <hccl/algorithm/one_shot_mesh.hpp>
#include <hccl/algorithm/reproducible.hpp>
#include <hccl/algorithm/ring.hpp>
#include <hccl/schedule/collective.hpp>
#include <hccl/schedule/combinators.hpp>
#include <hccl/schedule/group.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/schedule/verify.hpp>

#include <string_view>

namespace {

using hccl::action;
using hccl::AllGather;
using hccl::AllReduce;
using hccl::AllToAll;
using hccl::BinomialTree;
using hccl::block_set;
using hccl::Broadcast;
using hccl::fault;
using hccl::group;
using hccl::Mesh;
using hccl::place;
using hccl::receive_step;
using hccl::Reduce;
using hccl::reduce_front_step;
using hccl::reduce_step;
using hccl::ReduceScatter;
using hccl::Ring;
using hccl::send_step;
using hccl::step;

/// Where a step is: the rank, the round, the number of ranks.
struct spot {
  int self, round, ranks;
};

/// The schedule of A with each step handed to `Edit{}(spot, step, emit)`, which emits what is left of it.
template <class A, class Edit>
struct Edited {
  static constexpr std::string_view name = "edited";

  template <class C>
    requires hccl::HasSchedule<A, C>
  static constexpr int rounds(const C& c, const group& g) {
    return A::rounds(c, g);
  }

  template <class C>
    requires hccl::HasSchedule<A, C>
  static constexpr int blocks(const C& c, const group& g) {
    return hccl::blocks_of<A>(c, g);
  }

  template <class C>
    requires hccl::HasSchedule<A, C>
  static constexpr bool keeps_order(const C&) {
    return hccl::keeps_order<A, C>;
  }

  template <class C>
    requires hccl::HasSchedule<A, C>
  static constexpr void steps(const C& c, const group& g, int self, int round, auto&& emit) {
    A::steps(c, g, self, round, [&](const step& s) { Edit{}(spot{self, round, g.size()}, s, emit); });
  }
};

template <class A, class C>
fault found(int ranks, const C& c = {}) {
  return hccl::verify<A, C>(group{ranks}, c).what;
}

constexpr bool is_send(const step& s) { return s.what == action::send; }

struct Unchanged {
  constexpr void operator()(spot, const step& s, auto&& emit) const { emit(s); }
};

// What rank 1 sends or receives in the first round is left out, or a message from the last rank to rank 0 on both sides.

struct ForgetSend {
  constexpr void operator()(spot at, const step& s, auto&& emit) const {
    if (at.self != 1 || at.round != 0 || !is_send(s)) emit(s);
  }
};

struct ForgetArrival {
  constexpr void operator()(spot at, const step& s, auto&& emit) const {
    if (at.self != 1 || at.round != 0 || is_send(s)) emit(s);
  }
};

struct ForgetMessage {
  constexpr void operator()(spot at, const step& s, auto&& emit) const {
    const int last = at.ranks - 1;
    const bool sent = at.self == last && s.peer == 0 && is_send(s);
    const bool arrives = at.self == 0 && s.peer == last && !is_send(s);
    if (!sent && !arrives) emit(s);
  }
};

/// Ranks 0 and 1 send block 2 in place of block 3 and the reverse.
struct SwapSent {
  constexpr void operator()(spot at, step s, auto&& emit) const {
    if (is_send(s) && at.self < 2 && (s.blocks.first == 2 || s.blocks.first == 3))
      s.blocks.first = 5 - s.blocks.first;
    emit(s);
  }
};

/// Blocks 0 and 1 change places where they arrive.
struct SwapArrivals {
  constexpr void operator()(spot, step s, auto&& emit) const {
    if (!is_send(s) && s.blocks.first < 2) s.blocks.first = 1 - s.blocks.first;
    emit(s);
  }
};

struct WrongPeer {
  constexpr void operator()(spot at, step s, auto&& emit) const {
    if (at.self == 0 && is_send(s)) s.peer = group{at.ranks}.wrap(s.peer + 1);
    emit(s);
  }
};

struct PeerOutside {
  constexpr void operator()(spot at, step s, auto&& emit) const {
    if (s.peer == at.ranks - 1) s.peer = at.ranks;
    emit(s);
  }
};

struct BlockOutside {
  constexpr void operator()(spot at, step s, auto&& emit) const {
    s.blocks.first += at.ranks;
    emit(s);
  }
};

/// The sum is looked for where it is only put later.
struct ReadEarly {
  constexpr void operator()(spot at, step s, auto&& emit) const {
    if (at.round == 0 && is_send(s)) s.from = place::scratch;
    emit(s);
  }
};

struct WriteInput {
  constexpr void operator()(spot, step s, auto&& emit) const {
    if (!is_send(s)) s.to = place::input;
    emit(s);
  }
};

struct WriteOutput {
  constexpr void operator()(spot, step s, auto&& emit) const {
    if (s.to == place::scratch) s.to = place::output;
    if (s.from == place::scratch) s.from = place::output;
    emit(s);
  }
};

struct SwapOperands {
  constexpr void operator()(spot, step s, auto&& emit) const {
    if (s.what == action::reduce) {
      s.what = action::reduce_front;
    } else if (s.what == action::reduce_front) {
      s.what = action::reduce;
    }
    emit(s);
  }
};

/// The message of rank 1 to rank 0 is sent twice, and combined twice.
struct SendTwice {
  constexpr void operator()(spot at, const step& s, auto&& emit) const {
    emit(s);
    const bool sent = at.self == 1 && s.peer == 0 && is_send(s);
    const bool arrives = at.self == 0 && s.peer == 1 && !is_send(s);
    if (arrives) emit(reduce_step(s.peer, s.blocks, s.to, s.to));
    if (sent) emit(s);
  }
};

struct SendMore {
  constexpr void operator()(spot at, step s, auto&& emit) const {
    if (at.self == 0 && is_send(s)) s.blocks.count = 2;
    emit(s);
  }
};

/// Ring that claims an order which it does not keep.
struct OrderedRing : Ring {
  static constexpr bool keeps_order(const auto&) { return true; }
};

/// Two ranks exchange all they have; what is wrong is in the derived types.
struct Exchange {
  static constexpr int blocks(const AllReduce&, const group&) { return 1; }
  static constexpr int rounds(const AllReduce&, const group&) { return 2; }

  static constexpr void send_and_reduce(int self, place from, place to, auto&& emit) {
    emit(send_step(1 - self, {}, from));
    emit(self == 0 ? reduce_step(1, {}, from, to) : reduce_front_step(0, {}, from, to));
  }

  static constexpr void copy(int self, place from, place to, auto&& emit) {
    emit(send_step(self, {}, from));
    emit(receive_step(self, {}, to));
  }

  static constexpr void steps(const AllReduce&, const group&, int self, int round, auto&& emit) {
    if (round == 0) return send_and_reduce(self, place::input, place::scratch, emit);
    copy(self, place::scratch, place::output, emit);
  }
};

/// The sum overwrites what is being sent.
struct ExchangeInOutput : Exchange {
  static constexpr void steps(const AllReduce&, const group&, int self, int round, auto&& emit) {
    if (round == 0) return copy(self, place::input, place::output, emit);
    send_and_reduce(self, place::output, place::output, emit);
  }
};

/// The sum goes straight to the output, which in place is what is being sent.
struct ExchangeToOutput : Exchange {
  static constexpr int rounds(const AllReduce&, const group&) { return 1; }
  static constexpr void steps(const AllReduce&, const group&, int self, int, auto&& emit) {
    send_and_reduce(self, place::input, place::output, emit);
  }
};

/// Rank 1 answers one round too late: in place its input is a sum by then.
struct ExchangeLate : Exchange {
  static constexpr void steps(const AllReduce&, const group&, int self, int round, auto&& emit) {
    if (round == self) emit(send_step(1 - self, {}, place::input));
    if (round == 1 - self) {
      emit(self == 0 ? reduce_step(1, {}, place::input, place::output)
                     : reduce_front_step(0, {}, place::input, place::output));
    }
  }
};

/// Everyone combines all inputs around its own: in rank order, but with other parentheses on each rank.
struct OneShotAround : hccl::OneShotMesh {
  static constexpr void steps(const AllReduce&, const group& g, int self, int round, auto&& emit) {
    if (round == 0) {
      for (int distance = 1; distance < g.size(); ++distance) {
        emit(send_step(g.wrap(self + distance), {}, place::input));
      }
      hccl::detail::reduce_around(g, self, {}, place::scratch, emit);
    } else {
      Exchange::copy(self, place::scratch, place::output, emit);
    }
  }
};

/// A rank copies a block to where another arrival goes at the same time.
struct CopyAndReceive : Mesh {
  static constexpr void steps(const AllToAll&, const group& g, int self, int, auto&& emit) {
    Mesh::steps(AllToAll{}, g, self, 0, emit);
    emit(send_step(self, {self}, place::input));
    emit(receive_step(self, {1 - self}, place::output));
  }
};

/// Two ranks exchange blocks, and then each turns its own round within the same memory.
struct TurnInPlace {
  static constexpr int rounds(const AllToAll&, const group&) { return 4; }
  static constexpr void steps(const AllToAll&, const group& g, int self, int round, auto&& emit) {
    if (round == 0) return Mesh::steps(AllToAll{}, g, self, 0, emit);
    const auto copy = [&](place from, place to, block_set blocks) {
      emit(send_step(self, {0, 2}, from));
      emit(receive_step(self, blocks, to));
    };
    if (round == 1) return copy(place::output, place::output, {1, 2});
    if (round == 2) return copy(place::output, place::scratch, {1, 2});
    copy(place::scratch, place::output, {0, 2});
  }
};

/// A step whose runs have no length.
struct RunsOfNothing {
  constexpr void operator()(spot, step s, auto&& emit) const {
    s.blocks.width = 0;
    emit(s);
  }
};

/// An owned collective that cuts its buffer into one block too many.
struct UnevenMesh : Mesh {
  static constexpr int blocks(const ReduceScatter&, const group& g) { return g.size() + 1; }
};

}  // namespace

TEST_CASE("The verifier accepts the schedules from which the wrong ones are made") {
  for (const int n : {1, 2, 3, 5, 8}) {
    CHECK(found<Edited<Ring, Unchanged>, AllReduce>(n) == fault::none);
    CHECK(found<Edited<Mesh, Unchanged>, ReduceScatter>(n) == fault::none);
    CHECK(found<Edited<Mesh, Unchanged>, AllGather>(n) == fault::none);
    CHECK(found<Edited<BinomialTree, Unchanged>, Broadcast>(n, {n - 1}) == fault::none);
    CHECK(found<Edited<hccl::Reproducible, Unchanged>, AllReduce>(n) == fault::none);
  }
  CHECK(found<Exchange, AllReduce>(2) == fault::none);
}

TEST_CASE("One rank has nothing to get wrong") {
  CHECK(found<Edited<Ring, ForgetSend>, AllReduce>(1) == fault::none);
}

TEST_CASE("A missing step is found") {
  CHECK(found<Edited<Ring, ForgetSend>, ReduceScatter>(4) == fault::no_message);
  CHECK(found<Edited<Ring, ForgetArrival>, ReduceScatter>(4) == fault::no_receiver);
  CHECK(found<Edited<Mesh, ForgetMessage>, ReduceScatter>(4) == fault::wrong_result);
  CHECK(found<Edited<Mesh, ForgetMessage>, AllReduce>(4) == fault::wrong_result);
}

TEST_CASE("The verdict says where") {
  const hccl::verdict v = hccl::verify<Edited<Ring, ForgetSend>, ReduceScatter>(group{4});
  CHECK_FALSE(static_cast<bool>(v));
  CHECK(v.rank == 2);  // waits for rank 1
  CHECK(v.round == 0);
  CHECK(v.block == 0);  // which should come to 2 and then has two ranks to go
}

TEST_CASE("case A24: permuted blocks are found") {
  CHECK(found<Edited<Mesh, SwapSent>, AllToAll>(4) == fault::wrong_result);
  CHECK(found<Edited<Mesh, SwapArrivals>, AllToAll>(4) == fault::wrong_result);
  CHECK(found<Edited<Mesh, SwapSent>, hccl::AllToAllV>(4) == fault::size_differs);
  CHECK(found<Edited<Mesh, SwapSent>, ReduceScatter>(4) == fault::size_differs);
  CHECK(found<Edited<hccl::Reproducible, SwapSent>, AllReduce>(4) == fault::size_differs);
  CHECK(found<Edited<hccl::Reversed<Mesh>, SwapArrivals>, AllGather>(4) == fault::size_differs);
  CHECK(found<Edited<hccl::Reversed<Ring>, SwapArrivals>, AllGather>(4) == fault::size_differs);
}

TEST_CASE("A wrong peer is found") {
  CHECK(found<Edited<Ring, WrongPeer>, ReduceScatter>(4) == fault::no_message);
  CHECK(found<Edited<BinomialTree, WrongPeer>, Reduce>(4, {3}) == fault::no_message);
  CHECK(found<Edited<Ring, PeerOutside>, ReduceScatter>(4) == fault::bad_step);
}

TEST_CASE("Blocks that do not exist are found") {
  CHECK(found<Edited<Ring, BlockOutside>, ReduceScatter>(4) == fault::bad_step);
  CHECK(found<UnevenMesh, ReduceScatter>(4) == fault::bad_step);
  CHECK(found<Edited<Ring, RunsOfNothing>, ReduceScatter>(4) == fault::bad_step);
}

TEST_CASE("Places that do not hold a block are found") {
  CHECK(found<Edited<Mesh, WriteInput>, ReduceScatter>(4) == fault::outside_buffer);
  CHECK(found<Edited<BinomialTree, WriteOutput>, Reduce>(4) == fault::outside_buffer);
  CHECK(found<Edited<Ring, WriteOutput>, ReduceScatter>(4) == fault::outside_buffer);
}

TEST_CASE("A block that is read before it is written is found") {
  CHECK(found<Edited<Ring, ReadEarly>, ReduceScatter>(4) == fault::read_before_write);
  CHECK(found<Edited<BinomialTree, ReadEarly>, Reduce>(4) == fault::read_before_write);
}

TEST_CASE("A block that is overwritten while it is read is found") {
  CHECK(found<ExchangeInOutput, AllReduce>(2) == fault::overwritten_while_read);
}

TEST_CASE("Hazards that exist in place only are found") {
  CHECK(found<ExchangeToOutput, AllReduce>(2) == fault::overwritten_while_read);
  CHECK(found<ExchangeLate, AllReduce>(2) == fault::overwritten_input);
}

TEST_CASE("Steps of a round that nothing orders are found") {
  CHECK(found<CopyAndReceive, AllToAll>(2) == fault::concurrent_access);
  CHECK(found<TurnInPlace, AllToAll>(2) == fault::concurrent_access);
}

TEST_CASE("Operands out of order are found where order is claimed") {
  CHECK(found<Ring, ReduceScatter>(4) == fault::none);
  CHECK(found<OrderedRing, ReduceScatter>(4) == fault::out_of_order);
  CHECK(found<Edited<Mesh, SwapOperands>, ReduceScatter>(4) == fault::out_of_order);
  CHECK(found<Edited<BinomialTree, SwapOperands>, Reduce>(4) == fault::out_of_order);
}

TEST_CASE("A contribution that is combined twice is found") {
  CHECK(found<Edited<Mesh, SendTwice>, ReduceScatter>(4) == fault::contributed_twice);
}

TEST_CASE("Results that differ between ranks are found") {
  CHECK(found<OneShotAround, AllReduce>(2) == fault::none);
  CHECK(found<OneShotAround, AllReduce>(3) == fault::results_differ);
}

TEST_CASE("A message of the wrong size is found") {
  CHECK(found<Edited<Ring, SendMore>, ReduceScatter>(4) == fault::size_differs);
  CHECK(found<Edited<Mesh, SendMore>, AllReduce>(4) == fault::size_differs);
}
