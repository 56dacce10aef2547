// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program says about a communicator: HcclCommConfig.

#include <hccl/hccl_types.h>

#include <chrono>
#include <optional>
#include <string>

namespace c_api {

/// The part of a configuration that has an effect here; the rest is checked.
struct config {
  std::string name;
  std::string algorithm;                          ///< as HCCL_ALGO
  std::optional<std::chrono::seconds> timeout{};  ///< of an operator; 0: none

  /// Reads what the head says there is. Throws HCCL_E_PTR for null, HCCL_E_PARA for a damaged head or a value out of
  /// its range, with the field, the value and the range.
  static config read(const HcclCommConfig* from);
};

}  // namespace c_api
