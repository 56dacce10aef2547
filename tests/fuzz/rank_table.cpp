// SPDX-License-Identifier: Apache-2.0

// Any text is a rank table, or is refused.

#include <c_api/last_error.hpp>
#include <c_api/rank_table.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto table = c_api::rank_table::read({reinterpret_cast<const char*>(data), size});
    if (table.ranks.empty()) std::abort();
    static_cast<void>(table.store(""));
  } catch (const c_api::refusal&) {
  }
  return 0;
}
