// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of TcpTransport and of the bootstrap share: a byte exchange and forked ranks.

#include "timing.hpp"

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/transport/tcp.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace hccl_test {

/// Puts a message into a vector, by way of its window or not.
class VectorSink final : public hccl::sink {
 public:
  VectorSink(std::size_t size, bool has_window) : sink(size), bytes_(size), has_window_(has_window) {}

  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::span<std::byte> window() override {
    return has_window_ ? std::span(bytes_).subspan(filled_) : std::span<std::byte>();
  }

 private:
  void take(std::span<const std::byte> chunk) override {
    std::memcpy(bytes_.data() + filled_, chunk.data(), chunk.size());
    filled_ += chunk.size();
  }
  void placed(std::size_t size) override { filled_ += size; }

  std::vector<std::byte> bytes_;
  std::size_t filled_ = 0;
  bool has_window_;
};

/// The message of a rank: each byte depends on the rank, its place and a salt.
inline std::vector<std::byte> message_of(int rank, std::size_t size, int salt = 0) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(static_cast<std::size_t>(rank * 31 + salt * 17) + i * 7 + i / 251);
  }
  return bytes;
}

/// Progresses until all is sent and `in` is complete.
template <class Net>
void finish(Net& net, const hccl::sink* in = nullptr) {
  const auto until = hccl::deadline::after(patience);
  while (net.sending() || (in != nullptr && in->remaining() > 0)) {
    if (!net.progress(until)) throw hccl::error(hccl::errc::timeout, "the exchange has not finished");
  }
}

/// Sends a message to the next rank, in two pieces, and says whether that of the previous one arrives as it
/// was sent.
template <class Net>
bool passes_around(Net& net, std::size_t size, bool has_window = false, int salt = 0) {
  const int next = (net.rank() + 1) % net.size(), previous = (net.rank() + net.size() - 1) % net.size();
  if (net.size() == 1) return true;
  const auto out = message_of(net.rank(), size, salt);
  const auto all = std::span<const std::byte>(out);
  const std::array<std::span<const std::byte>, 2> pieces{all.first(size / 3), all.subspan(size / 3)};
  VectorSink in(size, has_window);
  net.receive(previous, in);
  net.send(next, pieces);
  finish(net, &in);
  return in.bytes() == message_of(previous, size, salt);
}

/// How a forked rank has ended.
struct Outcome {
  pid_t pid;
  std::string error;  // empty: well
  std::chrono::nanoseconds elapsed;
};

/// Runs body(rank) in `count` processes, and collects the text of what each has thrown.
template <class Body>
std::vector<Outcome> forked(int count, Body body) {
  std::vector<Outcome> outcomes;
  std::vector<int> reports;
  const Stopwatch watch;
  for (int rank = 0; rank < count; ++rank) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe");
    const pid_t pid = ::fork();
    if (pid == 0) {
      std::string text;
      try {
        body(rank);
      } catch (const std::exception& e) {
        text = e.what();
      }
      [[maybe_unused]] const auto written = ::write(ends[1], text.data(), text.size());
      ::_exit(0);
    }
    ::close(ends[1]);
    outcomes.push_back({pid, {}, {}});
    reports.push_back(ends[0]);
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    std::array<char, 4096> text{};
    for (ssize_t size = 0; (size = ::read(reports[i], text.data(), text.size())) > 0;) {
      outcomes[i].error.append(text.data(), static_cast<std::size_t>(size));
    }
    ::close(reports[i]);
    int status = 0;
    ::waitpid(outcomes[i].pid, &status, 0);
    if (WIFSIGNALED(status)) outcomes[i].error = "killed by a signal";
    outcomes[i].elapsed = watch.elapsed();
  }
  return outcomes;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace hccl_test
