// SPDX-License-Identifier: Apache-2.0

#include <hccl/transport/concept.hpp>

#include <string_view>

/// The least that a transport is.
struct Least {
  static constexpr std::string_view name = "least";
  static constexpr hccl::link_model link{};
  int rank() const;
  int size() const;
  void send(int peer, hccl::pieces message);
  bool sending() const;
  void receive(int peer, hccl::sink& in);
  bool progress(hccl::deadline d);
  void abort(const hccl::error& why) noexcept;
  Least channel(int id);
};

#if defined(CONTROL)
static_assert(hccl::check_transport<Least>());
#elif defined(CASE_nothing)  // expect: hccl: a transport needs `int rank() const` and `int size() const`
struct Nothing {};
static_assert(hccl::check_transport<Nothing>());
#elif defined(CASE_no_send)  // expect: hccl: a transport needs `send(int peer, hccl::pieces)` and `bool sending() const`
struct NoSend : Least {
  void send(int peer, int message);
  NoSend channel(int id);
};
static_assert(hccl::check_transport<NoSend>());
#elif defined(CASE_abort_throws)  // expect: hccl: a transport needs `void abort(const hccl::error&) noexcept`
struct AbortThrows : Least {
  void abort(const hccl::error& why);
  AbortThrows channel(int id);
};
static_assert(hccl::check_transport<AbortThrows>());
#elif defined(CASE_channel_of_other_type)  // expect: hccl: a transport needs `T channel(int id)`
struct OtherChannel : Least {};
static_assert(hccl::check_transport<OtherChannel>());
#endif
