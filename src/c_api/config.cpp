// SPDX-License-Identifier: Apache-2.0

#include "config.hpp"

#include "last_error.hpp"

#include <hccl/hccl_comm.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace c_api {

namespace {

/// The first bytes of a configuration.
struct head {
  std::uint64_t size;
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t zero;
};
static_assert(sizeof(head) == HCCL_COMM_CONFIG_INFO_BYTES);

void in_range(std::string_view field, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  if (value < least || value > most)
    throw refusal(HCCL_E_PARA, field, " is ", value, ", expected ", least, " to ", most);
}

/// As above, unless it is not set.
void in_range_if_set(std::string_view field, std::uint32_t value, std::uint32_t least, std::uint32_t most) {
  if (value != HCCL_COMM_CONFIG_NOT_SET) in_range(field, value, least, most);
}

template <std::size_t Size>
std::string text(std::string_view field, const char (&from)[Size]) {
  const char* const end = std::find(from, from + Size, '\0');
  if (end == from + Size) throw refusal(HCCL_E_PARA, field, " has no end in its ", Size, " characters");
  return {from, end};
}

}  // namespace

config config::read(const HcclCommConfig* from) {
  if (from == nullptr) throw refusal(HCCL_E_PTR, "config is null");
  head h;
  std::memcpy(&h, from, sizeof h);
  if (h.magic != HCCL_COMM_CONFIG_MAGIC_WORD) {
    throw refusal(HCCL_E_PARA, "the head of config is damaged: its magic number is ", h.magic, ", expected ",
                  HCCL_COMM_CONFIG_MAGIC_WORD, "; HcclCommConfigInit writes it");
  }
  constexpr std::size_t least = offsetof(HcclCommConfig, hcclCommName), most = std::size_t{1} << 16;
  if (h.version < 1 || h.size < least || h.size > most) {
    throw refusal(HCCL_E_PARA, "the head of config is damaged: version ", h.version, ", ", h.size,
                  " bytes, expected a version from 1 on and ", least, " to ", most, " bytes");
  }
  // An older program has fewer fields, a newer one has more: the others are as if not set. Two fields lie where older
  // structures end in padding.
  HcclCommConfig c;
  HcclCommConfigInit(&c);
  const HcclCommConfig none = c;
  std::memcpy(&c, from, std::min<std::size_t>(h.size, sizeof c));
  constexpr std::uint32_t first_with_qos = 10;
  if (h.version < first_with_qos) c.hcclQos = none.hcclQos;
  if (h.size <= offsetof(HcclCommConfig, hcclAlgo)) c.hcclExecTimeOut = none.hcclExecTimeOut;

  in_range_if_set("hcclBufferSize", c.hcclBufferSize, 1, HCCL_COMM_CONFIG_NOT_SET - 1);
  in_range_if_set("hcclDeterministic", c.hcclDeterministic, 0, 2);
  in_range("hcclOpExpansionMode", c.hcclOpExpansionMode, 0, 6);
  in_range_if_set("hcclRdmaTrafficClass", c.hcclRdmaTrafficClass, 0, 255);
  if (c.hcclRdmaTrafficClass != HCCL_COMM_CONFIG_NOT_SET && c.hcclRdmaTrafficClass % 4 != 0)
    throw refusal(HCCL_E_PARA, "hcclRdmaTrafficClass is ", c.hcclRdmaTrafficClass,
                  ", expected a multiple of 4");
  in_range_if_set("hcclRdmaServiceLevel", c.hcclRdmaServiceLevel, 0, 7);
  in_range("aclGraphZeroCopyEnable", c.aclGraphZeroCopyEnable, 0, 1);
  in_range_if_set("hcclQos", c.hcclQos, 0, 7);
  constexpr std::uint32_t least_depth = 16;
  if (c.hcclChannelSqDepth != HCCL_COMM_CONFIG_NOT_SET &&
      (c.hcclChannelSqDepth < least_depth || !std::has_single_bit(c.hcclChannelSqDepth)))
    throw refusal(HCCL_E_PARA, "hcclChannelSqDepth is ", c.hcclChannelSqDepth,
                  ", expected a power of two from ", least_depth, " on");

  config found{text("hcclCommName", c.hcclCommName), text("hcclAlgo", c.hcclAlgo)};
  static_cast<void>(text("hcclUdi", c.hcclUdi));
  static_cast<void>(text("hcclRetryEnable", c.hcclRetryEnable));
  static_cast<void>(text("hcclRetryParams", c.hcclRetryParams));
  static_cast<void>(text("hcclBufferName", c.hcclBufferName));
  if (c.hcclExecTimeOut != HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET) {
    if (c.hcclExecTimeOut < 0)
      throw refusal(HCCL_E_PARA, "hcclExecTimeOut is ", c.hcclExecTimeOut,
                    ", expected 0 to 2147483647 seconds");
    found.timeout = std::chrono::seconds(c.hcclExecTimeOut);
  }
  return found;
}

}  // namespace c_api
