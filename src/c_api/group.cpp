// SPDX-License-Identifier: Apache-2.0

#include "group.hpp"

#include "last_error.hpp"

#include <hccl/hccl_comm.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>

namespace c_api {

namespace {

std::unique_ptr<group>& open_group() {
  static thread_local std::unique_ptr<group> open;
  return open;
}

}  // namespace

group* group::current() { return open_group().get(); }

void group::start() {
  if (auto& open = open_group()) {
    ++open->depth_;
  } else {
    open = std::make_unique<group>();
  }
}

void group::end() {
  auto& open = open_group();
  if (!open) throw refusal(HCCL_E_PARA, "no group is open in this thread");
  if (--open->depth_ > 0) return;
  const auto closed = std::move(open);  // what it does is not in a group
  closed->run();
}

void group::expect(kind next) {
  if (kind_ != kind::none && kind_ != next) {
    throw refusal(HCCL_E_PARA,
                  "a group has either calls that make communicators, or collectives, or send and recv; this "
                  "one began with others");
  }
  kind_ = next;
}

void group::make(std::function<void()> maker) {
  group* const open = current();
  if (open == nullptr) return maker();
  open->expect(kind::setup);
  open->makings_.push_back({current_context(), std::move(maker)});
}

void group::exchange_at_end(const std::shared_ptr<communicator>& comm, aclrtStream stream,
                            const checked_message& message) {
  expect(kind::messages);
  auto found = std::ranges::find(batches_, comm, &batch::comm);
  if (found == batches_.end()) found = batches_.insert(found, {comm, stream, current_context(), {}});
  if (found->stream != stream) {
    throw refusal(HCCL_E_PARA, "rank ", comm->rank(),
                  ": all messages of a communicator in a group go into one stream, since they do not wait "
                  "for each other");
  }
  found->messages.push_back(message);
}

void group::run() const {
  std::vector<std::exception_ptr> failures(makings_.size() + 1);
  if (!batches_.empty()) {
    const aclrtContext here = current_context();
    for (const batch& b : batches_) {  // also after one that was refused: the peers wait for the others
      try {
        expect_success(aclrtSetCurrentContext(b.context), "aclrtSetCurrentContext");
        exchange(*b.comm, b.messages, b.stream);
      } catch (...) {
        if (!failures.back()) failures.back() = std::current_exception();
      }
    }
    aclrtSetCurrentContext(here);
  }
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < makings_.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          expect_success(aclrtSetCurrentContext(makings_[i].context), "aclrtSetCurrentContext");
          makings_[i].make();
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace c_api

extern "C" {

HcclResult HcclGroupStart(void) {
  return c_api::guarded("HcclGroupStart", [] { c_api::group::start(); });
}

HcclResult HcclGroupEnd(void) {
  return c_api::guarded("HcclGroupEnd", [] { c_api::group::end(); });
}

HcclResult HcclGroupStatusGet(bool* isGroupEnabled) {
  return c_api::guarded("HcclGroupStatusGet", [&] {
    c_api::not_null("isGroupEnabled", isGroupEnabled) = c_api::group::current() != nullptr;
  });
}

}  // extern "C"
