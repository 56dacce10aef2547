// SPDX-License-Identifier: Apache-2.0
#pragma once

// The environment: every variable that the HCCL API knows, with its syntax and range.

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// The hosts of HCCL_WHITELIST_FILE, or all, if HCCL_WHITELIST_DISABLE is not 0.
class whitelist {
 public:
  /// Reads the file. Throws HCCL_E_PARA, or HCCL_E_OPEN_FILE_FAILURE.
  whitelist();

  bool has(std::string_view address) const;

 private:
  bool has_all_ = true;
  std::vector<std::string> addresses_;
};

}  // namespace c_api
