// SPDX-License-Identifier: Apache-2.0
#pragma once

// Root info: what the root gives to all ranks, so that they find each other.

#include <hccl/hccl_types.h>

#include <string>

namespace c_api {

/// Where ranks meet, and what they call their communicator.
struct meeting {
  std::string store, name;

  /// Serves a new store from this process, until `close` or its end.
  static meeting open();

  /// Reads what `write` has written. Throws HCCL_E_PTR for null, HCCL_E_PARA for something else.
  static meeting read(const HcclRootInfo* from);

  void write(HcclRootInfo* to) const;

  /// Ends the store, if this process serves it, once `ranks` have come and left.
  void close(int ranks) const;
};

}  // namespace c_api
