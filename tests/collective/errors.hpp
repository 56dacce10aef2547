// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of failing collectives share: the error of every rank.

#include "timing.hpp"

#include <hccl/bootstrap/run_local.hpp>
#include <hccl/collective/communicator.hpp>
#include <hccl/core/error.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hccl_test {

using Comm = hccl::communicator<hccl::LocalTransport>;

/// What became of a rank: nothing, or an error of hccl, or another exception.
struct Outcome {
  std::optional<hccl::error> error;
  std::string other;

  bool is(hccl::errc kind) const { return error && error->kind() == kind; }
  bool says(std::string_view part) const {
    return error && std::string_view(error->what()).find(part) != std::string_view::npos;
  }
  /// What the rank says, nothing if it has not failed.
  std::string text() const { return error ? error->what() : other; }
};

/// Runs `f` and catches what it throws.
template <class F>
Outcome outcome_of(F&& f) {
  try {
    f();
    return {};
  } catch (const hccl::error& e) {
    return {e, {}};
  } catch (const std::exception& e) {
    return {std::nullopt, e.what()};
  }
}

/// Runs f(comm) on `ranks` threads, with collectives that wait patiently; the outcome of each rank.
template <class F>
std::vector<Outcome> outcomes_of(int ranks, F&& f) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  hccl::run_local(ranks, [&](Comm& comm) {
    comm.set_timeout(patience);
    const auto rank = static_cast<std::size_t>(comm.rank());  // `f` may take the communicator away
    outcomes[rank] = outcome_of([&] { f(comm); });
  });
  return outcomes;
}

}  // namespace hccl_test
