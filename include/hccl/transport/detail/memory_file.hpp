// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that processes of one host share: an anonymous file of which nothing is left when the last of them has gone.
// Linux.

#include <hccl/core/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
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

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

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

  /// Opens the file of another process. Throws `peer_lost` if it has gone, `unsupported` if that is not allowed.
  static memory_file open(pid_t process, int fd, ino_t number) {
    const auto path = concat("/proc/", process, "/fd/", fd);
    memory_file opened(descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC)));
    if (opened.file_.get() < 0 && errno != ENOENT)
      throw error(errc::unsupported,
                  concat("cannot open the shared memory of process ", process, ": ", cause()));
    if (opened.file_.get() < 0 || opened.number() != number)
      throw error(errc::peer_lost, concat("process ", process, " has gone, and its shared memory with it"));
    return opened;
  }

  int fd() const { return file_.get(); }

  /// What tells it from all other files.
  ino_t number() const {
    struct stat state{};
    ::fstat(file_.get(), &state);
    return state.st_ino;
  }

  /// Maps a part, whose memory is reserved: it is there whenever it is touched. `offset` is a multiple of the size of a
  /// page. Throws `out_of_memory`, with what is needed and what there is.
  mapping map(std::size_t offset, std::size_t size) {
    reserve(offset, size);
    void* const data =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), static_cast<off_t>(offset));
    if (data == MAP_FAILED) refuse(size, "address space");
    return {static_cast<std::byte*>(data), size};
  }

  /// Gives the memory of a part back; it reads as zeros again.
  void discard(std::size_t offset, std::size_t size) noexcept {
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(size));
  }

 private:
  explicit memory_file(descriptor file) : file_(std::move(file)) {}

  static std::string cause() { return std::strerror(errno); }

  void reserve(std::size_t offset, std::size_t size) {
    rlimit most{};  // beyond it the kernel would send a signal
    if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && offset + size > most.rlim_cur) {
      throw error(errc::out_of_memory, concat("shared memory: needs a file of ", offset + size,
                                              " bytes, the limit (ulimit -f) is ", most.rlim_cur));
    }
    int failure = 0;
    do {
      failure =
          ::fallocate(file_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0 ? 0 : errno;
    } while (failure == EINTR);
    if (failure == 0) return;
    errno = failure;
    refuse(size, "memory");
  }

  [[noreturn]] static void refuse(std::size_t size, const char* what) {
    const auto why = cause();
    struct sysinfo state{};
    ::sysinfo(&state);
    throw error(errc::out_of_memory, concat("shared memory: needs ", size, " bytes of ", what, ": ", why,
                                            "; ", state.freeram * state.mem_unit, " bytes are free"));
  }

  descriptor file_;
};

}  // namespace hccl::inline v0::detail
