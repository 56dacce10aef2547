// SPDX-License-Identifier: Apache-2.0
#pragma once

// The environment: every variable that the HCCL API knows, with its syntax and range.

#include <span>
#include <string>
#include <string_view>

namespace c_api {

/// One variable.
struct setting {
  const char* name;
  std::string_view usual;     ///< if it is not set
  std::string_view expected;  ///< in words
  std::string_view meaning;
  bool (*is_valid)(std::string_view value);

  const char* fallback = nullptr;  ///< the variable that counts where this one is not set

  /// What the environment says of this variable, or "".
  std::string value() const;

  /// What is in effect, and where that comes from.
  struct effect {
    std::string value, origin;
  };
  effect in_effect() const;
};

/// All that have an effect here, or are checked.
std::span<const setting> all_settings();

/// Throws HCCL_E_PARA, with the variable, its value and what was expected, if one is wrong.
void check_settings();

/// Whether HCCL_ENTRY_LOG_ENABLE is 1.
bool logs_entries();

/// The addresses that HCCL_WHITELIST_FILE has for hosts. Throws HCCL_E_PARA, or HCCL_E_OPEN_FILE_FAILURE.
bool is_on_whitelist(std::string_view address);

}  // namespace c_api
