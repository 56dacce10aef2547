// SPDX-License-Identifier: Apache-2.0
#pragma once

// send, recv, sendrecv: messages between two ranks.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/detail/function_ref.hpp>
#include <hccl/core/element.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/copies.hpp>
#include <hccl/engine/point_to_point.hpp>
#include <hccl/memory/copy_engine.hpp>
#include <hccl/memory/device_allocator.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hccl::inline v0 {

namespace detail {

template <class T>
envelope make_envelope(int tag, std::size_t count = 0) {
  return {tag, count * sizeof(T), static_cast<std::uint32_t>(sizeof(T)), digest(element_name<T>())};
}

/// What one call sends and receives, where the transport reaches it: in place, or on the host.
template <Transport Net, DeviceAllocator Memory>
class reachable_data {
 public:
  reachable_data(communicator_state<Net>& state, std::span<const std::byte> out, std::span<std::byte> in)
      : out_(out), in_(in), room_(in) {
    static_assert(check_memory<Net, Memory>());
    if constexpr (is_staged<Net, Memory>) {
      copies_ = &state.staging.template copies<Memory>();
      std::byte* const host = copies_->host_room(out.size() + in.size());
      copy_by(copies_, host, out, copy_direction::device_to_host);
      out_ = {host, out.size()};
      room_ = {host + out.size(), in.size()};
    }
  }

  std::span<const std::byte> out() const { return out_; }
  std::span<std::byte> in() const { return room_; }

  /// Puts what has come, so many bytes, where it belongs.
  std::size_t arrived(std::size_t bytes) const {
    if (copies_ != nullptr) copy_by(copies_, in_.data(), room_.first(bytes), copy_direction::host_to_device);
    return bytes;
  }

 private:
  std::span<const std::byte> out_;
  std::span<std::byte> in_, room_;
  copy_engine* copies_ = nullptr;
};

/// Runs `run(state, deadline)`, which uses the channel of tagged messages, and returns what it returns.
template <Transport Net>
std::size_t operate_tagged(communicator<Net>& comm, std::string_view name,
                           function_ref<void(const arguments&)> check,
                           function_ref<std::size_t(communicator_state<Net>&, deadline)> run) {
  std::size_t result = 0;
  operate<Net>(comm, name, check, [&](auto& state) { result = run(state, deadline::after(state.timeout)); });
  return result;
}

}  // namespace detail

/// Sends elements to rank `destination`, which receives them by a `recv` with the same tag. Messages with one
/// tag arrive in order.
///
/// Returns when `data` may be changed. It may return before the receiver has asked (a small message, or one
/// that the transport has room for), or only then: two ranks that both send first may wait for each other
/// until the timeout; use `sendrecv`. Tagged messages never mix with collectives. To the own rank: the
/// message is held until `recv`. Throws `invalid_argument`, `timeout`, `peer_lost`, `aborted`,
/// `out_of_memory` (too much held for the own rank).
template <class T = void, Transport Net, class Data>
  requires detail::Buffer<Data>
void send(communicator<Net>& comm, Data&& data, int destination, int tag = 0) {
  using E = detail::element_t<T, Data>;
  const auto out = detail::input_span<E>(data);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.is_rank("destination", destination);
    arguments.not_null("data", out);
  };
  detail::operate_tagged<Net>(comm, "send", check, [&](auto& state, deadline until) {
    const detail::reachable_data<Net, detail::memory_t<Data>> all(state, detail::bytes_of(out), {});
    const auto head = detail::make_envelope<E>(tag, out.size());
    state.mail.send(state.tagged_net, head, all.out(), destination, until);
    return out.size();
  });
}

/// Receives the next message with this tag from rank `source` and returns its number of elements, at most
/// that of `data`.
///
/// Messages with other tags that arrive before it are held (256 MiB at most) until they are asked for. Throws
/// `mismatch` for a message that is longer than `data` or of other elements (nothing is written), else as
/// `send`.
template <class T = void, Transport Net, class Data>
  requires detail::Buffer<Data>
std::size_t recv(communicator<Net>& comm, Data&& data, int source, int tag = 0) {
  using E = detail::element_t<T, Data>;
  const auto in = detail::output_span<E>(data);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.is_rank("source", source);
    arguments.not_null("data", in);
  };
  return detail::operate_tagged<Net>(comm, "recv", check, [&](auto& state, deadline until) {
    const detail::reachable_data<Net, detail::memory_t<Data>> all(state, {}, detail::writable_bytes_of(in));
    const auto head = detail::make_envelope<E>(tag);
    return all.arrived(state.mail.receive(state.tagged_net, head, all.in(), source, until)) / sizeof(E);
  });
}

/// Sends `out` to one rank while it receives `in` from another, so that a ring of ranks can all call it at
/// once. Returns the number of elements received. The buffers are apart. Throws as `send` and `recv`.
template <class T = void, Transport Net, class Out, class In>
  requires detail::Buffer<Out> && detail::Buffer<In>
std::size_t sendrecv(communicator<Net>& comm, Out&& out, int destination, In&& in, int source, int tag = 0) {
  using E = detail::element_t<T, In>;
  const auto leaving = detail::input_span<E>(out);
  const auto coming = detail::output_span<E>(in);
  const auto check = [&](const detail::arguments& arguments) {
    arguments.is_rank("destination", destination);
    arguments.is_rank("source", source);
    arguments.not_null("out", leaving);
    arguments.not_null("in", coming);
    arguments.apart(leaving, coming);
  };
  return detail::operate_tagged<Net>(comm, "sendrecv", check, [&](auto& state, deadline until) {
    static_assert(detail::check_same_memory<Out, In>());
    const detail::reachable_data<Net, detail::memory_t<In>> all(state, detail::bytes_of(leaving),
                                                                detail::writable_bytes_of(coming));
    const auto head = detail::make_envelope<E>(tag, leaving.size());
    const std::size_t bytes =
        state.mail.exchange(state.tagged_net, head, all.out(), destination, all.in(), source, until);
    return all.arrived(bytes) / sizeof(E);
  });
}

}  // namespace hccl::inline v0
