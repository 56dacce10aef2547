// SPDX-License-Identifier: Apache-2.0
#pragma once

// Groups of calls: what a thread does between HcclGroupStart and HcclGroupEnd.

#include "communicator.hpp"
#include "desk.hpp"

#include <acl/acl.h>

#include <functional>
#include <memory>
#include <vector>

namespace c_api {

/// A message whose arguments were checked.
struct checked_message {
  bool is_sent = false;
  int peer = 0;
  piece data;
  HcclDataType type = HCCL_DATA_TYPE_RESERVED;
};

/// Messages that go together: of one communicator.
struct batch {
  std::shared_ptr<communicator> comm;
  aclrtStream stream = nullptr;
  aclrtContext context = nullptr;
  std::vector<checked_message> messages;
};

/// An open group of this thread. Communicators are made when it ends, all at once; so are messages, of which none
/// waits for another; collectives are launched as they are called, since they do not wait. Kinds do not mix.
class group {
 public:
  enum class kind { none, setup, collectives, messages };

  /// The group of this thread, or null.
  static group* current();

  /// Opens one, or goes one level deeper.
  static void start();

  /// Closes the level; the outermost does what was put off. Throws HCCL_E_PARA if none is open, else the first failure.
  static void end();

  /// Throws HCCL_E_PARA if calls of another kind came before.
  void expect(kind next);

  /// Makes a communicator, which blocks: now, or, in a group, when it ends, in a thread of its own in the context of
  /// now.
  static void make(std::function<void()> maker);

  void exchange_at_end(const std::shared_ptr<communicator>& comm, aclrtStream stream,
                       const checked_message& message);

 private:
  struct making {
    aclrtContext context;
    std::function<void()> make;
  };

  void run() const;

  int depth_ = 1;
  kind kind_ = kind::none;
  std::vector<making> makings_;
  std::vector<batch> batches_;
};

/// Exchanges messages in a turn of the stream, all at once.
void exchange(communicator& comm, std::vector<checked_message> messages, aclrtStream stream);

}  // namespace c_api
