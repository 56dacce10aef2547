// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies in the memory of a transport.

#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/transport/concept.hpp>

#include <cstddef>
#include <span>

namespace hccl::inline v0::detail {

/// The copy engine of a transport, none if its messages lie in memory of the host.
template <Transport Net>
copy_engine* copies_of([[maybe_unused]] Net& net) {
  if constexpr (DeviceTransport<Net>) return &net.copies();
  return nullptr;
}

/// Copies by a copy engine, or without one between memory of the host.
inline void copy_by(copy_engine* copies, std::byte* to, std::span<const std::byte> from,
                    copy_direction direction) {
  if (from.empty()) return;
  if (copies != nullptr) {
    copies->copy(to, from.data(), from.size(), direction);
  } else {
    copy_bytes(to, from.data(), from.size());
  }
}

}  // namespace hccl::inline v0::detail
