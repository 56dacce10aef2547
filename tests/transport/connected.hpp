// SPDX-License-Identifier: Apache-2.0
#pragma once

// Transports of processes, all in one: for tests in which ranks are threads.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hccl_test {

/// A harness for `check_conformance` of a transport that `connect` can set up.
template <class Net>
struct Connected {
  static std::vector<Net> make(int ranks) {
    std::vector<typename Net::listener> listeners(static_cast<std::size_t>(ranks));
    std::vector<std::string> addresses;
    for (const auto& own : listeners) addresses.push_back(own.address());
    std::vector<Net> transports;
    for (auto& own : listeners)
      transports.emplace_back(std::move(own), static_cast<int>(transports.size()), ranks, addresses, "job");
    return transports;
  }
};

}  // namespace hccl_test
