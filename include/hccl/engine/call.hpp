// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a collective call is, what of it travels with every message, and how disagreement is told.

#include <hccl/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace hccl::inline v0 {

namespace detail {

/// A 32-bit digest of a name (FNV-1a, public domain, G. Fowler, L. Noll, K. Vo).
constexpr std::uint32_t digest(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// A digest of sizes.
constexpr std::uint32_t digest(std::span<const std::size_t> sizes) {
  std::uint32_t hash = 2166136261u;
  for (std::size_t size : sizes) {
    for (int byte = 0; byte < 8; ++byte, size >>= 8)
      hash = (hash ^ static_cast<unsigned char>(size)) * 16777619u;
  }
  return hash;
}

/// A name and its digest, which a constant has at compile time.
struct label {
  std::string_view text{};
  std::uint32_t sum = digest(std::string_view{});

  label() = default;
  constexpr label(std::string_view name) : text(name), sum(digest(name)) {}  // NOLINT
  constexpr label(const char* name) : label(std::string_view(name)) {}       // NOLINT
};

/// A collective call as this rank made it.
struct call {
  std::uint32_t sequence = 0;  // of the communicator's collectives
  label collective{};
  label algorithm{};
  label element{};
  label reduction{};  // empty where nothing is reduced
  std::size_t element_bytes = 1;
  std::size_t count = 0;    // as the user gave it
  std::uint32_t shape = 0;  // digest of what else must agree: the sizes of shares, the hosts
  int root = 0;

  std::string text() const {
    return concat(collective.text, " #", sequence, " (", count, " x ", element.text,
                  reduction.text.empty() ? "" : ", ", reduction.text, ", ", algorithm.text, ", root ", root,
                  ")");
  }
};

/// The ranks that have not come by a deadline.
struct late_ranks {
  std::string text;  // ", waiting for rank 1, 3"
  int first = no_rank;
  int count = 0;

  void add(int rank) {
    append(text, count++ == 0 ? ", waiting for rank " : ", ");
    append(text, rank);
    if (first == no_rank) first = rank;
  }
};

/// What travels in front of the bytes of every message, so that two ranks that differ find out before any
/// byte is used.
struct message_header {
  std::uint64_t bytes = 0;  // of the message, without the header
  std::uint64_t count = 0;
  std::uint32_t sequence = 0;
  std::int32_t root = 0;
  std::uint32_t collective = 0;
  std::uint32_t algorithm = 0;
  std::uint32_t element = 0;
  std::uint32_t element_bytes = 0;
  std::uint32_t reduction = 0;
  std::uint32_t shape = 0;

  message_header() = default;
  message_header(const call& c, std::size_t message_bytes)
      : bytes(message_bytes),
        count(c.count),
        sequence(c.sequence),
        root(c.root),
        collective(c.collective.sum),
        algorithm(c.algorithm.sum),
        element(c.element.sum),
        element_bytes(static_cast<std::uint32_t>(c.element_bytes)),
        reduction(c.reduction.sum),
        shape(c.shape) {}
};
static_assert(std::is_trivially_copyable_v<message_header> && sizeof(message_header) == 48);

/// Throws `mismatch` if the peer's message does not belong to this call.
inline void check_agreement(const message_header& theirs, const call& c, std::size_t bytes, int self,
                            int peer) {
  const message_header ours(c, bytes);
  const auto differs = [&](std::string_view what, const auto& there, const auto& here) {
    throw error(errc::mismatch,
                concat("rank ", self, ": ", c.text(), ": rank ", peer, " called with ", what, there,
                       ", this rank with ", here),
                peer);
  };
  if (theirs.collective != ours.collective) differs("another collective", "", c.collective.text);
  if (theirs.sequence != ours.sequence) differs("sequence number ", theirs.sequence, ours.sequence);
  if (theirs.count != ours.count) differs("count ", theirs.count, ours.count);
  if (theirs.element_bytes != ours.element_bytes)
    differs("element size ", theirs.element_bytes, ours.element_bytes);
  if (theirs.element != ours.element) differs("another element type", "", c.element.text);
  if (theirs.reduction != ours.reduction) differs("another reduction", "", c.reduction.text);
  if (theirs.root != ours.root) differs("root ", theirs.root, ours.root);
  if (theirs.shape != ours.shape) differs("other sizes of shares or other hosts", "", "its own");
  if (theirs.algorithm != ours.algorithm) differs("another algorithm", "", c.algorithm.text);
  if (theirs.bytes != ours.bytes) differs("a message of bytes ", theirs.bytes, ours.bytes);
}

}  // namespace detail

}  // namespace hccl::inline v0
