// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the environment says of the simulated host.

#include "topology.hpp"

#include <hccl/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace acl_sim {

/// The host, and how many of its devices there are and are visible.
struct settings {
  host_system system = host_systems[1];
  int devices = 8;
  std::size_t memory = std::size_t{32} << 30;  ///< bytes of one device
  bool has_simulated_clock = false;            ///< events tell the time that the links would take

  /// Reads ACL_SIM_TOPOLOGY, ACL_SIM_DEVICES, ACL_SIM_MEMORY and ACL_SIM_CLOCK. Throws std::invalid_argument, with the
  /// variable, its value and what is expected.
  static settings read() {
    settings found;
    if (const std::string_view name = value_of("ACL_SIM_TOPOLOGY"); !name.empty()) {
      const auto* const known = std::ranges::find(host_systems, name, &host_system::name);
      if (known == host_systems.end())
        refuse("ACL_SIM_TOPOLOGY", name, "one of atlas_800, atlas_800t_a2, atlas_900_a3");
      found.system = *known;
    }
    found.devices = found.system.devices;
    if (const std::string_view number = value_of("ACL_SIM_DEVICES"); !number.empty())
      found.devices = static_cast<int>(read_number("ACL_SIM_DEVICES", number, most_devices));
    if (const std::string_view number = value_of("ACL_SIM_MEMORY"); !number.empty())
      found.memory = read_number("ACL_SIM_MEMORY", number, std::size_t{1} << 44);
    if (const std::string_view clock = value_of("ACL_SIM_CLOCK"); !clock.empty()) {
      if (clock != "host" && clock != "simulated") refuse("ACL_SIM_CLOCK", clock, "host or simulated");
      found.has_simulated_clock = clock == "simulated";
    }
    return found;
  }

 private:
  static constexpr std::size_t most_devices = 1024;

  static std::string_view value_of(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  }

  static std::size_t read_number(const char* name, std::string_view text, std::size_t most) {
    std::size_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size() || number < 1 || number > most)
      refuse(name, text, hccl::detail::concat("a number from 1 to ", most));
    return number;
  }

  [[noreturn]] static void refuse(const char* name, std::string_view value, std::string_view expected) {
    throw std::invalid_argument(
        hccl::detail::concat(std::string_view(name), "=", value, ": expected ", expected));
  }
};

}  // namespace acl_sim
