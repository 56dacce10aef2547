// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the operators begin with: the communicator, and the checks of the arguments.

#include "communicator.hpp"
#include "data_type.hpp"
#include "group.hpp"
#include "last_error.hpp"
#include "settings.hpp"
#include "workplace.hpp"

#include <hccl/collective/shares.hpp>
#include <hccl/hccl_types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace c_api {

/// An operator that is called: its communicator, and checks that throw HCCL_E_PTR or HCCL_E_PARA with the rank, the
/// argument and what was expected.
class called {
 public:
  explicit called(HcclComm handle) : comm_(communicators::instance().find(handle)) {}

  int rank() const { return comm_->rank(); }
  std::size_t ranks() const { return static_cast<std::size_t>(comm_->size()); }

  const std::shared_ptr<communicator>& comm() const { return comm_; }

  /// Has a collective, `run(workplace)`, done in its turn in the stream.
  void launch(aclrtStream stream, communicator::operation run) const {
    if (group* const open = group::current()) open->expect(group::kind::collectives);
    comm_->launch(stream, std::move(run));
  }

  /// A buffer of `count` elements.
  piece buffer(std::string_view name, const void* address, std::uint64_t count, std::size_t element) const {
    if (count > std::numeric_limits<std::ptrdiff_t>::max() / element)
      refuse(HCCL_E_PARA, name, " has ", count, " elements of ", element,
             " bytes, more than memory can hold");
    if (address == nullptr && count > 0) refuse(HCCL_E_PTR, name, " is null");
    return {address, static_cast<std::size_t>(count) * element};
  }

  /// As many elements for each rank.
  std::uint64_t times_ranks(std::string_view name, std::uint64_t count) const {
    if (count > std::numeric_limits<std::uint64_t>::max() / ranks())
      refuse(HCCL_E_PARA, name, " is ", count, " for each of ", ranks(),
             " ranks, more than 64 bits can count");
    return count * ranks();
  }

  int peer(std::string_view name, std::uint32_t rank) const {
    if (rank >= ranks()) refuse(HCCL_E_PARA, name, " is ", rank, ", expected 0 to ", ranks() - 1);
    return static_cast<int>(rank);
  }

  void reduces(HcclReduceOp op, HcclDataType type) const {
    if (op < HCCL_REDUCE_SUM || op > HCCL_REDUCE_MIN)
      refuse(HCCL_E_PARA, "op is ", static_cast<int>(op), ", which is no HcclReduceOp");
    if (!with_reduction(type, op, [](auto, auto) {}))
      refuse(HCCL_E_NOT_SUPPORT, "dataType ", static_cast<int>(type), " is moved, but not reduced");
  }

  void same(std::string_view name, std::uint64_t value, std::string_view other,
            std::uint64_t expected) const {
    if (value != expected) refuse(HCCL_E_PARA, name, " is ", value, ", expected ", expected, " as ", other);
  }

  /// A list of one number for each rank, or of `count`.
  std::span<const std::uint64_t> list(std::string_view name, const void* address) const {
    return list(name, address, ranks());
  }
  std::span<const std::uint64_t> list(std::string_view name, const void* address, std::size_t count) const {
    if (address == nullptr) refuse(HCCL_E_PTR, name, " is null");
    return {static_cast<const std::uint64_t*>(address), count};
  }

  template <class... Parts>
  [[noreturn]] void refuse(HcclResult result, const Parts&... parts) const {
    throw refusal(result, "rank ", rank(), ": ", parts...);
  }

 private:
  std::shared_ptr<communicator> comm_;
};

/// Runs an operator, f(called), whose exceptions become results.
template <class F>
HcclResult operate(std::string_view call, HcclComm handle, F&& f) noexcept {
  return guarded(call, [&] {
    const called c(handle);
    if (logs_entries()) {
      const std::string line =
          hccl::detail::concat("hccl: rank ", c.rank(), " of '", c.comm()->name(), "': ", call, '\n');
      std::fputs(line.c_str(), stderr);
    }
    f(c);
  });
}

/// The shares of a buffer, one of each rank: how many elements, and where they lie.
struct share_list {
  std::vector<std::size_t> counts;
  std::vector<piece> pieces;
  std::size_t total = 0;

  /// `offsets` are in elements; none: one share behind the other.
  share_list(const called& c, std::string_view name, const void* address,
             std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> offsets,
             std::size_t element)
      : counts(sizes.begin(), sizes.end()) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0) {
        pieces.emplace_back();
        continue;
      }
      const std::uint64_t offset = offsets.empty() ? total : offsets[i];
      if (offset > std::numeric_limits<std::uint64_t>::max() - sizes[i])
        c.refuse(HCCL_E_PARA, name, ": share ", i, " begins at element ", offset, " and has ", sizes[i]);
      const piece until_end = c.buffer(name, address, offset + sizes[i], element);
      const std::size_t bytes = sizes[i] * element;
      pieces.push_back({static_cast<const std::byte*>(address) + (until_end.bytes - bytes), bytes});
      if (sizes[i] > std::numeric_limits<std::ptrdiff_t>::max() / element - total)
        c.refuse(HCCL_E_PARA, name, ": all shares together have more elements than memory can hold");
      total += sizes[i];
    }
  }
};

/// Elements at the beginning of host memory.
template <class T>
std::span<T> elements(std::byte* memory, std::size_t bytes) {
  return {reinterpret_cast<T*>(memory), bytes / sizeof(T)};
}

}  // namespace c_api
