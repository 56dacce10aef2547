// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which devices a simulated host has, and how they are linked.

#include <array>
#include <cstdint>
#include <string_view>

namespace acl_sim {

/// How two devices are linked; the bits of aclrtGetDevicesTopo.
enum class link_kind : std::uint64_t {
  none = 0,
  hccs = 0x01,         ///< a direct link
  host_bridge = 0x08,  ///< PCIe, by way of the host
  sio = 0x20,          ///< two dies of one NPU
  hccs_switch = 0x40,  ///< HCCS, by way of a switch
};

/// A host. Speeds are bytes a second in one direction: what the vendor's library plans with.
struct host_system {
  std::string_view name;  ///< as in ACL_SIM_TOPOLOGY
  std::string_view soc;   ///< as aclrtGetSocName says
  int devices;
  double hccs, between_groups, dies;
  double memory;  ///< of one device
  int group;      ///< devices that have direct links; the others are reached otherwise
  bool has_switch, has_dies;

  link_kind between(int one, int other) const {
    if (one == other) return link_kind::none;
    if (has_dies && one / 2 == other / 2) return link_kind::sio;
    if (has_switch) return link_kind::hccs_switch;
    return one / group == other / group ? link_kind::hccs : link_kind::host_bridge;
  }

  double bytes_per_second(int one, int other) const {
    switch (between(one, other)) {
      case link_kind::none:
        return memory;
      case link_kind::sio:
        return dies;
      case link_kind::host_bridge:
        return between_groups;
      default:
        return hccs;
    }
  }
};

/// Atlas 800 (model 9000): eight Ascend 910 in two meshes of four, PCIe between them. Atlas 800T A2: a mesh of eight
/// Ascend 910B. Atlas 900 A3: eight NPUs of two dies, on switches.
inline constexpr std::array<host_system, 3> host_systems{{
    {"atlas_800", "Ascend910A", 8, 10.0e9, 13.6e9, 0, 1200e9, 4, false, false},
    {"atlas_800t_a2", "Ascend910B2", 8, 18.3e9, 18.3e9, 0, 1600e9, 8, false, false},
    {"atlas_900_a3", "Ascend910_9391", 16, 18.3e9, 18.3e9, 204e9, 585e9, 16, true, true},
}};

/// The speed between host and device, PCIe, and the time before a copy moves its first byte.
inline constexpr double host_link = 27.2e9;
inline constexpr double copy_latency = 13e-6;

}  // namespace acl_sim
