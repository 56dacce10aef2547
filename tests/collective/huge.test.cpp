// SPDX-License-Identifier: Apache-2.0

// case A13: more than 2^31 elements and more than 2^32 bytes.

#include "test.hpp"
#include "timing.hpp"

#include <hccl/collectives.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace hccl;

namespace {

/// Bytes that went from one rank to another, and between which addresses.
struct Travel {
  int from, to;
  const std::byte* source;
  const std::byte* target;
  std::size_t bytes;
};

/// Moves headers; of all else only addresses and sizes, so that nobody reads or writes the memory.
class AddressTransport {
 public:
  static constexpr std::string_view name = "address";
  static constexpr link_model link{};

  struct World {
    struct Piece {
      std::vector<std::byte> copy;  // of a header
      std::span<const std::byte> data;
    };
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::tuple<int, int, int>, std::deque<Piece>> lanes;  // by channel, sender, receiver
    std::vector<Travel> travels;
    bool is_aborted = false;
  };

  AddressTransport(std::shared_ptr<World> world, int rank, int size, int channel = 0)
      : world_(std::move(world)), rank_(rank), size_(size), channel_(channel) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  AddressTransport channel(int id) const { return {world_, rank_, size_, id}; }
  bool sending() const { return false; }

  void send(int peer, pieces message) {
    const std::lock_guard lock(world_->mutex);
    auto& lane = world_->lanes[{channel_, rank_, peer}];
    for (const auto piece : message) {
      if (piece.size() == sizeof(detail::message_header)) {
        lane.push_back({{piece.begin(), piece.end()}, {}});
        lane.back().data = lane.back().copy;
      } else {
        lane.push_back({{}, piece});
      }
    }
    world_->changed.notify_all();
  }

  void receive(int peer, sink& in) { waiting_.emplace_back(peer, &in); }

  bool progress(deadline) {
    std::unique_lock lock(world_->mutex);
    bool moved = false;
    const auto move = [&] {
      for (auto& [peer, in] : waiting_) moved |= take(peer, *in);
      std::erase_if(waiting_, [](const auto& w) { return w.second->remaining() == 0; });
      return moved || world_->is_aborted;
    };
    if (!world_->changed.wait_for(lock, std::chrono::seconds(10), move)) return false;
    if (world_->is_aborted) throw error(errc::aborted, "aborted");
    return true;
  }

  void abort(const error&) noexcept {
    const std::lock_guard lock(world_->mutex);
    world_->is_aborted = true;
    world_->changed.notify_all();
  }

 private:
  bool take(int peer, sink& in) {
    auto& lane = world_->lanes[{channel_, peer, rank_}];
    bool moved = false;
    while (in.remaining() > 0 && !lane.empty()) {
      World::Piece& piece = lane.front();
      std::size_t size = std::min(piece.data.size(), in.remaining());
      if (!piece.copy.empty()) {
        in.consume(piece.data.first(size));
      } else {
        const auto window = in.window();
        size = std::min(size, window.size());
        if (size == 0) throw error(errc::unsupported, "the bytes of a message would be read");
        world_->travels.push_back({peer, rank_, piece.data.data(), window.data(), size});
        in.commit(size);
      }
      piece.data = piece.data.subspan(size);
      if (piece.data.empty()) lane.pop_front();
      moved = true;
    }
    return moved;
  }

  std::shared_ptr<World> world_;
  int rank_, size_, channel_;
  std::vector<std::pair<int, sink*>> waiting_;
};
static_assert(check_transport<AddressTransport>());

/// Address space, of zeros if it is memory.
class Pages {
 public:
  explicit Pages(std::size_t bytes, int protection = PROT_NONE)
      : bytes_(bytes),
        data_(::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    ::madvise(data_, bytes, MADV_HUGEPAGE);  // fewer page faults, where the system has them
  }
  Pages(Pages&& other) noexcept : bytes_(other.bytes_), data_(std::exchange(other.data_, MAP_FAILED)) {}
  ~Pages() {
    if (data_ != MAP_FAILED) ::munmap(data_, bytes_);
  }

  template <class T>
  std::span<T> of() const {
    return {static_cast<T*>(data_), bytes_ / sizeof(T)};
  }
  const std::byte* begin() const { return static_cast<const std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

constexpr int huge_ranks = 5;
constexpr std::size_t two_to_31 = std::size_t{1} << 31, two_to_32 = std::size_t{1} << 32;

/// Runs f(comm) on all huge_ranks; returns what travelled.
template <class F>
std::vector<Travel> travels_of(F&& f) {
  const auto world = std::make_shared<AddressTransport::World>();
  std::mutex mutex;
  std::string failure;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < huge_ranks; ++rank) {
      threads.emplace_back([&, rank] {
        communicator<AddressTransport> comm(AddressTransport(world, rank, huge_ranks));
        try {
          f(comm);
        } catch (const std::exception& e) {
          const std::lock_guard lock(mutex);
          failure = e.what();
        }
      });
    }
  }
  CHECK(failure.empty());
  return world->travels;
}

/// What reached `rank` has that many bytes, none of them twice.
void check_received(std::vector<Travel> travels, int rank, std::size_t bytes) {
  std::erase_if(travels, [&](const Travel& t) { return t.to != rank; });
  std::ranges::sort(travels, {}, &Travel::target);
  std::size_t sum = 0;
  bool apart = true;
  for (std::size_t i = 0; i < travels.size(); ++i) {
    sum += travels[i].bytes;
    apart = apart && (i == 0 || travels[i - 1].target + travels[i - 1].bytes <= travels[i].target);
  }
  CHECK(apart);
  CHECK(sum == bytes);
}

/// Each byte lands at the place of the whole buffer from which it came. `place(rank, address, is_sender)` is that
/// place, or more than `total`.
template <class F>
void check_places(const std::vector<Travel>& travels, std::size_t total, F&& place) {
  std::size_t wrong = 0;
  for (const Travel& t : travels) {
    const std::size_t from = place(t.from, t.source, true), to = place(t.to, t.target, false);
    if (from != to || from + t.bytes > total) ++wrong;
  }
  CHECK(wrong == 0);
}

std::size_t distance(const Pages& pages, const std::byte* address) {
  return static_cast<std::size_t>(address - pages.begin());
}

std::vector<Pages> one_each(std::size_t bytes) {
  std::vector<Pages> all;
  for (int rank = 0; rank < huge_ranks; ++rank) all.emplace_back(bytes);
  return all;
}

template <class T, class A>
void check_allgather(std::size_t count) {
  const std::size_t share = count * sizeof(T), total = huge_ranks * share;
  const auto buffers = one_each(total);
  const auto travels = travels_of([&](auto& comm) {
    allgather<T, A>(comm, buffers[static_cast<std::size_t>(comm.rank())].template of<T>());
  });
  check_places(travels, total, [&](int rank, const std::byte* address, bool) {
    return distance(buffers[static_cast<std::size_t>(rank)], address);
  });
  for (int rank = 0; rank < huge_ranks; ++rank) check_received(travels, rank, total - share);
}

}  // namespace

TEMPLATE_TEST_CASE("case A13: sizes and offsets of allgather beyond 2^31 elements and 2^32 bytes", "", Mesh,
                   Ring, NHR, NonuniformBruck, ParallelAggregatedTrees) {
  STATIC_REQUIRE(huge_ranks * std::size_t{1'200'000'007} > two_to_32);
  STATIC_REQUIRE(huge_ranks * std::size_t{700'000'001} > two_to_31);
  check_allgather<std::uint8_t, TestType>(1'200'000'007);
  check_allgather<std::uint64_t, TestType>(700'000'001);
}

TEMPLATE_TEST_CASE("case A13: sizes and offsets of gather and scatter beyond 2^32 bytes", "", Mesh, Star) {
  constexpr std::size_t count = 1'200'000'007, total = huge_ranks * count;
  const int root = 3;
  const Pages whole(total);
  const auto parts = one_each(count);
  const auto part_of = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return rank == root ? whole.of<std::uint8_t>().subspan(r * count, count) : parts[r].of<std::uint8_t>();
  };
  const auto place = [&](int rank, const std::byte* address, bool) {
    if (rank == root) return distance(whole, address);
    const auto r = static_cast<std::size_t>(rank);
    return r * count + distance(parts[r], address);
  };
  const auto gathered = travels_of([&](auto& comm) {
    gather<std::uint8_t, TestType>(comm, part_of(comm.rank()), whole.of<std::uint8_t>(), root);
  });
  check_places(gathered, total, place);
  check_received(gathered, root, total - count);

  const auto scattered = travels_of([&](auto& comm) {
    scatter<std::uint8_t, TestType>(comm, whole.of<std::uint8_t>(), part_of(comm.rank()), root);
  });
  check_places(scattered, total, place);
  for (int rank = 0; rank < huge_ranks; ++rank) check_received(scattered, rank, rank == root ? 0 : count);
}

TEMPLATE_TEST_CASE("case A13: sizes and offsets of broadcast beyond 2^32 bytes", "", BinomialTree, Pipeline) {
  constexpr std::size_t count = 700'000'001, total = count * sizeof(std::uint64_t);
  STATIC_REQUIRE(total > two_to_32);
  const auto buffers = one_each(total);
  const auto travels = travels_of([&](auto& comm) {
    broadcast<std::uint64_t, TestType>(
        comm, buffers[static_cast<std::size_t>(comm.rank())].template of<std::uint64_t>(), 1);
  });
  check_places(travels, total, [&](int rank, const std::byte* address, bool) {
    return distance(buffers[static_cast<std::size_t>(rank)], address);
  });
  for (int rank = 0; rank < huge_ranks; ++rank) check_received(travels, rank, rank == 1 ? 0 : total);
}

TEMPLATE_TEST_CASE("case A13: sizes and offsets of alltoallv beyond 2^32 bytes", "", Mesh, Pairwise) {
  constexpr std::size_t share = 1'500'000'001, total = (huge_ranks - 1) * share;  // nothing for oneself
  STATIC_REQUIRE(total > two_to_32);
  std::vector<std::size_t> matrix(huge_ranks * huge_ranks, share);
  for (std::size_t r = 0; r < huge_ranks; ++r) matrix[r * huge_ranks + r] = 0;
  const auto inputs = one_each(total), outputs = one_each(total);
  const auto travels = travels_of([&](auto& comm) {
    const auto r = static_cast<std::size_t>(comm.rank());
    alltoallv<std::uint8_t, TestType>(comm, inputs[r].template of<std::uint8_t>(),
                                      outputs[r].template of<std::uint8_t>(), matrix);
  });
  std::size_t wrong = 0;
  for (const Travel& t : travels) {
    const std::size_t source = distance(inputs[static_cast<std::size_t>(t.from)], t.source);
    const std::size_t target = distance(outputs[static_cast<std::size_t>(t.to)], t.target);
    const auto index_of = [](int rank, int owner) {
      return static_cast<std::size_t>(rank < owner ? rank : rank - 1);
    };
    const std::size_t source_share = index_of(t.to, t.from), target_share = index_of(t.from, t.to);
    if (source / share != source_share || source % share + t.bytes > share) ++wrong;
    if (source - source_share * share != target - target_share * share) ++wrong;
  }
  CHECK(wrong == 0);
  for (int rank = 0; rank < huge_ranks; ++rank) check_received(travels, rank, total);
}

TEST_CASE("case A13: a gather of more than 2^32 bytes and an allreduce of more than 2^31 elements") {
  if (hccl_test::under_sanitizer) return;  // whose bookkeeping takes as much memory again
  constexpr std::size_t count = two_to_31 + 4099, stride = 4093;
  const auto free_bytes = static_cast<std::size_t>(::sysconf(_SC_AVPHYS_PAGES)) *
                          static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (free_bytes < 4 * count) {
    WARN("skipped: it takes 8 GiB of free memory");
    return;
  }
  const auto value = [](std::size_t rank, std::size_t index) {
    return static_cast<std::uint8_t>(1 + rank * 7 + (index * 0x9e3779b97f4a7c15u >> 60));
  };
  run_local(2, [&](communicator<LocalTransport>& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const Pages pages(rank == 0 ? 2 * count : count, PROT_READ | PROT_WRITE);
    const auto data = pages.of<std::uint8_t>();
    const auto mine = data.first(count);
    const auto fill = [&] {
      for (std::size_t i = 0; i < count; i += stride) mine[i] = value(rank, i);
      mine.back() = value(rank, count - 1);
    };
    const auto require = [&](bool holds, const char* what) {
      if (!holds) throw error(errc::mismatch, what, comm.rank());
    };
    fill();
    gather<std::uint8_t, Mesh>(comm, mine, data);
    if (rank == 0) {
      const auto theirs = data.subspan(count);
      for (std::size_t i = 0; i < count; i += stride) {
        require(mine[i] == value(0, i) && theirs[i] == value(1, i), "gather");
        require(i + 1 == count || theirs[i + 1] == (i + 2 == count ? value(1, count - 1) : 0), "gather");
      }
      require(theirs.back() == value(1, count - 1), "the end of gather");
    }
    allreduce<std::uint8_t, Sum, Ring>(comm, mine);
    for (std::size_t i = 0; i < count; i += stride) {
      require(mine[i] == static_cast<std::uint8_t>(value(0, i) + value(1, i)), "allreduce");
    }
    require(mine.back() == static_cast<std::uint8_t>(value(0, count - 1) + value(1, count - 1)),
            "the end of allreduce");
  });
  SUCCEED();
}
