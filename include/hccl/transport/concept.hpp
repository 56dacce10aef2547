// SPDX-License-Identifier: Apache-2.0
// What hccl asks of a transport: to move bytes, in order, between a pair of ranks.
#pragma once

#include <hccl/core/deadline.hpp>
#include <hccl/core/error.hpp>
#include <hccl/core/link_model.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/device_allocator.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace hccl::inline v0 {

/// A message as it lies in memory: byte ranges that are sent one behind the other.
using pieces = std::span<const std::span<const std::byte>>;

/// The receiving end of one message: takes exactly `remaining()` bytes, in order, in chunks of any size.
///
/// A transport either hands over a chunk that it holds (`consume`), or writes the next bytes straight into
/// `window()` and then says how many (`commit`). Both may throw `hccl::error`; the transport lets the
/// exception pass and stays abortable.
class sink {
 public:
  /// Takes the next bytes of the message; `chunk.size() <= remaining()`. `chunk` is valid during the call
  /// only.
  void consume(std::span<const std::byte> chunk) {
    remaining_ -= chunk.size();
    take(chunk);
  }

  /// Memory into which the next bytes may be written directly; empty when bytes must go through `consume`.
  /// Never longer than `remaining()`; valid until the next call.
  virtual std::span<std::byte> window() { return {}; }

  /// Says that `size` bytes have been written to the front of `window()`.
  void commit(std::size_t size) {
    remaining_ -= size;
    placed(size);
  }

  /// How many bytes are still to come.
  std::size_t remaining() const { return remaining_; }

 protected:
  explicit sink(std::size_t size) : remaining_(size) {}
  sink(const sink&) = default;
  sink& operator=(const sink&) = default;
  ~sink() = default;

 private:
  virtual void take(std::span<const std::byte> chunk) = 0;
  virtual void placed(std::size_t) {}

  std::size_t remaining_;
};

/// Knows its rank and the number of ranks.
template <class T>
concept RankAware = requires(const T& t) {
  { t.rank() } -> std::same_as<int>;
  { t.size() } -> std::same_as<int>;
};

/// `send(peer, pieces)` begins to send a message to another rank. The pieces and the array of them stay put
/// until `sending()` is false. Messages to one peer arrive in the order of the calls. `sending()` says
/// whether any begun message is still read.
template <class T>
concept ByteSender = requires(T& t, const T& c, int peer, pieces message) {
  t.send(peer, message);
  { c.sending() } -> std::same_as<bool>;
};

/// `receive(peer, sink)` begins to receive exactly `sink.remaining()` bytes from another rank. Receives from
/// one peer are served in the order of the calls, different peers at the same time; a sink stays put until it
/// has all its bytes. A message is a run of bytes without a frame: what one `send` wrote may be read by
/// several `receive`s.
template <class T>
concept ByteReceiver = requires(T& t, int peer, sink& in) { t.receive(peer, in); };

/// `progress(d)` moves what can be moved and blocks at most until `d` when nothing can; returns whether
/// anything moved, and false once `d` has passed. Throws `peer_lost` (with the rank) when a peer that is waited
/// for has gone, and after `abort` an error that tells why.
template <class T>
concept Progressing = requires(T& t, deadline d) {
  { t.progress(d) } -> std::same_as<bool>;
};

/// `abort(why)` may be called from any thread, at any time and repeatedly. It ends this transport and all its
/// channels: `progress` is woken here and on the peers, where it throws an error of the kind and failed rank of
/// `why`; here it may be `aborted`. Afterwards they only fail.
template <class T>
concept Abortable = requires(T& t, const error& why) {
  { t.abort(why) } noexcept;
};

/// `channel(id)` returns an independent transport among the same ranks, whose bytes never mix with those of
/// this one. All ranks name the same channels; no communication takes place in the call. `id` is positive;
/// the transport itself is channel 0.
template <class T>
concept Channelled = requires(T& t, int id) {
  { t.channel(id) } -> std::same_as<T>;
};

/// Has a name, and figures from which algorithms are priced.
template <class T>
concept Priced = requires {
  { T::name } -> std::convertible_to<std::string_view>;
  { T::link } -> std::convertible_to<link_model>;
};

/// Moves bytes, in order, between pairs of ranks of a fixed group. It knows no collective, no element type
/// and no algorithm.
///
/// One thread at a time uses a transport, except for `abort`. Nothing allocates in the steady state. A
/// transport is never asked to send to its own rank. See docs/write-your-own-transport.md;
/// `tests/transport_conformance.hpp` checks the meaning.
template <class T>
concept Transport = std::movable<T> && RankAware<T> && ByteSender<T> && ByteReceiver<T> && Progressing<T> &&
                    Abortable<T> && Channelled<T> && Priced<T>;

/// A transport whose ranks reach each other's memory.
///
/// `post(note)` publishes a note of at most `note_bytes` bytes, which is copied. Every rank posts, and waits for the
/// posts of all, before it posts again. `await_posts(d)` waits until all ranks have posted as many notes as this one,
/// `await_post(rank, d)` until that rank has; they return false once `d` has passed, and throw as `progress`, and
/// `mismatch` where a rank sends instead. Then `note(rank)` is the note of a rank, until the post after the next one, and
/// `has_posted(rank)` tells, also before, whether it is there.
///
/// `shares_addresses()` tells whether all that holds for this object; the same on all ranks.
///
/// `locate(memory)` is what others have to be told so that they find memory of this rank, which they can reach unless
/// it is nothing; `reach(rank, there)` is the address here of what another rank has located. While an object that
/// `visit()` returns lives, this rank may read and write what others have told it; no rank comes out of `abort` before.
/// `visit()` throws once the world was aborted.
template <class T>
concept SharedAddressTransport =
    Transport<T> && requires(T& t, const T& c, int rank, pieces note, deadline d,
                             std::span<const std::byte> memory, typename T::location there) {
      { T::note_bytes } -> std::convertible_to<std::size_t>;
      { c.shares_addresses() } -> std::same_as<bool>;
      t.post(note);
      { t.await_posts(d) } -> std::same_as<bool>;
      { t.await_post(rank, d) } -> std::same_as<bool>;
      { c.has_posted(rank) } -> std::same_as<bool>;
      { c.note(rank) } -> std::same_as<std::span<const std::byte>>;
      { t.locate(memory) } -> std::same_as<std::optional<typename T::location>>;
      { t.reach(rank, there) } -> std::same_as<std::byte*>;
      t.visit();
    };

/// A transport whose ranks reach each other's memory if it comes from `allocator`; what comes from `lasting_allocator`
/// the others may still read when this rank has freed it.
template <class T>
concept SharedMemoryTransport = SharedAddressTransport<T> && requires {
  typename T::allocator;
  typename T::lasting_allocator;
};

/// A transport whose messages lie in memory of devices, that of `allocator`. It hands a sink all of a message by
/// `consume`, in the pieces in which it was sent: `copies()` can read them. It outlives what is allocated.
template <class T>
concept DeviceTransport = Transport<T> && DeviceAllocator<typename T::allocator> &&
                          T::allocator::kind == memory_kind::device && requires(T& t) {
                            { t.copies() } -> std::same_as<copy_engine&>;
                          };

/// Explains in one sentence each what a type lacks to be a `Transport`. Call it beside your own.
template <class T>
consteval bool check_transport() {
  static_assert(std::movable<T>, "hccl: a transport must be movable");
  static_assert(RankAware<T>, "hccl: a transport needs `int rank() const` and `int size() const`");
  static_assert(ByteSender<T>,
                "hccl: a transport needs `send(int peer, hccl::pieces)` and `bool sending() const`");
  static_assert(ByteReceiver<T>, "hccl: a transport needs `receive(int peer, hccl::sink&)`");
  static_assert(Progressing<T>, "hccl: a transport needs `bool progress(hccl::deadline)`");
  static_assert(Abortable<T>, "hccl: a transport needs `void abort(const hccl::error&) noexcept`");
  static_assert(Channelled<T>,
                "hccl: a transport needs `T channel(int id)`, an independent lane among the same ranks");
  static_assert(Priced<T>,
                "hccl: a transport needs `static constexpr std::string_view name` and `static constexpr "
                "hccl::link_model link`");
  return Transport<T>;
}

}  // namespace hccl::inline v0
