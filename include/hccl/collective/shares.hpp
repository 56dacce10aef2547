// SPDX-License-Identifier: Apache-2.0
#pragma once

// shares: the sizes and positions of the parts of a buffer that belong to different ranks.

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>

namespace hccl::inline v0 {

namespace detail {

/// Anything that holds sizes side by side: a vector, an array, a span of std::size_t.
template <class R>
concept SizeList = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                   std::same_as<std::remove_cv_t<std::ranges::range_value_t<R>>, std::size_t>;

}  // namespace detail

/// How a buffer is divided among the ranks: share r has `counts[r]` elements and begins at element `offsets[r]`, or,
/// without offsets, behind the share before it. A view: the lists must outlive the call that it is made for.
class shares {
 public:
  template <detail::SizeList Counts>
    requires(!std::same_as<std::remove_cvref_t<Counts>, shares>)
  shares(const Counts& counts) : counts_(std::ranges::data(counts), std::ranges::size(counts)) {}  // NOLINT

  /// Any other list of numbers is refused, in a sentence.
  template <std::ranges::range Counts>
    requires(!detail::SizeList<Counts> && !std::same_as<std::remove_cvref_t<Counts>, shares> &&
             std::integral<std::ranges::range_value_t<Counts>>)
  shares(const Counts&) {  // NOLINT
    static_assert(detail::SizeList<Counts>,
                  "hccl: the counts of shares are a list of std::size_t, side by side");
  }

  template <detail::SizeList Counts, detail::SizeList Offsets>
  shares(const Counts& counts, const Offsets& offsets)
      : counts_(std::ranges::data(counts), std::ranges::size(counts)),
        offsets_(std::ranges::data(offsets), std::ranges::size(offsets)),
        has_offsets_(true) {}

  std::span<const std::size_t> counts() const { return counts_; }
  std::span<const std::size_t> offsets() const { return offsets_; }
  bool has_offsets() const { return has_offsets_; }

 private:
  std::span<const std::size_t> counts_, offsets_;
  bool has_offsets_ = false;
};

}  // namespace hccl::inline v0
