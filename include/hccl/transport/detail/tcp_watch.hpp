// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for a socket without allocating: an asynchronous wait that has its memory with it.

#include <hccl/transport/detail/tcp_asio.hpp>

#include <cstddef>
#include <memory>

namespace hccl::inline v0::detail {

/// At most one pending wait for one event of one socket. Stays put while it is armed, and outlives the
/// socket's context.
class tcp_watch {
 public:
  tcp_watch() = default;
  tcp_watch(const tcp_watch&) = delete;
  tcp_watch& operator=(const tcp_watch&) = delete;

  /// Makes the io_context of `socket` wake up at the event, and set `*flag`; nothing when it is to do so
  /// already.
  template <class Socket>
  void arm(Socket& socket, asio::socket_base::wait_type event, bool* flag = nullptr) {
    if (armed_) return;
    armed_ = true;
    socket.async_wait(event, handler{this, flag});
  }

 private:
  /// Hands out the watch's own memory.
  template <class T>
  struct allocator {
    using value_type = T;

    explicit allocator(tcp_watch* owner) : watch(owner) {}
    template <class U>
    allocator(const allocator<U>& other) : watch(other.watch) {}

    T* allocate(std::size_t count) {
      const bool fits = count * sizeof(T) <= sizeof watch->memory_ && alignof(T) <= alignof(std::max_align_t);
      return fits ? reinterpret_cast<T*>(watch->memory_) : std::allocator<T>().allocate(count);
    }
    void deallocate(T* memory, std::size_t count) {
      if (reinterpret_cast<std::byte*>(memory) != watch->memory_)
        std::allocator<T>().deallocate(memory, count);
    }
    template <class U>
    bool operator==(const allocator<U>& other) const {
      return watch == other.watch;
    }

    tcp_watch* watch;
  };

  struct handler {
    using allocator_type = allocator<void>;

    allocator_type get_allocator() const { return allocator_type(watch); }
    void operator()(asio_error failure) const {
      watch->armed_ = false;
      if (flag != nullptr && !failure) *flag = true;
    }

    tcp_watch* watch;
    bool* flag;
  };

  alignas(std::max_align_t) std::byte memory_[256];
  bool armed_ = false;
};

}  // namespace hccl::inline v0::detail
