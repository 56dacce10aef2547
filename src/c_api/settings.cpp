// SPDX-License-Identifier: Apache-2.0

#include "settings.hpp"

#include "last_error.hpp"

#include <hccl/algorithm/hccl_algo.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>
#include <hccl/transport/detail/tcp_ports.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace c_api {

namespace {

template <std::int64_t Least, std::int64_t Most>
bool is_number(std::string_view value) {
  std::int64_t number = -1;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  return failure == std::errc() && end == value.data() + value.size() && Least <= number && number <= Most;
}

bool is_time(std::string_view value) {
  double seconds = -1;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  return failure == std::errc() && end == value.data() + value.size() && seconds >= 0;
}

bool is_algorithm(std::string_view value) {
  try {
    hccl::read_hccl_algo(value);
    return true;
  } catch (const hccl::error&) {
    return false;
  }
}

bool is_port_range(std::string_view value) {
  try {
    hccl::detail::read_ports(value, "");
    return true;
  } catch (const hccl::error&) {
    return false;
  }
}

bool is_determinism(std::string_view value) {
  return value == "false" || value == "true" || value == "strict";
}
bool is_switch(std::string_view value) { return value == "0" || value == "1"; }
bool is_family(std::string_view value) { return value == "AF_INET" || value == "AF_INET6"; }
bool is_anything(std::string_view) { return true; }

bool is_address(std::string_view value) {
  hccl::detail::asio_error failure;
  hccl::detail::asio::ip::make_address(value, failure);
  return !failure;
}

constexpr std::array settings{
    setting{"HCCL_CONNECT_TIMEOUT", "120", "120 to 7200 seconds",
            "how long a communicator waits for its ranks", is_number<120, 7200>, "HCCL_TIMEOUT"},
    setting{"HCCL_EXEC_TIMEOUT", "1836", "0 to 2147483647 seconds, 0: for ever",
            "how long an operator may take", is_number<0, 2147483647>, "HCCL_TIMEOUT"},
    setting{"HCCL_TIMEOUT", "", "seconds, 0: for ever", "both timeouts, where their own is not set", is_time},
    setting{"HCCL_ALGO", "", "level0:NA;level1:<algorithm>, or that for each operator", "the algorithms",
            is_algorithm},
    setting{"HCCL_BUFFSIZE", "200", "a number of MB from 1 on", "no effect: memory grows to what is needed",
            is_number<1, 2147483647>},
    setting{"HCCL_DETERMINISTIC", "false", "false, true or strict",
            "no effect: results are always deterministic", is_determinism},
    setting{"HCCL_IF_IP", "", "an IPv4 or IPv6 address of this host", "where this host listens", is_address},
    setting{"HCCL_SOCKET_IFNAME", "", "eth, =eth0, ^docker,lo", "the interfaces where this host listens",
            is_anything},
    setting{"HCCL_SOCKET_FAMILY", "", "AF_INET or AF_INET6", "the kind of address", is_family},
    setting{"HCCL_HOST_SOCKET_PORT_RANGE", "auto", "ports and ranges, as 60000,60050-60100, or auto",
            "the ports where this host listens", is_port_range},
    setting{"HCCL_WHITELIST_DISABLE", "1", "0 or 1", "0: only hosts of HCCL_WHITELIST_FILE may take part",
            is_switch},
    setting{"HCCL_WHITELIST_FILE", "", R"(JSON: {"host_ip": [...]})", "the hosts that may take part",
            is_anything},
    setting{"HCCL_ENTRY_LOG_ENABLE", "0", "0 or 1", "1: a line on stderr for each operator", is_switch},
    setting{"RANK_TABLE_FILE", "", "a path", "the rank table of hcclCommInitAll", is_anything},
    setting{"RANK_ID", "", "a number", "the rank in that table, if no launcher tells it",
            is_number<0, 1048575>},
};

}  // namespace

std::string setting::value() const {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

setting::effect setting::in_effect() const {
  if (std::string own = value(); !own.empty()) return {std::move(own), "environment"};
  const char* const other = fallback == nullptr ? nullptr : std::getenv(fallback);
  if (other != nullptr && *other != '\0') return {other, fallback};
  return {std::string(usual), "default"};
}

std::span<const setting> all_settings() { return settings; }

void check_settings() {
  for (const setting& s : settings) {
    const std::string value = s.value();
    if (!value.empty() && !s.is_valid(value))
      throw refusal(HCCL_E_PARA, std::string_view(s.name), " is '", value, "', expected ", s.expected);
  }
}

bool logs_entries() {
  const char* const value = std::getenv("HCCL_ENTRY_LOG_ENABLE");
  return value != nullptr && std::string_view(value) == "1";
}

whitelist::whitelist() {
  const char* const disabled = std::getenv("HCCL_WHITELIST_DISABLE");
  has_all_ = disabled == nullptr || std::string_view(disabled) != "0";
  if (has_all_) return;
  const char* const path = std::getenv("HCCL_WHITELIST_FILE");
  std::ifstream file(path == nullptr ? "" : path);
  if (!file || !std::filesystem::is_regular_file(path)) {
    throw refusal(HCCL_E_OPEN_FILE_FAILURE, "HCCL_WHITELIST_DISABLE is 0, and HCCL_WHITELIST_FILE '",
                  std::string_view(path == nullptr ? "" : path), "' cannot be read");
  }
  const auto table = nlohmann::json::parse(file, nullptr, false);
  const bool is_right = table.is_object() && table.contains("host_ip") && table["host_ip"].is_array();
  if (!is_right)
    throw refusal(HCCL_E_PARA, "HCCL_WHITELIST_FILE '", std::string_view(path),
                  R"(' is not {"host_ip": [...]})");
  for (const auto& host : table["host_ip"]) {
    if (host.is_string()) addresses_.push_back(host.get<std::string>());
  }
}

bool whitelist::has(std::string_view address) const {
  return has_all_ || std::ranges::find(addresses_, address) != addresses_.end();
}

}  // namespace c_api
