// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way of buffers from the device to the host, where operators work, and back.

#include <cstddef>
#include <span>

namespace c_api {

/// A part of a buffer of the program, on the device or on the host.
struct piece {
  const void* address = nullptr;
  std::size_t bytes = 0;
};

/// Where an operator works: host memory, through which the buffers of the program go.
class desk {
 public:
  desk() = default;
  desk(const desk&) = delete;
  desk& operator=(const desk&) = delete;
  ~desk();

  /// Returns room for so many bytes, which is used again and is pinned. Throws HCCL_E_OOM.
  std::byte* room(std::size_t bytes);

  /// Returns copies of the pieces, one behind the other.
  std::byte* fetch(std::span<const piece> from);
  std::byte* fetch(piece from) { return fetch(std::span<const piece>(&from, 1)); }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// Copies a piece to the host. Throws HCCL_E_RUNTIME.
void load(piece from, std::byte* to);

/// Copies what lies at `from`, one behind the other, to the pieces. Throws HCCL_E_RUNTIME.
void store(const std::byte* from, std::span<const piece> to);
inline void store(const std::byte* from, piece to) { store(from, std::span<const piece>(&to, 1)); }

}  // namespace c_api
