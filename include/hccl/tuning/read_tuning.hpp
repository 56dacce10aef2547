// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads rules for Auto from a JSON file. Needs nlohmann/json (target hccl::tuning).

#include <hccl/algorithm/tuning.hpp>
#include <hccl/core/error.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace hccl::inline v0 {

namespace detail {

/// Reads the text of one tuning file.
class tuning_reader {
 public:
  explicit tuning_reader(const std::string& path) : path_(path) {}

  tuning read() const {
    const auto file = parse();
    if (!file.is_object() || file.size() != 1 || !file.contains("rules") || !file["rules"].is_array())
      fail(path_, R"(it does not hold {"rules": [...]} and nothing else)");
    tuning rules;
    for (const json& each : file["rules"])
      rules.push_back(rule(each, concat(path_, ": rule ", rules.size() + 1)));
    return rules;
  }

 private:
  using json = nlohmann::json;

  [[noreturn]] static void fail(std::string_view where, std::string_view what) {
    throw error(errc::invalid_argument, concat(where, ": ", what));
  }

  json parse() const {
    std::ifstream file(path_);
    if (!file) fail(path_, "the file cannot be read");
    try {
      return json::parse(file);
    } catch (const json::exception& e) {
      fail(path_, concat("expected JSON: ", e.what()));
    }
  }

  static tuning_rule rule(const json& object, const std::string& where) {
    if (!object.is_object()) fail(where, concat("it is ", object.dump(), "; expected an object"));
    tuning_rule result{.algorithm = "", .origin = where};
    for (const auto& [name, value] : object.items()) {
      if (name == "algorithm") {
        result.algorithm = text(value, concat(where, ": algorithm"));
      } else if (name == "collective") {
        result.collective = text(value, concat(where, ": collective"));
      } else if (name == "ranks") {
        read_ranks(value, concat(where, ": ranks"), result);
      } else if (name == "bytes") {
        read_bytes(value, concat(where, ": bytes"), result);
      } else {
        fail(where, concat("it has a member \"", name, "\"; expected algorithm, collective, ranks or bytes"));
      }
    }
    if (result.algorithm.empty()) fail(where, "it has no algorithm; expected the name of one");
    check_rule(result, where);
    return result;
  }

  static std::string text(const json& value, const std::string& where) {
    if (!value.is_string()) fail(where, concat("it is ", value.dump(), "; expected a name"));
    return value.get<std::string>();
  }

  /// One number, or the first and the last.
  static void read_ranks(const json& value, const std::string& where, tuning_rule& result) {
    const auto is_count = [](const json& j) {
      return j.is_number_unsigned() && j.get<std::uint64_t>() <= std::numeric_limits<int>::max();
    };
    if (is_count(value)) {
      result.min_ranks = result.max_ranks = value.get<int>();
    } else if (value.is_array() && value.size() == 2 && is_count(value[0]) && is_count(value[1])) {
      result.min_ranks = value[0].get<int>();
      result.max_ranks = value[1].get<int>();
    } else {
      fail(where, concat("it is ", value.dump(), "; expected a number of ranks, or [first, last]"));
    }
  }

  /// The least, and the first that is too many, which may be null.
  static void read_bytes(const json& value, const std::string& where, tuning_rule& result) {
    const bool is_pair = value.is_array() && value.size() == 2 && value[0].is_number_unsigned();
    if (!is_pair || !(value[1].is_number_unsigned() || value[1].is_null()))
      fail(where, concat("it is ", value.dump(), "; expected [first, end], or [first, null]"));
    result.min_bytes = value[0].get<std::size_t>();
    if (!value[1].is_null()) result.end_bytes = value[1].get<std::size_t>();
  }

  std::string path_;
};

}  // namespace detail

/// Reads a tuning file, for `communicator::set_tuning`:
///
///     {"rules": [{"collective": "allreduce", "ranks": [2, 8], "bytes": [0, 65536], "algorithm": "nhr"}, ...]}
///
/// The first rule that matches and can be kept decides, see `tuning`. collective: its name; any if left out. ranks: a
/// number, or the first and the last. bytes: the first, and the first above; null for no end. Throws
/// `invalid_argument` for a file that cannot be read or is damaged, which tells the file, the rule, what it says and
/// what was expected. All ranks should read the same file.
inline tuning read_tuning(const std::string& path) { return detail::tuning_reader(path).read(); }

}  // namespace hccl::inline v0
