// SPDX-License-Identifier: Apache-2.0

#include "desk.hpp"

#include "last_error.hpp"

#include <acl/acl.h>

namespace c_api {

namespace {

/// Copies between host and device, or within one of them.
void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) expect_success(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_DEFAULT), "aclrtMemcpy");
}

}  // namespace

desk::~desk() {
  if (memory_ != nullptr) aclrtFreeHost(memory_);
}

std::byte* desk::room(std::size_t bytes) {
  if (bytes > size_) {
    if (memory_ != nullptr) aclrtFreeHost(memory_);
    memory_ = nullptr, size_ = 0;
    if (aclrtMallocHost(&memory_, bytes) != ACL_SUCCESS)
      throw refusal(HCCL_E_OOM, "there are no ", bytes, " bytes of host memory");
    size_ = bytes;
  }
  return static_cast<std::byte*>(memory_);
}

std::byte* desk::fetch(std::span<const piece> from) {
  std::size_t bytes = 0;
  for (const piece& p : from) bytes += p.bytes;
  std::byte* const begin = room(bytes);
  std::byte* to = begin;
  for (const piece& p : from) {
    load(p, to);
    to += p.bytes;
  }
  return begin;
}

void load(piece from, std::byte* to) { copy(to, from.address, from.bytes); }

void store(const std::byte* from, std::span<const piece> to) {
  for (const piece& p : to) {
    copy(const_cast<void*>(p.address), from, p.bytes);
    from += p.bytes;
  }
}

}  // namespace c_api
