// SPDX-License-Identifier: Apache-2.0
#pragma once

// send, recv, sendrecv: messages between two ranks.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/core/deadline.hpp>
#include <hccl/core/detail/function_ref.hpp>
#include <hccl/core/element.hpp>
#include <hccl/engine/call.hpp>
#include <hccl/engine/point_to_point.hpp>

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

/// Runs `run(mailbox, transport, deadline)` on the channel of tagged messages and returns what it returns.
template <Transport Net>
std::size_t operate_tagged(communicator<Net>& comm, std::string_view name,
                           function_ref<void(const arguments&)> check,
                           function_ref<std::size_t(mailbox&, Net&, deadline)> run) {
  std::size_t result = 0;
  operate<Net>(comm, name, check, [&](auto& state) {
    result = run(state.mail, state.tagged_net, deadline::after(state.timeout));
  });
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
  detail::operate_tagged<Net>(comm, "send", check, [&](detail::mailbox& mail, Net& net, deadline until) {
    mail.send(net, detail::make_envelope<E>(tag, out.size()), std::as_bytes(out), destination, until);
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
  return detail::operate_tagged<Net>(
      comm, "recv", check, [&](detail::mailbox& mail, Net& net, deadline until) {
        return mail.receive(net, detail::make_envelope<E>(tag), std::as_writable_bytes(in), source, until) /
               sizeof(E);
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
  return detail::operate_tagged<Net>(comm, "sendrecv", check,
                                     [&](detail::mailbox& mail, Net& net, deadline until) {
                                       const auto head = detail::make_envelope<E>(tag, leaving.size());
                                       return mail.exchange(net, head, std::as_bytes(leaving), destination,
                                                            std::as_writable_bytes(coming), source, until) /
                                              sizeof(E);
                                     });
}

}  // namespace hccl::inline v0
