// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a collective out of place and in place, and compares every byte of all buffers with the reference.

#include "reference.hpp"

#include <hccl/collectives.hpp>
#include <hccl/core/detail/function_ref.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/device_buffer.hpp>
#include <hccl/memory/device_span.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hccl_test {

/// How a buffer is divided among the ranks: share after share, or the last share first and gaps between.
class Parts {
 public:
  static Parts equal(int ranks, std::size_t count) {
    return packed(std::vector<std::size_t>(static_cast<std::size_t>(ranks), count));
  }

  static Parts packed(std::vector<std::size_t> counts) { return Parts(std::move(counts)); }

  static Parts spread(std::vector<std::size_t> counts, std::size_t gap) {
    Parts parts(std::move(counts));
    parts.is_spread_ = true;
    parts.size_ = 0;
    for (std::size_t r = parts.counts_.size(); r-- > 0;) {
      parts.offsets_[r] = parts.size_ + gap;
      parts.size_ = parts.offsets_[r] + parts.counts_[r];
    }
    parts.size_ += gap;
    return parts;
  }

  std::size_t count(int rank) const { return counts_[static_cast<std::size_t>(rank)]; }
  std::size_t offset(int rank) const { return offsets_[static_cast<std::size_t>(rank)]; }

  /// The elements that belong to `rank` among all elements without gaps.
  template <class T>
  std::span<const T> share(std::span<const T> all, int rank) const {
    return all.subspan(packed_[static_cast<std::size_t>(rank)], count(rank));
  }

  /// The number of elements of the buffer, and without gaps.
  std::size_t size() const { return size_; }
  std::size_t sum() const { return packed_.back() + counts_.back(); }

  operator hccl::shares() const {
    return is_spread_ ? hccl::shares(counts_, offsets_) : hccl::shares(counts_);
  }

 private:
  explicit Parts(std::vector<std::size_t> counts)
      : counts_(std::move(counts)), packed_(counts_.size()), offsets_(counts_.size()) {
    std::exclusive_scan(counts_.begin(), counts_.end(), packed_.begin(), std::size_t{0});
    offsets_ = packed_;
    size_ = sum();
  }

  std::vector<std::size_t> counts_, packed_, offsets_;
  std::size_t size_ = 0;
  bool is_spread_ = false;
};

/// How many elements each rank sends to each: `at(from, to)`.
struct CountMatrix {
  int ranks = 0;
  std::vector<std::size_t> counts;

  explicit CountMatrix(int n) : ranks(n), counts(static_cast<std::size_t>(n * n)) {}

  std::size_t& at(int from, int to) { return counts[static_cast<std::size_t>(from * ranks + to)]; }
  std::size_t at(int from, int to) const { return counts[static_cast<std::size_t>(from * ranks + to)]; }

  std::vector<std::size_t> row(int from) const {
    std::vector<std::size_t> sent;
    for (int to = 0; to < ranks; ++to) sent.push_back(at(from, to));
    return sent;
  }
  std::vector<std::size_t> column(int to) const {
    std::vector<std::size_t> received;
    for (int from = 0; from < ranks; ++from) received.push_back(at(from, to));
    return received;
  }
};

/// The checks of one rank. Each throws, with a sentence, when a result is wrong, a send buffer has changed, or a byte
/// has been written that is nobody's. Buffers are memory of the Allocator, which may be of a device.
template <class T, class Net, class Allocator = std::allocator<std::byte>>
class CollectiveChecks {
 public:
  using Op = operation_of<T>;

  /// `world` holds at least as many elements as a rank puts in in any check, and outlives this.
  CollectiveChecks(hccl::communicator<Net>& comm, const Reference<T>& world) : comm_(comm), world_(world) {}

  template <class A>
  void check_allreduce(std::size_t count) {
    begin("allreduce", A::name, count);
    check({{count, {{0, mine(count)}}}, {count, {{0, result(count)}}}},
          [&](auto in, auto out) { hccl::allreduce<T, Op, A>(comm_, in, out); });
  }

  template <class A>
  void check_reduce(std::size_t count, int root) {
    begin("reduce", A::name, count, root);
    check({{count, {{0, mine(count)}}}, {count, only_if(is(root), {{0, result(count)}})}},
          [&](auto in, auto out) { hccl::reduce<T, Op, A>(comm_, in, out, root); });
  }

  template <class A>
  void check_scan(std::size_t count) {
    begin("scan", A::name, count);
    check({{count, {{0, mine(count)}}}, {count, {{0, prefix(comm_.rank(), count)}}}},
          [&](auto in, auto out) { hccl::scan<T, Op, A>(comm_, in, out); });
  }

  template <class A>
  void check_exscan(std::size_t count) {
    begin("exscan", A::name, count);
    const Pieces before = is(0) ? Pieces{} : Pieces{{0, prefix(comm_.rank() - 1, count)}};
    check({{count, {{0, mine(count)}}}, {count, before}},
          [&](auto in, auto out) { hccl::exscan<T, Op, A>(comm_, in, out); });
  }

  template <class A>
  void check_reduce_scatter(std::size_t count) {
    const auto parts = Parts::equal(comm_.size(), count);
    begin("reduce_scatter", A::name, count);
    check(scattering(parts, mine(parts.sum()), result(parts.sum())),
          [&](auto in, auto out) { hccl::reduce_scatter<T, Op, A>(comm_, in, out); });
  }

  template <class A>
  void check_reduce_scatterv(const Parts& parts) {
    begin("reduce_scatterv", A::name, parts.sum());
    check(scattering(parts, mine(parts.sum()), result(parts.sum())),
          [&](auto in, auto out) { hccl::reduce_scatterv<T, Op, A>(comm_, in, out, parts); });
  }

  template <class A>
  void check_broadcast(std::size_t count, int root) {
    begin("broadcast", A::name, count, root);
    check({{count, {{0, mine(count)}}}, {count, {{0, of(root, count)}}}},
          [&](auto in, auto out) { hccl::broadcast<T, A>(comm_, in, out, root); });
  }

  template <class A>
  void check_allgather(std::size_t count) {
    begin("allgather", A::name, count);
    check(gathering(Parts::equal(comm_.size(), count), true),
          [&](auto in, auto out) { hccl::allgather<T, A>(comm_, in, out); });
  }

  template <class A>
  void check_allgatherv(const Parts& parts) {
    begin("allgatherv", A::name, parts.sum());
    check(gathering(parts, true), [&](auto in, auto out) { hccl::allgatherv<T, A>(comm_, in, out, parts); });
  }

  template <class A>
  void check_gather(std::size_t count, int root) {
    begin("gather", A::name, count, root);
    check(gathering(Parts::equal(comm_.size(), count), is(root)),
          [&](auto in, auto out) { hccl::gather<T, A>(comm_, in, out, root); });
  }

  template <class A>
  void check_gatherv(const Parts& parts, int root) {
    begin("gatherv", A::name, parts.sum(), root);
    check(gathering(parts, is(root)),
          [&](auto in, auto out) { hccl::gatherv<T, A>(comm_, in, out, parts, root); });
  }

  template <class A>
  void check_scatter(std::size_t count, int root) {
    const auto parts = Parts::equal(comm_.size(), count);
    begin("scatter", A::name, count, root);
    check(scattering(parts, mine(parts.sum()), of(root, parts.sum())),
          [&](auto in, auto out) { hccl::scatter<T, A>(comm_, in, out, root); });
  }

  template <class A>
  void check_scatterv(const Parts& parts, int root) {
    begin("scatterv", A::name, parts.sum(), root);
    check(scattering(parts, mine(parts.sum()), of(root, parts.sum())),
          [&](auto in, auto out) { hccl::scatterv<T, A>(comm_, in, out, parts, root); });
  }

  template <class A>
  void check_alltoall(std::size_t count) {
    CountMatrix matrix(comm_.size());
    std::ranges::fill(matrix.counts, count);
    begin("alltoall", A::name, count);
    check(transposing(matrix, Parts::packed(matrix.row(comm_.rank())),
                      Parts::packed(matrix.column(comm_.rank()))),
          [&](auto in, auto out) { hccl::alltoall<T, A>(comm_, in, out); });
  }

  /// The form with the whole matrix, and that with shares: packed ones, and then with gaps of `gap` elements.
  template <class A>
  void check_alltoallv(const CountMatrix& matrix, std::size_t gap) {
    const auto sent = matrix.row(comm_.rank()), received = matrix.column(comm_.rank());
    const auto packed_in = Parts::packed(sent), packed_out = Parts::packed(received);
    begin("alltoallv with a matrix", A::name, packed_in.sum());
    check(transposing(matrix, packed_in, packed_out),
          [&](auto in, auto out) { hccl::alltoallv<T, A>(comm_, in, out, matrix.counts); });

    const auto check_shares = [&](const Parts& in_parts, const Parts& out_parts) {
      check(transposing(matrix, in_parts, out_parts),
            [&](auto in, auto out) { hccl::alltoallv<T, A>(comm_, in, in_parts, out, out_parts); });
    };
    begin("alltoallv", A::name, packed_in.sum());
    check_shares(packed_in, packed_out);
    check_shares(Parts::spread(sent, gap), Parts::spread(received, gap));
  }

 private:
  static constexpr bool is_on_device = hccl::DeviceAllocator<Allocator>;
  using Buffer = Guarded<T, std::conditional_t<is_on_device, std::allocator<std::byte>, Allocator>>;
  template <class E>
  struct spans {
    using type = std::span<E>;
  };
  template <class E>
    requires is_on_device
  struct spans<E> {
    using type = hccl::device_span<E, Allocator>;
  };
  using In = typename spans<const T>::type;
  using Out = typename spans<T>::type;

  /// Elements, and where in a buffer they stand.
  struct Piece {
    std::size_t offset;
    std::span<const T> contents;
  };
  using Pieces = std::vector<Piece>;

  /// A buffer, and what of it is written; the rest is canary.
  struct Image {
    std::size_t size;
    Pieces pieces;
  };

  /// What a rank puts in and gets out, and where in the one buffer both begin when it works in place.
  struct Exchange {
    Image in, out;
    std::size_t in_at = 0, out_at = 0;
  };

  bool is(int rank) const { return comm_.rank() == rank; }

  std::span<const T> of(int rank, std::size_t count) const {
    return std::span(world_.inputs[static_cast<std::size_t>(rank)]).first(count);
  }
  std::span<const T> mine(std::size_t count) const { return of(comm_.rank(), count); }
  std::span<const T> prefix(int rank, std::size_t count) const {
    return std::span(world_.prefixes[static_cast<std::size_t>(rank)]).first(count);
  }
  std::span<const T> result(std::size_t count) const { return std::span(world_.result()).first(count); }

  static Pieces only_if(bool condition, Pieces pieces) { return condition ? pieces : Pieces{}; }

  /// `all`, divided.
  static Image divided(const Parts& parts, int ranks, std::span<const T> all) {
    Image image{parts.size(), {}};
    for (int r = 0; r < ranks; ++r) image.pieces.push_back({parts.offset(r), parts.share(all, r)});
    return image;
  }

  /// Every rank puts in its share; those that receive get all.
  Exchange gathering(const Parts& parts, bool receives) const {
    const std::size_t own = parts.count(comm_.rank());
    Exchange e{{own, {{0, mine(own)}}}, {parts.size(), {}}, parts.offset(comm_.rank())};
    for (int r = 0; receives && r < comm_.size(); ++r) {
      e.out.pieces.push_back({parts.offset(r), of(r, parts.count(r))});
    }
    return e;
  }

  /// A rank holds `put_in`, and gets its share of `wanted`.
  Exchange scattering(const Parts& parts, std::span<const T> put_in, std::span<const T> wanted) const {
    const int self = comm_.rank();
    return {divided(parts, comm_.size(), put_in),
            {parts.count(self), {{0, parts.share(wanted, self)}}},
            0,
            parts.offset(self)};
  }

  Exchange transposing(const CountMatrix& matrix, const Parts& sent, const Parts& received) const {
    Exchange e{divided(sent, comm_.size(), mine(sent.sum())), {received.size(), {}}};
    for (int r = 0; r < comm_.size(); ++r) {
      const auto row = Parts::packed(matrix.row(r));
      e.out.pieces.push_back({received.offset(r), row.share(of(r, row.sum()), comm_.rank())});
    }
    return e;
  }

  void check(const Exchange& e, hccl::detail::function_ref<void(In, Out)> run) {
    mode_ = "apart";
    put(in_, e.in.size, e.in.pieces);
    const Buffer sent = in_;
    out_.reset(e.out.size);
    put(wanted_, e.out.size, e.out.pieces);
    run_apart(run);
    expect("the send buffer", in_, sent);
    expect("the receive buffer", out_, wanted_);

    mode_ = "in place";
    put(out_, std::max(e.in_at + e.in.size, e.out_at + e.out.size), e.in.pieces, e.in_at);
    wanted_ = out_;
    for (const Piece& p : e.out.pieces) wanted_.put(e.out_at + p.offset, p.contents);
    run_in_place(e, run);
    expect("the buffer", out_, wanted_);
  }

  void run_apart(hccl::detail::function_ref<void(In, Out)> run) {
    if constexpr (is_on_device) {
      hccl::device_buffer<T, Allocator> in(in_.span()), out(out_.span());
      run(std::as_const(in).subspan(0, in.size()), out.subspan(0, out.size()));
      in.read(in_.span());
      out.read(out_.span());
    } else {
      run(in_.span(), out_.span());
    }
  }

  void run_in_place(const Exchange& e, hccl::detail::function_ref<void(In, Out)> run) {
    const auto work = [&](const auto& in, auto& out) {
      run(in.subspan(e.in_at, e.in.size), out.subspan(e.out_at, e.out.size));
    };
    if constexpr (is_on_device) {
      hccl::device_buffer<T, Allocator> both(out_.span());
      work(std::as_const(both), both);
      both.read(out_.span());
    } else {
      auto both = out_.span();
      work(both, both);
    }
  }

  static void put(Buffer& buffer, std::size_t size, const Pieces& pieces, std::size_t at = 0) {
    buffer.reset(size);
    for (const Piece& p : pieces) buffer.put(at + p.offset, p.contents);
  }

  void begin(std::string_view what, std::string_view algorithm, std::size_t count, int root = 0) {
    what_ = what, algorithm_ = algorithm, count_ = count, root_ = root;
  }

  void expect(std::string_view buffer, const Buffer& actual, const Buffer& wanted) const {
    const std::string where = actual.difference(wanted);
    if (where.empty()) return;
    throw std::runtime_error(hccl::detail::concat(what_, ' ', mode_, ", ", algorithm_, ", ", count_,
                                                  " elements, root ", root_, ", rank ", comm_.rank(), " of ",
                                                  comm_.size(), ": ", buffer, ": ", where, " is wrong"));
  }

  hccl::communicator<Net>& comm_;
  const Reference<T>& world_;
  Buffer in_, out_, wanted_;
  std::string_view what_, algorithm_, mode_;
  std::size_t count_ = 0;
  int root_ = 0;
};

}  // namespace hccl_test
