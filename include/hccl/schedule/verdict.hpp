// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a proof says.

#include <string_view>

namespace hccl::inline v0 {

/// What is wrong with a schedule.
enum class fault {
  none,
  bad_step,                ///< a peer or a block that does not exist
  outside_buffer,          ///< a place that does not hold the block on this rank, or the input as a target
  read_before_write,       ///< a block is read before anything was put there
  overwritten_while_read,  ///< a block is written in the round in which it is being sent
  overwritten_input,       ///< in place, an input is read when the output has taken its place
  concurrent_access,       ///< two steps of a round touch a block, one writes, and nothing orders them
  no_message,              ///< an arrival without a send
  no_receiver,             ///< a send without an arrival
  size_differs,            ///< send and arrival name blocks of different size
  contributed_twice,       ///< a contribution is combined with itself
  out_of_order,            ///< operands are swapped although the algorithm claims to keep rank order
  wrong_result,            ///< an output block lacks contributions, or is another one
  results_differ,          ///< two ranks compute a block by different expressions: their bits may differ
};

/// Says what a fault is, in words.
constexpr std::string_view to_string(fault what) {
  switch (what) {
    case fault::none:
      return "correct";
    case fault::bad_step:
      return "a peer or a block that does not exist";
    case fault::outside_buffer:
      return "a place that does not hold the block on this rank, or the input as a target";
    case fault::read_before_write:
      return "a block is read before anything was put there";
    case fault::overwritten_while_read:
      return "a block is written in the round in which it is being sent";
    case fault::overwritten_input:
      return "in place, an input is read when the output has taken its place";
    case fault::concurrent_access:
      return "two unordered steps of a round touch a block, and one writes";
    case fault::no_message:
      return "an arrival without a send";
    case fault::no_receiver:
      return "a send without an arrival";
    case fault::size_differs:
      return "send and arrival name blocks of different size";
    case fault::contributed_twice:
      return "a contribution is combined with itself";
    case fault::out_of_order:
      return "operands are swapped, but the algorithm claims to keep rank order";
    case fault::wrong_result:
      return "an output block lacks contributions, or is another one";
    case fault::results_differ:
      return "two ranks compute a block by different expressions";
  }
  return "unknown";
}

/// What `verify` found: nothing, or the first fault and where.
struct verdict {
  fault what = fault::none;
  int rank = -1;
  int round = -1;
  int block = -1;

  /// True if the schedule is correct.
  constexpr explicit operator bool() const { return what == fault::none; }
};

}  // namespace hccl::inline v0
