// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bare text of an error, to be passed on in another one.

#include <hccl/core/error.hpp>

#include <string>

namespace hccl::inline v0::detail {

/// The text that an error was made with: `what()` without the description of its code.
inline std::string reason(const error& e) {
  const std::string text = e.what(), tail = concat(": ", e.code().message());
  return text.ends_with(tail) ? text.substr(0, text.size() - tail.size()) : text;
}

}  // namespace hccl::inline v0::detail
