// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies what a rank writes, line by line, with the rank in front.

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace hcclrun {

/// Cuts a stream into lines. Of a line that was overwritten with carriage returns (a progress bar) the last
/// state is kept.
class LineCutter {
 public:
  explicit LineCutter(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Takes the next bytes of the stream and returns the lines that are complete now.
  std::string take(std::string_view bytes) {
    std::string lines;
    for (char c : bytes) {
      if (c == '\n' || line_.size() == longest) lines += finish();
      if (c == '\n') continue;
      if (overwritten_) line_.clear();
      overwritten_ = c == '\r';
      if (!overwritten_) line_ += c;
      started_ = true;
    }
    return lines;
  }

  /// Ends the stream: returns the last line when it has no newline.
  std::string finish_stream() { return started_ ? finish() : std::string(); }

 private:
  static constexpr std::size_t longest = 1 << 16;

  std::string finish() {
    overwritten_ = started_ = false;
    return prefix_ + std::exchange(line_, {}) + '\n';
  }

  std::string prefix_, line_;
  bool overwritten_ = false;  // a carriage return came: the next character begins the line anew
  bool started_ = false;
};

/// Copies from the descriptor `from`, which it owns, to `to` until the end of the stream. Lives as long as it
/// has work.
class PrefixedOutput : public std::enable_shared_from_this<PrefixedOutput> {
 public:
  PrefixedOutput(boost::asio::io_context& io, int from, int to, std::string prefix)
      : from_(io, from), to_(to), lines_(std::move(prefix)) {}

  void run() {
    from_.async_read_some(boost::asio::buffer(chunk_),
                          [self = shared_from_this()](auto error, std::size_t size) {
                            if (error) return write_all(self->to_, self->lines_.finish_stream());
                            write_all(self->to_, self->lines_.take({self->chunk_.data(), size}));
                            self->run();
                          });
  }

 private:
  static void write_all(int to, std::string_view text) {
    while (!text.empty()) {
      const auto written = ::write(to, text.data(), text.size());
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
      if (written < 0 && errno != EINTR) return;
    }
  }

  boost::asio::posix::stream_descriptor from_;
  int to_;
  LineCutter lines_;
  std::array<char, 1 << 14> chunk_;
};

}  // namespace hcclrun
