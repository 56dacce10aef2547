// SPDX-License-Identifier: Apache-2.0
#pragma once

// batch_send_recv: many messages between pairs of ranks at once.

#include <hccl/collective/communicator.hpp>
#include <hccl/collective/detail/arguments.hpp>
#include <hccl/collective/detail/staging.hpp>
#include <hccl/collective/send_recv.hpp>
#include <hccl/engine/copies.hpp>
#include <hccl/engine/plain_copies.hpp>
#include <hccl/memory/copy_engine.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

namespace hccl::inline v0 {

namespace detail {

/// No buffer that is received overlaps another. `order` is working memory.
inline void check_parcels(const arguments& arguments, std::span<const parcel> parcels,
                          std::vector<std::size_t>& order) {
  order.clear();
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    if (!parcels[i].data.empty()) order.push_back(i);
  }
  sort_indices(order, [&](std::size_t a, std::size_t b) {
    return std::less<>()(parcels[a].data.data(), parcels[b].data.data());
  });
  const std::byte* end_of_all = nullptr;
  const std::byte* end_of_received = nullptr;
  for (const std::size_t i : order) {
    const std::byte* const begin = parcels[i].data.data();
    const std::byte* const end = begin + parcels[i].data.size();
    if (std::less<>()(begin, parcels[i].is_sent ? end_of_received : end_of_all)) {
      arguments.fail("messages", concat(": the buffer of message ", i,
                                        " overlaps one that is received; expected it apart from all others"));
    }
    end_of_all = std::max(end_of_all, end, std::less<>());
    if (!parcels[i].is_sent) end_of_received = std::max(end_of_received, end, std::less<>());
  }
}

/// What is wrong with a buffer of other memory than is expected.
template <Transport Net>
constexpr std::string_view other_memory() {
  return DeviceTransport<Net>
             ? " is not of the memory that the transport moves; expected a device_buffer of its allocator"
             : " is of other memory than that of the first message; expected all on the host or on one "
               "device";
}

/// How the copy engine of the memory of a buffer is made; none for the host.
template <class R>
constexpr staging::factory make_copies_of() {
  if constexpr (DeviceBuffer<R>) return &make_copies<memory_t<R>>;
  return nullptr;
}

}  // namespace detail

/// One message of `batch_send_recv`. It refers to its buffer, which must outlive the call.
class message {
 public:
  /// The elements of `data`, which go to rank `destination`.
  template <class Data>
    requires detail::Buffer<Data>
  static message to(int destination, const Data& data, int tag = 0) {
    using E = detail::buffer_element<const Data&>;
    const auto bytes = detail::bytes_of(detail::input_span<E>(data));  // only read
    return message({true,
                    destination,
                    detail::make_envelope<E>(tag, std::ranges::size(data)),
                    {const_cast<std::byte*>(bytes.data()), bytes.size()}},
                   detail::make_copies_of<Data>());
  }

  /// The message that comes from rank `source`, which has exactly as many elements as `data`.
  template <class Data>
    requires detail::Buffer<Data>
  static message from(int source, Data&& data, int tag = 0) {
    using E = detail::buffer_element<Data>;
    return message({false, source, detail::make_envelope<E>(tag, std::ranges::size(data)),
                    detail::writable_bytes_of(detail::output_span<E>(data))},
                   detail::make_copies_of<Data>());
  }

 private:
  template <Transport Net>
  friend void batch_send_recv(communicator<Net>& comm, std::span<const message> messages);

  message(detail::parcel p, detail::staging::factory make_copies) : parcel_(p), make_copies_(make_copies) {}

  detail::parcel parcel_;
  detail::staging::factory make_copies_;  // of the device of its buffer, none of the host
};

/// Sends and receives all messages at once. However the ranks order theirs, they do not wait for each other in a
/// circle; messages between two ranks under one tag are matched in the order of the list.
///
/// Each `message::to` has its `message::from` in a call of the peer: in this function, `send`, `recv` or `sendrecv`.
/// Buffers that are sent may overlap; one that is received overlaps no other. Returns when all is done. Throws
/// `mismatch` for a message of another length or element, else as `send`.
template <Transport Net>
void batch_send_recv(communicator<Net>& comm, std::span<const message> messages) {
  std::vector<detail::parcel>& parcels = detail::access::of(comm).parcels;
  detail::staging::factory memory = nullptr;
  if constexpr (DeviceTransport<Net>) {
    memory = &detail::make_copies<typename Net::allocator>;
  } else if (!messages.empty()) {
    memory = messages.front().make_copies_;
  }
  const auto check = [&](const detail::arguments& arguments) {
    parcels.clear();
    for (const message& m : messages) {
      arguments.is_rank(m.parcel_.is_sent ? "destination" : "source", m.parcel_.peer);
      arguments.not_null("data", m.parcel_.data, m.parcel_.head.element_bytes);
      if (m.make_copies_ != memory) arguments.fail("data", detail::other_memory<Net>());
      parcels.push_back(m.parcel_);
    }
    detail::check_parcels(arguments, parcels, detail::access::of(comm).lists[0]);
  };
  detail::operate<Net>(comm, "batch_send_recv", check, [&](auto& state) {
    const auto until = deadline::after(state.timeout);
    const auto exchange = [&] { state.mail.exchange_all(state.tagged_net, parcels, until); };
    if (DeviceTransport<Net> || memory == nullptr) return exchange();
    copy_engine& copies = state.staging.copies(memory);
    std::size_t bytes = 0;
    for (const detail::parcel& p : parcels) bytes += p.data.size();
    std::byte* host = copies.host_room(bytes);
    for (detail::parcel& p : parcels) {
      if (p.is_sent) detail::copy_by(&copies, host, p.data, copy_direction::device_to_host);
      p.data = {host, p.data.size()};
      host += p.data.size();
    }
    exchange();
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      std::byte* const to = messages[i].parcel_.data.data();
      if (!parcels[i].is_sent) detail::copy_by(&copies, to, parcels[i].data, copy_direction::host_to_device);
    }
  });
}

/// As above, for messages that are written in the call.
template <Transport Net>
void batch_send_recv(communicator<Net>& comm, std::initializer_list<message> messages) {
  batch_send_recv(comm, std::span(messages.begin(), messages.size()));
}

}  // namespace hccl::inline v0
