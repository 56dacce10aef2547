// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of the HCCL API share.

#include <hccl/hccl.h>

#include <acl/acl.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace c_api_test {

/// Tells whether a call failed with a result and a sentence that has these words.
inline bool failed(HcclResult result, HcclResult expected, std::string_view words) {
  return result == expected && std::string_view(hcclGetLastError()).find(words) != std::string_view::npos;
}

/// Throws if a call did not fail so.
inline void expect(HcclResult result, HcclResult expected, std::string_view words) {
  if (!failed(result, expected, words))
    throw std::runtime_error("got " + std::to_string(result) + ": " + hcclGetLastError());
}

/// Throws the sentence of a call that has failed.
inline void succeeds(HcclResult result) {
  if (result != HCCL_SUCCESS) throw std::runtime_error(hcclGetLastError());
}
inline void succeeds(aclError result) {
  if (result != ACL_SUCCESS) throw std::runtime_error(aclGetRecentErrMsg());
}

/// Device memory of the current device, with bytes in it.
class device_bytes {
 public:
  explicit device_bytes(std::size_t size) : size_(size) {
    if (size > 0) succeeds(aclrtMalloc(&memory_, size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  template <class T>
  explicit device_bytes(const std::vector<T>& values) : device_bytes(values.size() * sizeof(T)) {
    if (size_ > 0) succeeds(aclrtMemcpy(memory_, size_, values.data(), size_, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  device_bytes(const device_bytes&) = delete;
  device_bytes& operator=(const device_bytes&) = delete;
  ~device_bytes() {
    if (memory_ != nullptr) aclrtFree(memory_);
  }

  void* get() const { return memory_; }

  template <class T>
  std::vector<T> values() const {
    std::vector<T> found(size_ / sizeof(T));
    if (size_ > 0) succeeds(aclrtMemcpy(found.data(), size_, memory_, size_, ACL_MEMCPY_DEVICE_TO_HOST));
    return found;
  }

 private:
  void* memory_ = nullptr;
  std::size_t size_;
};

/// One rank: its communicator, its device, and a stream there.
struct rank_on_device {
  HcclComm comm = nullptr;
  int rank = 0, size = 1;
  aclrtStream stream = nullptr;

  /// Waits for all that is in the stream; throws what failed there.
  void synchronize() const { succeeds(aclrtSynchronizeStream(stream)); }
};

/// Calls f(rank_on_device) for each of these communicators, in a thread for each, and returns what they threw, by rank;
/// "" is nothing.
template <class F>
std::vector<std::string> in_threads(const std::vector<HcclComm>& comms, F&& f) {
  std::vector<std::string> thrown(comms.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < comms.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        succeeds(aclrtSetDevice(static_cast<std::int32_t>(i)));
        rank_on_device own{comms[i], static_cast<int>(i), static_cast<int>(comms.size())};
        succeeds(aclrtCreateStream(&own.stream));
        f(own);
        succeeds(aclrtDestroyStream(own.stream));
      } catch (const std::exception& e) {
        thrown[i] = e.what();
      }
      aclrtResetDevice(static_cast<std::int32_t>(i));
    });
  }
  threads.clear();
  return thrown;
}

/// The communicators of the first `size` devices. They are destroyed with it.
class all_devices {
 public:
  explicit all_devices(int size) : comms_(static_cast<std::size_t>(size)) {
    succeeds(HcclCommInitAll(static_cast<std::uint32_t>(size), nullptr, comms_.data()));
  }
  all_devices(const all_devices&) = delete;
  all_devices& operator=(const all_devices&) = delete;
  ~all_devices() {
    for (HcclComm comm : comms_) HcclCommDestroy(comm);
  }

  const std::vector<HcclComm>& comms() const { return comms_; }

  /// As `in_threads`; throws the first thing that was thrown.
  template <class F>
  void run(F&& f) const {
    for (const std::string& what : in_threads(comms_, f)) {
      if (!what.empty()) throw std::runtime_error(what);
    }
  }

 private:
  std::vector<HcclComm> comms_;
};

}  // namespace c_api_test
