// SPDX-License-Identifier: Apache-2.0

#include "root_info.hpp"

#include "last_error.hpp"
#include "settings.hpp"

#include <hccl/bootstrap/detail/process.hpp>
#include <hccl/bootstrap/tcp_store.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/transport/detail/tcp_interface.hpp>
#include <hccl/transport/detail/tcp_ports.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace c_api {

namespace {

/// The stores that this process serves, by their addresses.
class open_stores {
 public:
  static open_stores& instance() {
    static auto* const all = new open_stores;  // their threads run until the end
    return *all;
  }

  void add(std::unique_ptr<hccl::TcpStoreServer> store) {
    const std::lock_guard lock(mutex_);
    const std::string address = store->address();
    stores_.insert_or_assign(address, served{::getpid(), store.release()});
  }

  /// Null if there is none. A process that was forked serves none of its parent's, whose threads it does not have.
  std::unique_ptr<hccl::TcpStoreServer> take(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const auto found = stores_.find(address);
    if (found == stores_.end() || found->second.owner != ::getpid()) return nullptr;
    std::unique_ptr<hccl::TcpStoreServer> store(found->second.store);
    stores_.erase(found);
    return store;
  }

 private:
  struct served {
    pid_t owner;
    hccl::TcpStoreServer* store;
  };

  std::mutex mutex_;
  std::map<std::string, served> stores_;
};

constexpr std::string_view first_word = "hccl-root-info";

}  // namespace

meeting meeting::open() {
  check_settings();
  const hccl::detail::interface_choice here(hccl::detail::interface_wishes::from_environment());
  const auto address = here.choose("");
  std::unique_ptr<hccl::TcpStoreServer> store;
  hccl::detail::at_first_free<hccl::error>(hccl::detail::ports_from_environment(), [&](std::uint16_t port) {
    const hccl::detail::tcp::endpoint endpoint(address, port);
    store = std::make_unique<hccl::TcpStoreServer>(
        hccl::detail::concat("tcp://", hccl::detail::to_text(endpoint)));
  });
  meeting made{store->address(), hccl::detail::concat(address.to_string(), "%", hccl::detail::random_name())};
  open_stores::instance().add(std::move(store));
  return made;
}

meeting meeting::read(const HcclRootInfo* from) {
  if (from == nullptr) throw refusal(HCCL_E_PTR, "rootInfo is null");
  const char* const begin = from->internal;
  const std::string_view text(begin, std::find(begin, begin + HCCL_ROOT_INFO_BYTES, '\0'));
  const auto store = text.find(' '), name = text.find(' ', store + 1);
  if (text.substr(0, store) != first_word || name == text.npos)
    throw refusal(HCCL_E_PARA, "rootInfo is not what HcclGetRootInfo has written");
  return {std::string(text.substr(store + 1, name - store - 1)), std::string(text.substr(name + 1))};
}

void meeting::write(HcclRootInfo* to) const {
  const std::string text = hccl::detail::concat(first_word, ' ', store, ' ', name);
  std::memset(to, 0, sizeof *to);
  std::memcpy(to->internal, text.data(), text.size());
}

void meeting::close(int ranks) const {
  const auto served = open_stores::instance().take(store);
  if (served != nullptr && ranks > 1)  // who is alone has not come
    served->wait_for_departures(ranks, hccl::deadline::after(std::chrono::seconds(1)));
}

}  // namespace c_api
