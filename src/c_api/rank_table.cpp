// SPDX-License-Identifier: Apache-2.0

#include "rank_table.hpp"

#include "last_error.hpp"

#include <hccl/transport/detail/tcp_asio.hpp>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace c_api {

namespace {

using nlohmann::json;

constexpr int most_ranks = 1 << 20;

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw refusal(HCCL_E_PARA, "rank table: ", parts...);
}

/// A value in a message; what has parts may be deep.
std::string shown(const json& value) {
  return value.is_structured() ? hccl::detail::concat("an ", std::string_view(value.type_name()))
                               : value.dump();
}

/// An object of the table, and how messages call it.
class object {
 public:
  object(const json& value, std::string name) : value_(&value), name_(std::move(name)) {
    if (!value.is_object()) refuse(name_, " is not an object");
  }

  bool has(const char* field) const { return value_->contains(field); }

  const json& at(const char* field) const {
    const auto found = value_->find(field);
    if (found == value_->end()) refuse(name_, " has no ", std::string_view(field));
    return *found;
  }

  std::string text(const char* field) const {
    const json& found = at(field);
    if (!found.is_string()) refuse(path(field), " is ", shown(found), ", expected a text");
    return found.get<std::string>();
  }
  std::string text_or(const char* field, const char* other) const { return has(field) ? text(field) : other; }

  /// A number, which the table has as a text.
  int number(const char* field, int least, std::int64_t most) const {
    const json& found = at(field);
    std::int64_t value = -1;
    if (found.is_string()) {
      const auto& digits = found.get_ref<const std::string&>();
      const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (failure != std::errc() || end != digits.data() + digits.size()) value = -1;
    } else if (found.is_number_integer()) {
      value = found.get<std::int64_t>();
    }
    if (value < least || value > most)
      refuse(path(field), " is ", shown(found), ", expected a number from ", least, " to ", most);
    return static_cast<int>(value);
  }

  std::vector<object> list(const char* field) const {
    const json& found = at(field);
    if (!found.is_array() || found.empty()) refuse(path(field), " is no list, or an empty one");
    std::vector<object> all;
    for (std::size_t i = 0; i < found.size(); ++i)
      all.emplace_back(found[i], hccl::detail::concat(path(field), "[", i, "]"));
    return all;
  }

  /// The length of a list that the table also tells as a number.
  void expect_count(const char* field, std::size_t is) const {
    if (!has(field)) return;
    if (const int told = number(field, 0, most_ranks); static_cast<std::size_t>(told) != is)
      refuse(path(field), " is ", told, ", but there are ", is);
  }

  std::string path(const char* field) const {
    return name_ == root ? std::string(field) : hccl::detail::concat(name_, ".", std::string_view(field));
  }

  static constexpr std::string_view root = "the table";

 private:
  const json* value_;
  std::string name_;
};

/// What the devices of a table must not have twice.
class uniqueness {
 public:
  void server(const std::string& id) {
    if (!servers_.insert(id).second) refuse("server_id '", id, "' is there twice");
  }
  void expect_server(const std::string& id) const {
    if (!servers_.contains(id))
      refuse("super_pod_list names server_id '", id, "', which is not in server_list");
  }
  void device(const std::string& server, int id) {
    if (!devices_.emplace(server, id).second)
      refuse("device_id ", id, " is there twice in server '", server, "'");
  }

 private:
  std::set<std::string> servers_;
  std::set<std::pair<std::string, int>> devices_;
};

constexpr int most_devices_of_server = 4096, most_port = 65535;
constexpr std::size_t longest_server_id = 64;

/// Versions 1.0 and 1.2.
std::vector<rank_table::device> read_servers(const object& table) {
  uniqueness once;
  const auto servers = table.list("server_list");
  if (table.text("version") == "1.0") static_cast<void>(table.at("server_count"));
  table.expect_count("server_count", servers.size());
  std::size_t devices = 0;
  for (const object& server : servers) devices += server.list("device").size();
  std::vector<std::optional<rank_table::device>> by_rank(devices);
  for (const object& server : servers) {
    const std::string id = server.text("server_id");
    if (id.empty() || id.size() > longest_server_id)
      refuse(server.path("server_id"), " has ", id.size(), " characters, expected 1 to ", longest_server_id);
    once.server(id);
    for (const object& d : server.list("device")) {
      const auto rank = static_cast<std::size_t>(d.number("rank_id", 0, static_cast<int>(devices) - 1));
      rank_table::device made{id, server.text_or("host_ip", ""),
                              d.number("device_id", 0, most_devices_of_server),
                              d.has("host_port") ? d.number("host_port", 1, most_port) : 0};
      once.device(id, made.id);
      if (by_rank[rank]) refuse(d.path("rank_id"), " is ", rank, ", which another device has");
      by_rank[rank] = std::move(made);
    }
  }
  if (table.has("super_pod_list")) {
    for (const object& pod : table.list("super_pod_list")) {
      static_cast<void>(pod.text("super_pod_id"));
      for (const object& server : pod.list("server_list")) once.expect_server(server.text("server_id"));
    }
  }
  std::vector<rank_table::device> ranks;
  for (auto& found : by_rank)
    ranks.push_back(std::move(*found));  // as many ranks as devices, none twice: none is missing
  return ranks;
}

/// The older form: ranks follow the order of appearance.
std::vector<rank_table::device> read_groups(const object& table) {
  std::vector<rank_table::device> ranks;
  uniqueness once;
  const auto groups = table.list("group_list");
  table.expect_count("group_count", groups.size());
  for (const object& group : groups) {
    const std::size_t before = ranks.size();
    const auto instances = group.list("instance_list");
    group.expect_count("instance_count", instances.size());
    for (const object& instance : instances) {
      const std::string id = instance.text("server_id");
      for (const object& d : instance.list("devices")) {
        ranks.push_back({id, "", d.number("device_id", 0, most_devices_of_server), 0});
        once.device(id, ranks.back().id);
      }
    }
    group.expect_count("device_count", ranks.size() - before);
  }
  return ranks;
}

/// The ranks of a server are next to each other.
void check_neighbours(const std::vector<rank_table::device>& ranks) {
  std::set<std::string_view> seen;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const bool is_next_server = rank == 0 || ranks[rank].server != ranks[rank - 1].server;
    if (is_next_server && !seen.insert(ranks[rank].server).second) {
      refuse("rank ", rank, " is of server '", ranks[rank].server, "' again, after rank ", rank - 1, " of '",
             ranks[rank - 1].server, "': ranks of two servers must not interleave");
    }
  }
}

std::string digest_of(const std::vector<rank_table::device>& ranks, std::string_view job) {
  std::uint64_t sum = 14695981039346656037u;  // FNV-1a
  const auto add = [&](std::string_view text) {
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  };
  add(job);
  for (const auto& d : ranks)
    add(hccl::detail::concat(d.server, ';', d.address, ';', d.id, ';', d.host_port, '\n'));
  return std::to_string(sum);
}

bool is_address(const std::string& text) {
  hccl::detail::asio_error failure;
  hccl::detail::asio::ip::make_address(text, failure);
  return !failure;
}

}  // namespace

rank_table rank_table::read(std::string_view text) {
  const json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) refuse("it is not JSON");
  const object table(parsed, std::string(object::root));
  if (const std::string version = table.text_or("version", "1.0"); version == "2.0") {
    throw refusal(HCCL_E_NOT_SUPPORT, "rank table: version 2.0 describes devices that are not known here");
  } else if (version != "1.0" && version != "1.2") {
    refuse("version is '", version, "', expected 1.0 or 1.2");
  }
  if (const std::string status = table.text("status"); status != "completed")
    refuse("status is '", status, "', expected completed: the table is not ready");
  rank_table found{table.has("group_list") ? read_groups(table) : read_servers(table)};
  check_neighbours(found.ranks);
  return found;
}

rank_table rank_table::load(const std::string& path) {
  std::ifstream file(path);
  if (!file || !std::filesystem::is_regular_file(path))
    throw refusal(HCCL_E_OPEN_FILE_FAILURE, "the rank table '", path, "' cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    return read(text);
  } catch (const refusal& e) {
    throw refusal(e.result(), e.what(), " (", path, ")");
  }
}

std::string rank_table::store(std::string_view job) const {
  const device& first = ranks.front();
  if (std::ranges::all_of(ranks, [&](const device& d) { return d.server == first.server; }))
    return hccl::detail::concat("unix:@hccl-rank-table-", ::getuid(), "-", digest_of(ranks, job));
  const std::string& address = !first.address.empty() ? first.address : first.server;
  if (!is_address(address)) {
    refuse("there are several servers, and that of rank 0, '", first.server,
           "', has no host_ip at which the ranks can meet");
  }
  constexpr int usual_port = 60000;  // HCCL_IF_BASE_PORT
  const bool is_v6 = address.find(':') != address.npos;
  return hccl::detail::concat("tcp://", is_v6 ? "[" : "", address, is_v6 ? "]" : "", ':',
                              first.host_port > 0 ? first.host_port : usual_port);
}

}  // namespace c_api
