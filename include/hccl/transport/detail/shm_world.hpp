// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the processes of a ShmTransport share: lanes and bells, the word of an abort, and who is alive. Linux.

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/memory/detail/memory_file.hpp>
#include <hccl/memory/detail/shared_blocks.hpp>
#include <hccl/transport/detail/board.hpp>
#include <hccl/transport/detail/shm_lane.hpp>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hccl::inline v0::detail {

/// Where a process of this host keeps its shared memory, as a line of text: the host as it has been since it was
/// started, the namespace of its process numbers, the process, the descriptor, and the number of the file.
struct shm_address {
  std::string host;
  pid_t process = 0;
  int fd = -1;
  ino_t number = 0;

  static shm_address of(const memory_file& file) {
    return {this_host(), ::getpid(), file.fd(), file.number()};
  }

  static std::string this_host() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    struct stat processes{};
    ::stat("/proc/self/ns/pid", &processes);
    return concat(boot, '/', processes.st_ino);
  }

  std::string text() const { return concat(host, ' ', process, ' ', fd, ' ', number); }

  static shm_address read(const std::string& text) {
    shm_address found;
    std::istringstream in(text);
    in >> found.host >> found.process >> found.fd >> found.number;
    if (!in) throw error(errc::invalid_argument, concat("'", text, "' is not the address of a ShmTransport"));
    return found;
  }
};

/// What stands at the beginning of the file of a world. Zeros are the head of a new world.
struct shm_head {
  std::atomic<std::uint32_t> attached;  // ranks
  std::atomic<std::uint32_t> abort;     // 0; 1 while the reason is written; then 2
  std::int32_t kind, failed_rank, by;
  std::array<char, 1024> reason;
};

/// What a rank shows the others in a channel. Zeros are those of a new channel.
struct shm_membership {
  alignas(cache_line) std::atomic<bool> has_left;
  alignas(cache_line) std::atomic<bool> is_visiting;
  board notes;
};

/// Where things are in the file of a world: head and bells, then channel after channel, each of the membership of
/// ranks, of lanes and of cells.
class shm_layout {
 public:
  explicit shm_layout(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {
    const std::size_t cells = std::max<std::size_t>(lanes_per_rank(), 1) * shm_lane_memory::cells;
    cell_bytes_ = std::clamp(std::bit_floor(bytes_per_rank / cells), least_cell, most_cell);
  }

  std::size_t head_bytes() const {
    return in_pages(sizeof(shm_head)) + in_pages(ranks_ * sizeof(shm_bell::memory));
  }
  std::size_t channel_bytes() const { return members_bytes() + lanes_bytes() + cells_bytes(); }
  std::size_t lanes_offset() const { return members_bytes(); }  // in a channel
  std::size_t channel_offset(int id) const {
    return head_bytes() + static_cast<std::size_t>(id) * channel_bytes();
  }

  static shm_head& head(std::byte* file) { return *reinterpret_cast<shm_head*>(file); }

  shm_bell bell(std::byte* file, int rank) const {
    return shm_bell(reinterpret_cast<shm_bell::memory*>(file + in_pages(sizeof(shm_head)))[rank]);
  }

  static shm_membership& membership(std::byte* channel, int rank) {
    return reinterpret_cast<shm_membership*>(channel)[rank];
  }

  /// How many ranks have left a channel.
  std::atomic<std::uint32_t>& leavers(std::byte* channel) const {
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(channel + ranks_ * sizeof(shm_membership));
  }

  shm_lane lane(std::byte* channel, int from, int to) const {
    const int others_before = to < from ? to : to - 1;
    const std::size_t index =
        static_cast<std::size_t>(from) * lanes_per_rank() + static_cast<std::size_t>(others_before);
    std::byte* const lanes = channel + members_bytes();
    std::byte* const cells = lanes + lanes_bytes();
    return {reinterpret_cast<shm_lane_memory*>(lanes) + index,
            cells + index * shm_lane_memory::cells * cell_bytes_, cell_bytes_};
  }

  std::size_t lanes_bytes() const { return in_pages(ranks_ * lanes_per_rank() * sizeof(shm_lane_memory)); }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t bytes_per_rank = std::size_t{1} << 20;
  static constexpr std::size_t least_cell = std::size_t{16} << 10, most_cell = std::size_t{256} << 10;

  static constexpr std::size_t in_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

  std::size_t members_bytes() const {
    return in_pages(ranks_ * sizeof(shm_membership) + sizeof(std::atomic<std::uint32_t>));
  }
  std::size_t lanes_per_rank() const { return ranks_ - 1; }
  std::size_t cells_bytes() const { return ranks_ * lanes_per_rank() * shm_lane_memory::cells * cell_bytes_; }

  std::size_t ranks_;
  std::size_t cell_bytes_;
};

/// One rank's view of a world: the shared file, the processes of all ranks, and the word of an abort.
class shm_world {
 public:
  /// `addresses` are those of all ranks; the file is that of rank 0. `names` are the numbers by which errors call the
  /// ranks. Throws `unsupported` if a rank is on another host, `peer_lost` if one has gone, `out_of_memory`.
  shm_world(memory_file own, int rank, const std::vector<shm_address>& addresses, std::vector<int> names)
      : rank_(rank),
        size_(static_cast<int>(addresses.size())),
        names_(std::move(names)),
        layout_(size_),
        file_(std::move(own)) {
    for (int peer = 0; peer < size_; ++peer) {
      const auto& address = addresses[static_cast<std::size_t>(peer)];
      if (address.host != addresses[static_cast<std::size_t>(rank)].host) {
        throw error(errc::unsupported,
                    concat("rank ", name(rank), ": rank ", name(peer),
                           " does not share memory and process numbers with this rank: it "
                           "runs on another host or in another container"),
                    name(peer));
      }
      processes_.push_back(
          {address.process, descriptor(static_cast<int>(::syscall(SYS_pidfd_open, address.process, 0)))});
      if (processes_.back().watch.get() < 0 && errno != ESRCH)
        throw error(errc::unsupported,
                    concat("cannot watch process ", address.process, ": ", std::strerror(errno)));
    }
    const auto& first = addresses.front();
    if (rank > 0) file_ = memory_file::open(first.process, first.fd, first.number);
    head_ = file_.make(0, layout_.head_bytes());
    head().attached.fetch_add(1);
  }

  shm_world(const shm_world&) = delete;
  shm_world& operator=(const shm_world&) = delete;

  /// The others open the file of rank 0 as long as it is there: rank 0 waits until they have.
  ~shm_world() {
    if (rank_ > 0 || !is_owner()) return;
    const auto until = deadline::after(std::chrono::seconds(5));
    while (head().attached.load() < static_cast<std::uint32_t>(size_) && !until.expired() && !is_last_alive())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  int name(int rank) const { return names_[static_cast<std::size_t>(rank)]; }
  const shm_layout& layout() const { return layout_; }
  memory_file& file() { return file_; }
  shm_bell bell(int rank) const { return layout_.bell(head_.data(), rank); }

  /// False in a process that was forked from the one that made this.
  bool is_owner() const { return ::getpid() == owner_; }

  bool has_ended(int rank) const {
    pollfd process{processes_[static_cast<std::size_t>(rank)].watch.get(), POLLIN, 0};
    return process.fd < 0 || ::poll(&process, 1, 0) > 0;
  }

  /// Opens a file of a rank. Throws as `memory_file::open`, with the names of both.
  memory_file open(int rank, const shared_place& there) const {
    try {
      return memory_file::open(processes_[static_cast<std::size_t>(rank)].id, there.fd, there.file);
    } catch (const error& e) {
      throw error(e.kind(),
                  concat("rank ", name(rank_), ": the buffer of rank ", name(rank), ": ", reason(e)),
                  name(e.kind() == errc::peer_lost ? rank : rank_));
    }
  }

  void ring_all() const {
    for (int rank = 0; rank < size_; ++rank) bell(rank).ring();
  }

  /// Makes every rank fail from now on. The first reason stands.
  void abort(const error& why) noexcept {
    shm_head& h = head();
    const std::string text = reason(why);
    std::uint32_t none = 0;
    if (h.abort.compare_exchange_strong(none, 1)) {
      h.kind = static_cast<std::int32_t>(why.kind());
      h.failed_rank = why.failed_rank() == no_rank ? name(rank_) : why.failed_rank();
      h.by = name(rank_);
      const std::size_t size = text.copy(h.reason.data(), h.reason.size() - 1);
      h.reason[size] = '\0';
      h.abort.store(2);
    }
    ring_all();
  }

  /// Throws if the world was aborted: from the moment on at which the reason is begun to be written.
  void check() const {
    const shm_head& h = head();
    if (h.abort.load() == 0) return;
    for (const auto until = deadline::after(std::chrono::milliseconds(100)); h.abort.load() != 2;) {
      if (until.expired())
        throw error(errc::aborted, concat("rank ", name(rank_), ": aborted by a rank that died"));
      std::this_thread::yield();
    }
    throw error(static_cast<errc>(h.kind),
                concat("rank ", name(rank_), ": aborted by rank ", h.by, ": ", h.reason.data()),
                h.failed_rank);
  }

 private:
  struct watched {
    pid_t id;
    descriptor watch;
  };

  shm_head& head() const { return shm_layout::head(head_.data()); }

  bool is_last_alive() const {
    for (int peer = 0; peer < size_; ++peer) {
      if (peer != rank_ && !has_ended(peer)) return false;
    }
    return true;
  }

  pid_t owner_ = ::getpid();
  int rank_, size_;
  std::vector<int> names_;  // by rank
  shm_layout layout_;
  memory_file file_;
  std::vector<watched> processes_;  // by rank
  mapping head_;
};

/// What one rank sees of a channel of a world.
class shm_member {
 public:
  shm_member(std::shared_ptr<shm_world> world, int id)
      : world_(std::move(world)),
        offset_(world_->layout().channel_offset(id)),
        memory_(world_->file().make(offset_, world_->layout().channel_bytes())),
        has_ended_(static_cast<std::size_t>(size())) {
    memory_.populate(world_->layout().lanes_offset(), world_->layout().lanes_bytes());
  }

  shm_member(const shm_member&) = delete;
  shm_member& operator=(const shm_member&) = delete;

  /// Says goodbye; the last one gives the memory back.
  ~shm_member() {
    if (!world_->is_owner()) return;
    of(rank()).has_left.store(true);
    const auto before = world_->layout().leavers(memory_.data()).fetch_add(1);
    if (before + 1 == static_cast<std::uint32_t>(size()))
      world_->file().discard(offset_, world_->layout().channel_bytes());
    world_->ring_all();
  }

  const std::shared_ptr<shm_world>& world() const { return world_; }
  int rank() const { return world_->rank(); }
  int size() const { return world_->size(); }
  int name(int rank) const { return world_->name(rank); }
  void check() const { world_->check(); }

  shm_lane between(int from, int to) const { return world_->layout().lane(memory_.data(), from, to); }
  shm_bell bell(int rank) const { return world_->bell(rank); }
  board& board_of(int rank) const { return of(rank).notes; }
  std::atomic<bool>& is_visiting(int rank) const { return of(rank).is_visiting; }

  /// Whether a rank has left, or its process was found to have ended. Processes are looked at every now and then.
  bool has_gone(int rank) {
    const auto now = deadline::clock::now();
    if (now >= next_look_) {
      for (int peer = 0; peer < size(); ++peer)
        has_ended_[static_cast<std::size_t>(peer)] = world_->has_ended(peer);
      next_look_ = now + shm_bell::nap;
    }
    return of(rank).has_left.load() || has_ended_[static_cast<std::size_t>(rank)];
  }

  /// Whether a rank that is alive works in memory of others.
  bool is_used_by(int peer) const { return is_visiting(peer).load() && !world_->has_ended(peer); }

 private:
  shm_membership& of(int rank) const { return shm_layout::membership(memory_.data(), rank); }

  std::shared_ptr<shm_world> world_;
  std::size_t offset_;
  mapping memory_;
  std::vector<char> has_ended_;  // by rank
  deadline::clock::time_point next_look_{};
};

}  // namespace hccl::inline v0::detail
