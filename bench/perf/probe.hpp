// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far apart the cores of ranks 0 and 1 are just now: virtual cores move.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace perf {

/// The time of a barrier of two ranks that spin in a shared file.
class probe {
 public:
  /// `path`: a file of at least 4096 bytes, zero when the first rank comes. Nothing is measured without one, or by
  /// ranks that have to share cores.
  probe(const std::string& path, int ranks) {
    if (path.empty() || ranks != 2) return;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat found{};
    const bool is_large =
        file >= 0 && ::fstat(file, &found) == 0 && found.st_size >= static_cast<off_t>(bytes);
    void* const memory =
        !is_large ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) ::close(file);
    if (memory == MAP_FAILED) throw std::runtime_error("--probe: cannot map 4096 bytes of " + path);
    lines_ = static_cast<line*>(memory);
  }
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;
  ~probe() {
    if (lines_ != nullptr) ::munmap(lines_, bytes);
  }

  /// Called by both ranks; 0 if nothing is measured.
  double seconds(int rank, const std::function<void()>& barrier) const {
    if (lines_ == nullptr) return 0;
    auto& own = lines_[rank].count;
    auto& other = lines_[1 - rank].count;
    const std::uint64_t start = own.load();
    barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t k = start + 1; k <= start + meetings; ++k) {
      own.store(k);
      while (other.load() < k) {
      }
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    barrier();
    return spent.count() / static_cast<double>(meetings);
  }

 private:
  static constexpr std::size_t bytes = 4096;
  static constexpr std::uint64_t meetings = 500;
  struct line {
    alignas(128) std::atomic<std::uint64_t> count;
  };
  line* lines_ = nullptr;
};

}  // namespace perf
