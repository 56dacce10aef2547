// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that processes of one host share: an anonymous file of which nothing is left when the last of them has gone.
// Linux.

#include <hccl/core/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

namespace hccl::inline v0::detail {

/// A file descriptor, closed at the end.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

/// Memory that is mapped from a file, until the end.
class mapping {
 public:
  mapping() = default;
  mapping(std::byte* data, std::size_t size) : data_(data), size_(size) {}
  mapping(mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~mapping() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Sets up the pages of a part, from the beginning of a page on, lest they are when they are first touched.
  void populate(std::size_t offset, std::size_t size) const {
#if defined(MADV_POPULATE_WRITE)
    ::madvise(data_ + offset, size, MADV_POPULATE_WRITE);
#endif
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// When the pages of a mapping are set up: when they are touched, or all at once.
enum class population : bool { on_touch, now };

/// An anonymous file in memory. It begins empty, and reads as zeros wherever it is mapped.
class memory_file {
 public:
  /// Throws `out_of_memory`.
  static memory_file create() {
    memory_file made(descriptor(::memfd_create("hccl", MFD_CLOEXEC)));
    if (made.file_.get() < 0)
      throw error(errc::out_of_memory, concat("cannot make shared memory: ", cause()));
    return made;
  }

  /// Opens the file of another process. Throws `peer_lost` if it has gone, `unsupported` if that is not allowed,
  /// `out_of_memory` if this process can have no more files.
  static memory_file open(pid_t process, int fd, ino_t number) {
    memory_file opened(descriptor(::open(concat("/proc/", process, "/fd/", fd).c_str(), O_RDWR | O_CLOEXEC)));
    if (opened.file_.get() < 0 && (errno != ENOENT || ::access("/proc/self/fd", F_OK) != 0)) {
      const bool is_full = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
      throw error(is_full ? errc::out_of_memory : errc::unsupported,
                  concat("cannot open the shared memory of process ", process, " through /proc: ", cause()));
    }
    if (opened.file_.get() < 0 || opened.number() != number)
      throw error(errc::peer_lost, concat("process ", process, " has gone, or has closed its shared memory"));
    return opened;
  }

  int fd() const { return file_.get(); }

  /// What tells it from all other files.
  ino_t number() const { return state().st_ino; }

  std::size_t size() const { return static_cast<std::size_t>(state().st_size); }

  /// Reserves memory for a part, and maps it: the memory is there whenever it is touched. `offset` is a multiple of the
  /// size of a page. Throws `out_of_memory`, with what is needed and what there is.
  mapping make(std::size_t offset, std::size_t size, population when = population::on_touch) {
    reserve(offset, size);
    return map(offset, size, when);
  }

  /// Maps a part that has been reserved. Throws `out_of_memory`.
  mapping map(std::size_t offset, std::size_t size, population when) {
    const int flags = MAP_SHARED | (when == population::now ? MAP_POPULATE : 0);
    void* const data =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, file_.get(), static_cast<off_t>(offset));
    if (data == MAP_FAILED)
      throw error(errc::out_of_memory, concat("shared memory: cannot map ", size, " bytes: ", cause()));
    return {static_cast<std::byte*>(data), size};
  }

  /// Gives the memory of a part back; it reads as zeros again.
  void discard(std::size_t offset, std::size_t size) noexcept {
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(size));
  }

 private:
  explicit memory_file(descriptor file) : file_(std::move(file)) {}

  struct stat state() const {
    struct stat found{};
    ::fstat(file_.get(), &found);
    return found;
  }

  static std::string cause() { return std::strerror(errno); }

  void reserve(std::size_t offset, std::size_t size) {
    rlimit most{};  // beyond it the kernel would send a signal
    if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && offset + size > most.rlim_cur) {
      throw error(errc::out_of_memory, concat("shared memory: needs a file of ", offset + size,
                                              " bytes, the limit (ulimit -f) is ", most.rlim_cur));
    }
    const std::size_t available = available_memory();  // the kernel would look for more, and end processes
    if (size > available) refuse(size, available);
    int failure = 0;
    do {
      failure =
          ::fallocate(file_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0 ? 0 : errno;
    } while (failure == EINTR);
    if (failure != 0) refuse(size, available, concat(": ", std::strerror(failure)));
  }

  /// What the kernel could give without swapping, in bytes.
  static std::size_t available_memory() {
    std::ifstream lines("/proc/meminfo");
    std::string name, unit;
    for (std::size_t size = 0; lines >> name >> size; std::getline(lines, unit)) {
      if (name == "MemAvailable:") return size * 1024;
    }
    return std::numeric_limits<std::size_t>::max();
  }

  [[noreturn]] static void refuse(std::size_t needed, std::size_t available, const std::string& why = {}) {
    throw error(errc::out_of_memory,
                concat("shared memory: needs ", needed, " bytes, ", available, " are available", why));
  }

  descriptor file_;
};

}  // namespace hccl::inline v0::detail
