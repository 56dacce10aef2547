// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of this host's addresses a rank listens at.

#include <hccl/core/error.hpp>
#include <hccl/transport/detail/tcp_address.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>

#include <boost/asio/ip/udp.hpp>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hccl::inline v0::detail {

struct interface_address {
  std::string name;
  asio::ip::address address;
};

/// Lists the addresses of the interfaces that are up; IPv6 addresses of one link only are left out.
inline std::vector<interface_address> interface_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::vector<interface_address> found;
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    tcp::endpoint endpoint;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const auto size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(endpoint.data(), entry->ifa_addr, size);
    endpoint.resize(size);
    const auto address = endpoint.address();
    if (address.is_v6() && address.to_v6().is_link_local()) continue;
    found.push_back({entry->ifa_name, address});
  }
  return found;
}

/// The user's wishes; an empty one is none.
struct interface_wishes {
  std::string names;    ///< "eth,=ib0": prefixes or exact names; "^docker,=lo": all but these
  std::string address;  ///< one address of this host
  std::string family;   ///< "AF_INET" or "AF_INET6"

  /// Reads HCCL_SOCKET_IFNAME, HCCL_IF_IP and HCCL_SOCKET_FAMILY.
  static interface_wishes from_environment() {
    const auto text = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    };
    return {text("HCCL_SOCKET_IFNAME"), text("HCCL_IF_IP"), text("HCCL_SOCKET_FAMILY")};
  }
};

/// Chooses an address of this host.
class interface_choice {
 public:
  explicit interface_choice(const interface_wishes& wishes) : wishes_(wishes) {
    const auto& family = wishes.family;
    if (!family.empty() && family != "AF_INET" && family != "AF_INET6") {
      fail(concat("HCCL_SOCKET_FAMILY='", family, "' is neither AF_INET nor AF_INET6"));
    }
  }

  /// Returns what the wishes say, else the address from which the host `towards` is reached, else (when it is
  /// empty) an address that other hosts can reach, if there is one. Throws invalid_argument, listing the
  /// interfaces.
  asio::ip::address choose(const std::string& towards) const {
    if (!wishes_.address.empty()) return wished_address();
    if (!wishes_.names.empty()) return wished_interface();
    if (!towards.empty()) {
      if (const auto address = route(towards); address && of_family(*address)) return *address;
    }
    return any(!towards.empty() && is_loopback(towards));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::string text = concat(what, "; the interfaces of this host are");
    for (const auto& [name, address] : interfaces_) text += concat(' ', name, '=', address.to_string());
    throw error(errc::invalid_argument, text);
  }

  bool of_family(const asio::ip::address& address) const {
    return wishes_.family.empty() || address.is_v6() == (wishes_.family == "AF_INET6");
  }

  asio::ip::address wished_address() const {
    for (const auto& entry : interfaces_) {
      asio_error failure;
      if (entry.address == asio::ip::make_address(wishes_.address, failure) && !failure) return entry.address;
    }
    fail(concat("HCCL_IF_IP='", wishes_.address, "' is not an address of this host"));
  }

  asio::ip::address wished_interface() const {
    for (const bool v6 : {false, true}) {
      for (const auto& [name, address] : interfaces_) {
        if (address.is_v6() == v6 && of_family(address) && wished(name)) return address;
      }
    }
    fail(concat("HCCL_SOCKET_IFNAME='", wishes_.names, "' fits no interface that is up and has an address"));
  }

  bool wished(std::string_view name) const {
    std::string_view rest = wishes_.names;
    const bool exclude = rest.starts_with('^');
    if (exclude) rest.remove_prefix(1);
    while (!rest.empty()) {
      auto pattern = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), pattern.size() + 1));
      const bool exact = pattern.starts_with('=');
      if (exact) pattern.remove_prefix(1);
      if (exact ? name == pattern : !pattern.empty() && name.starts_with(pattern)) return !exclude;
    }
    return exclude;
  }

  static bool is_loopback(const std::string& host) {
    asio::io_context io;
    return look_up(io, {host, 1}).address().is_loopback();
  }

  /// The local address of a datagram socket that is connected to `host`; nothing is sent.
  static std::optional<asio::ip::address> route(const std::string& host) {
    asio::io_context io;
    const auto target = look_up(io, {host, 1}).address();
    if (target.is_loopback()) return target;
    asio_error failure;
    asio::ip::udp::socket socket(io);
    socket.connect({target, 1}, failure);
    if (failure) return std::nullopt;
    return socket.local_endpoint().address();
  }

  asio::ip::address any(bool loopback) const {
    for (const bool wanted : {loopback, !loopback}) {
      for (const auto& entry : interfaces_) {
        if (entry.address.is_loopback() == wanted && of_family(entry.address)) return entry.address;
      }
    }
    fail("no interface has an address of the wanted family");
  }

  interface_wishes wishes_;
  std::vector<interface_address> interfaces_ = interface_addresses();
};

}  // namespace hccl::inline v0::detail
