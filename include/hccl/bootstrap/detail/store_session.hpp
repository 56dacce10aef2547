// SPDX-License-Identifier: Apache-2.0
#pragma once

// One client's connection to a TcpStoreServer. Boost.Asio.

#include <hccl/bootstrap/detail/store_protocol.hpp>
#include <hccl/bootstrap/detail/stream.hpp>
#include <hccl/transport/detail/tcp_asio.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace hccl::inline v0::detail {

/// What a server keeps. Only its thread touches the values.
struct store_dictionary {
  std::map<std::string, std::string, std::less<>> values;
  std::atomic<int> come = 0;  // clients that have greeted
  std::atomic<int> gone = 0;  // clients of these that have left

  /// Carries a request out and returns the bytes of the answer.
  std::string answer(store_operation operation, std::string key, std::string value) {
    switch (operation) {
      case store_operation::set:
        values[std::move(key)] = std::move(value);
        return encode_answer(true, {});
      case store_operation::claim:
        return encode_answer(true, values.try_emplace(std::move(key), std::move(value)).first->second);
      case store_operation::get:
        break;
    }
    const auto found = values.find(key);
    return found == values.end() ? encode_answer(false, {}) : encode_answer(true, found->second);
  }
};

/// Greets a client, then answers its requests until it leaves. Lives as long as one of its operations is
/// pending.
class store_session : public std::enable_shared_from_this<store_session> {
 public:
  store_session(stream_socket socket, std::shared_ptr<store_dictionary> dictionary)
      : socket_(std::move(socket)), dictionary_(std::move(dictionary)) {}
  store_session(const store_session&) = delete;
  store_session& operator=(const store_session&) = delete;
  ~store_session() {
    if (greeted_) ++dictionary_->gone;
  }

  void start() {
    read(store_greeting.size(), [this] {
      if (in_ != store_greeting) return;
      greeted_ = true;
      ++dictionary_->come;
      write(std::string(store_greeting));
    });
  }

 private:
  template <class Next>
  void read(std::size_t size, Next next) {
    in_.resize(size);
    asio::async_read(socket_, asio::buffer(in_),
                     [self = shared_from_this(), next](asio_error failure, std::size_t) {
                       if (!failure) next();
                     });
  }

  void write(std::string bytes) {
    out_ = std::move(bytes);
    asio::async_write(socket_, asio::buffer(out_),
                      [self = shared_from_this()](asio_error failure, std::size_t) {
                        if (!failure) self->read_request();
                      });
  }

  void read_request() {
    read(request_head_size, [this] {
      const auto operation = static_cast<store_operation>(in_[0]);
      const std::size_t key_size = decode(in_, 1), value_size = decode(in_, 5);
      if (key_size > longest_store_text || value_size > longest_store_text) return;
      read(key_size + value_size, [this, operation, key_size] {
        write(dictionary_->answer(operation, in_.substr(0, key_size), in_.substr(key_size)));
      });
    });
  }

  stream_socket socket_;
  std::shared_ptr<store_dictionary> dictionary_;
  std::string in_, out_;
  bool greeted_ = false;
};

}  // namespace hccl::inline v0::detail
