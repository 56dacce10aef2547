// SPDX-License-Identifier: Apache-2.0
// The one error type of the library: a code, the sentence that explains it, and the rank that failed.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace hccl::inline v0 {

/// The kinds of failure that a caller can tell apart.
enum class errc {
  timeout = 1,            ///< a deadline passed; the text names the ranks that had not arrived
  peer_lost,              ///< a rank died or left while it was still needed
  aborted,                ///< the communicator was aborted, here or on another rank
  mismatch,               ///< two ranks called different collectives, or disagree about one
  invalid_argument,       ///< an argument of this rank's call is wrong; nothing was sent
  unsupported,            ///< the combination is not offered
  bootstrap_failed,       ///< the ranks could not be brought together
  authentication_failed,  ///< a peer could not prove that it belongs to the job
  version_mismatch,       ///< a peer speaks another version of the protocol
  out_of_memory,          ///< a bound on memory was reached
  device_failed,          ///< the runtime of a device has reported an error
};

/// The rank of an error that no single rank caused.
inline constexpr int no_rank = -1;

namespace detail {

constexpr const char* describe(errc code) {
  switch (code) {
    case errc::timeout:
      return "timeout";
    case errc::peer_lost:
      return "peer lost";
    case errc::aborted:
      return "aborted";
    case errc::mismatch:
      return "mismatch between ranks";
    case errc::invalid_argument:
      return "invalid argument";
    case errc::unsupported:
      return "unsupported";
    case errc::bootstrap_failed:
      return "bootstrap failed";
    case errc::authentication_failed:
      return "authentication failed";
    case errc::version_mismatch:
      return "version mismatch";
    case errc::out_of_memory:
      return "out of memory";
    case errc::device_failed:
      return "device failed";
  }
  return "unknown error";
}

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "hccl"; }
  std::string message(int code) const override { return describe(static_cast<errc>(code)); }
};

inline void append(std::string& text, std::string_view part) { text += part; }
inline void append(std::string& text, char part) { text += part; }
template <std::integral Integer>
  requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>)
void append(std::string& text, Integer part) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, part).ptr);
}

/// Joins strings, characters and integers into one string.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (append(text, parts), ...);
  return text;
}

}  // namespace detail

/// Returns the category of `hccl::errc`.
inline const std::error_category& error_category() noexcept {
  static const detail::category instance;
  return instance;
}

/// Makes a `std::error_code` of an `errc`, so that `e.code() == hccl::errc::timeout` works.
inline std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

/// What every function of hccl throws.
///
/// `what()` says the collective, the rank, the argument and both values; `failed_rank()` is the rank that
/// caused it, or `no_rank`. After any error other than `invalid_argument` the communicator is unusable: later
/// calls throw `aborted`.
class error : public std::system_error {
 public:
  error(errc code, const std::string& what, int failed_rank = no_rank)
      : std::system_error(make_error_code(code), what), failed_rank_(failed_rank) {}

  errc kind() const noexcept { return static_cast<errc>(code().value()); }
  int failed_rank() const noexcept { return failed_rank_; }

 private:
  int failed_rank_;
};

namespace detail {

/// The text that an error was made with: `what()` without the description of its code.
inline std::string reason(const error& e) {
  const std::string text = e.what();
  const std::string tail = concat(": ", e.code().message());
  return text.ends_with(tail) ? text.substr(0, text.size() - tail.size()) : text;
}

}  // namespace detail

}  // namespace hccl::inline v0

template <>
struct std::is_error_code_enum<hccl::errc> : std::true_type {};
