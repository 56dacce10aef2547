// SPDX-License-Identifier: Apache-2.0
#pragma once

// The receiving end of a step: bytes are copied or reduced into their blocks as they arrive.

#include <hccl/core/detail/copy_bytes.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/combiner.hpp>
#include <hccl/engine/pipeline.hpp>
#include <hccl/engine/stream_copy.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/schedule/step.hpp>
#include <hccl/transport/concept.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace hccl::inline v0::detail {

/// A run of memory that a step fills, and where the stored operand of a reduction lies (equal to `to` in
/// place).
struct target {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
};

/// Takes one message: its header, which is checked against the call, then the blocks of a step.
class block_sink final : public sink {
 public:
  /// `targets` and `cut_element`, room for one element, stay put and outlive the sink. A rank's message to
  /// itself has no header. `copies` is none if all is memory of the host.
  block_sink(const step& s, std::span<const target> targets, std::size_t bytes, std::byte* cut_element,
             const combiner& combine, copy_engine* copies, const call& c, int self)
      : sink(bytes + (s.peer == self ? 0 : sizeof(message_header))),
        step_(s),
        targets_(targets),
        bytes_(bytes),
        cut_element_(cut_element),
        combine_(&combine),
        copies_(copies),
        call_(&c),
        self_(self),
        has_header_(s.peer == self) {}

  const step& what() const { return step_; }

  std::span<std::byte> window() override {
    if (!has_header_ || step_.what != action::receive || remaining() == 0 || copies_ != nullptr) return {};
    const target& t = targets_.front();
    return {t.to + filled_, t.bytes - filled_};
  }

 private:
  void take(std::span<const std::byte> chunk) override {
    if (!has_header_) chunk = take_header(chunk);
    while (!chunk.empty()) {
      const target t = targets_.front();
      const std::size_t size = std::min(chunk.size(), t.bytes - filled_);
      if (step_.what == action::receive) {
        if (t.to + filled_ != chunk.data()) copy(t.to + filled_, chunk.first(size));
        placed(size);
      } else {
        reduce(t, chunk.first(size));
      }
      chunk = chunk.subspan(size);
    }
  }

  /// Much is copied past the cache, in which it would not stay.
  void copy(std::byte* to, std::span<const std::byte> chunk) const {
    if (copies_ != nullptr)
      return copies_->copy(to, chunk.data(), chunk.size(), copy_direction::device_to_device);
    (bytes_ >= streamed_bytes ? stream_copy : copy_bytes)(to, chunk.data(), chunk.size());
  }

  void placed(std::size_t size) override {
    filled_ += size;
    if (filled_ == targets_.front().bytes) {
      targets_ = targets_.subspan(1);
      filled_ = 0;
    }
  }

  std::span<const std::byte> take_header(std::span<const std::byte> chunk) {
    const std::size_t size = std::min(chunk.size(), sizeof(message_header) - header_filled_);
    std::memcpy(reinterpret_cast<std::byte*>(&header_) + header_filled_, chunk.data(), size);
    header_filled_ += size;
    if (header_filled_ == sizeof(message_header)) {
      check_agreement(header_, *call_, bytes_, self_, step_.peer);
      has_header_ = true;
    }
    return chunk.subspan(size);
  }

  /// Combines whole elements; one that a chunk boundary cuts is put together first.
  void reduce(target t, std::span<const std::byte> chunk) {
    const std::size_t element = call_->element_bytes;
    while (!chunk.empty()) {
      const std::size_t cut = filled_ % element;
      std::size_t size = chunk.size() / element * element;
      if (cut == 0 && size > 0) {
        combine(t.to + filled_, t.from + filled_, chunk.data(), size / element);
      } else {
        size = std::min(chunk.size(), element - cut);
        std::memcpy(cut_element_ + cut, chunk.data(), size);
        const std::size_t begin = filled_ - cut;
        if (cut + size == element) combine(t.to + begin, t.from + begin, cut_element_, 1);
      }
      placed(size);
      chunk = chunk.subspan(size);
    }
  }

  void combine(std::byte* to, const std::byte* from, const std::byte* arriving, std::size_t count) const {
    if (copies_ != nullptr)
      return combine_on(*copies_, *combine_, step_.what, to, from, arriving, count, call_->element_bytes);
    (*combine_)(step_.what, to, from, arriving, count);
  }

  static constexpr std::size_t streamed_bytes = std::size_t{4} << 20;

  step step_;
  std::span<const target> targets_;  // not yet full
  std::size_t filled_ = 0;           // of the first target
  std::size_t bytes_;
  std::byte* cut_element_;
  const combiner* combine_;
  copy_engine* copies_;
  const call* call_;
  int self_;
  bool has_header_;
  std::size_t header_filled_ = 0;
  message_header header_;
};

}  // namespace hccl::inline v0::detail
