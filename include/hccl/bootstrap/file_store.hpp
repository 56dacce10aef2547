// SPDX-License-Identifier: Apache-2.0
#pragma once

// FileStore: a store in a directory that all ranks see. Needs no port and no server.

#include <hccl/bootstrap/detail/process.hpp>
#include <hccl/bootstrap/store.hpp>
#include <hccl/core/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

namespace hccl::inline v0 {

/// A directory with a file per key. Values appear whole or not at all (they are written aside and then linked
/// or renamed), on a network file system too.
class FileStore {
 public:
  /// Opens, or makes, the directory. Throws bootstrap_failed when it holds entries of a process of this host
  /// that has gone: they are from an earlier run that crashed.
  explicit FileStore(const std::filesystem::path& directory) : directory_(directory) {
    std::error_code failure;
    std::filesystem::create_directories(directory_, failure);
    if (!std::filesystem::is_directory(directory_)) fail("cannot make the directory", failure);
    refuse_old_entries();
  }

  void set(const std::string& key, const std::string& value) {
    const auto aside = write_aside(value);
    std::error_code failure;
    std::filesystem::rename(aside, path_of(key), failure);
    if (failure) fail("cannot write", failure);
  }

  std::optional<std::string> get(const std::string& key) {
    const auto found = read(path_of(key));
    return found ? std::optional(found->value) : std::nullopt;
  }

  std::string claim(const std::string& key, const std::string& value) {
    const auto aside = write_aside(value);
    std::error_code exists, ignored;
    std::filesystem::create_hard_link(aside, path_of(key), exists);
    std::filesystem::remove(aside, ignored);
    if (auto standing = get(key)) return *standing;
    fail("cannot write", exists);
  }

  /// Removes the directory and all entries.
  void remove() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

 private:
  struct entry {
    std::string host;
    pid_t writer = 0;
    std::string started;
    std::string value;
  };

  [[noreturn]] void fail(const std::string& what, std::error_code failure) const {
    throw error(errc::bootstrap_failed,
                detail::concat(what, " in file://", directory_.string(), ": ", failure.message()));
  }

  std::filesystem::path path_of(std::string key) const {
    std::ranges::replace(key, '/', '.');
    return directory_ / key;
  }

  std::filesystem::path write_aside(const std::string& value) {
    auto path = directory_ / detail::concat('.', detail::process_name(), '.', detail::random_name());
    std::ofstream file(path);
    file << detail::host_name() << ' ' << ::getpid() << ' ' << detail::start_time(::getpid()) << '\n'
         << value;
    file.close();
    if (!file) fail("cannot write", std::make_error_code(std::errc::io_error));
    return path;
  }

  static std::optional<entry> read(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    entry e;
    file >> e.host >> e.writer >> e.started;
    file.get();
    e.value.assign(std::istreambuf_iterator<char>(file), {});
    return e;
  }

  void refuse_old_entries() const {
    std::error_code failure;
    for (const auto& file : std::filesystem::directory_iterator(directory_, failure)) {
      const auto found = file.path().filename().string().starts_with('.') ? std::nullopt : read(file.path());
      if (!found || found->host != detail::host_name() || detail::start_time(found->writer) == found->started)
        continue;
      throw error(errc::bootstrap_failed,
                  detail::concat("file://", directory_.string(), " holds entries of an earlier run: process ",
                                 found->writer, " on ", found->host,
                                 " has gone; remove the directory, or choose another"));
    }
  }

  std::filesystem::path directory_;
};

static_assert(Store<FileStore>);

}  // namespace hccl::inline v0
