// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of simulated devices: the host gets addresses that it may not touch. Linux.

#include "address_space.hpp"
#include "error.hpp"

#include <sys/mman.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace acl_sim {

/// The device of memory that is the host's.
inline constexpr int host = -1;

/// What an address stands for.
struct place {
  int device = host;
  std::byte* bytes = nullptr;     ///< where the simulator reads and writes them
  std::size_t size = 0;           ///< to the end of the allocation; of host memory unknown
  std::shared_ptr<void> owner{};  ///< keeps them for who still works in them when the program has freed them
  bool is_freed = false;          ///< device memory that was freed
};

/// An address as errors name it.
inline std::string text_of(const void* memory) {
  char digits[20];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, reinterpret_cast<std::uintptr_t>(memory), 16).ptr;
  return "0x" + std::string(digits, end);
}

/// All memory of all devices of this process. From any thread.
///
/// An allocation has two ranges of addresses: one that is handed out, without leave to read or write, so that a stray
/// access of the host ends in a signal at that address; and one that the simulator works in.
class device_memory {
 public:
  /// `capacity`: bytes of one device.
  device_memory(int devices, std::size_t capacity)
      : capacity_(capacity), used_(static_cast<std::size_t>(devices)) {}
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  /// `size` is not 0.
  aclError allocate(int device, std::size_t size, void** memory) {
    const std::size_t taken = (size + page - 1) / page * page;
    const std::unique_lock lock(mutex_);
    std::size_t& used = used_[static_cast<std::size_t>(device)];
    if (taken < size || taken > capacity_ - used) {
      return fail(ACL_ERROR_RT_DEVICE_OOM, "aclrtMalloc: device ", device, " has ", capacity_ - used,
                  " bytes free of ", capacity_, ", ", size, " are asked for");
    }
    const mapping storage = map(taken);
    std::byte* const begin = storage == nullptr ? nullptr : addresses_.take(taken);
    if (begin == nullptr) {
      return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMalloc: the host cannot map ", taken,
                  " bytes for device ", device);
    }
    used += taken;
    blocks_.emplace(begin, block{device, size, taken, storage});
    *memory = begin;
    return ACL_SUCCESS;
  }

  aclError release(void* memory) {
    const std::unique_lock lock(mutex_);
    const auto found = blocks_.find(static_cast<std::byte*>(memory));
    if (found == blocks_.end()) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: ", text_of(memory),
                  " is not what aclrtMalloc gave, or was freed before");
    }
    used_[static_cast<std::size_t>(found->second.device)] -= found->second.taken;
    addresses_.give_back(found->first, found->second.taken);
    blocks_.erase(found);
    return ACL_SUCCESS;
  }

  /// Frees all memory of a device.
  void release_all(int device) {
    const std::unique_lock lock(mutex_);
    std::erase_if(blocks_, [&](const auto& entry) {
      const auto& [begin, freed] = entry;
      if (freed.device == device) addresses_.give_back(begin, freed.taken);
      return freed.device == device;
    });
    used_[static_cast<std::size_t>(device)] = 0;
  }

  place find(const void* memory) const {
    auto* const address = static_cast<std::byte*>(const_cast<void*>(memory));
    const std::shared_lock lock(mutex_);
    const auto of_host = [&] { return place{host, address, 0, {}, addresses_.has(address)}; };
    auto next = blocks_.upper_bound(address);
    if (next == blocks_.begin()) return of_host();
    const auto& [begin, found] = *--next;
    const auto offset = static_cast<std::size_t>(address - begin);
    if (offset >= found.taken) return of_host();
    return {found.device, found.storage.get() + offset, found.size > offset ? found.size - offset : 0,
            found.storage, false};
  }

  std::size_t capacity() const { return capacity_; }

  std::size_t free_bytes(int device) const {
    const std::shared_lock lock(mutex_);
    return capacity_ - used_[static_cast<std::size_t>(device)];
  }

 private:
  using mapping = std::shared_ptr<std::byte>;

  struct block {
    int device;
    std::size_t size, taken;
    mapping storage;
  };

  static constexpr std::size_t page = 4096;

  static mapping map(std::size_t size) {
    void* const made =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return nullptr;
    return {static_cast<std::byte*>(made), [size](std::byte* begin) { ::munmap(begin, size); }};
  }

  const std::size_t capacity_;
  mutable std::shared_mutex mutex_;
  address_space addresses_;             // that are handed out
  std::map<std::byte*, block> blocks_;  // by them
  std::vector<std::size_t> used_;       // by device
};

}  // namespace acl_sim
