// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rank table: a file that says which device of which server is which rank.

#include <string>
#include <string_view>
#include <vector>

namespace c_api {

/// A rank table of version 1.0 or 1.2, or the older form with groups ("template two").
struct rank_table {
  struct device {
    std::string server;
    std::string address;  ///< of the server, if it is told
    int id = 0;
    int host_port = 0;  ///< 0: not told
  };

  std::vector<device> ranks;

  /// Reads JSON. Throws HCCL_E_PARA, with the field, what it has and what was expected; HCCL_E_NOT_SUPPORT for
  /// version 2.0.
  static rank_table read(std::string_view json);

  /// Reads a file. Throws also HCCL_E_OPEN_FILE_FAILURE.
  static rank_table load(const std::string& path);

  /// Where the ranks meet: an address that only this table has, in the job of that text, "" where no launcher tells it.
  /// Throws HCCL_E_PARA if there are several servers and that of rank 0 has no address.
  std::string store(std::string_view job) const;
};

}  // namespace c_api
