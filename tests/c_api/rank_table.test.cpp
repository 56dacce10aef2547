// SPDX-License-Identifier: Apache-2.0

// Rank tables: what is read, and what is refused.

#include "c_api/support.hpp"
#include "test.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace c_api_test;

namespace {

/// A file that is removed with it.
class table_file {
 public:
  explicit table_file(std::string_view text) { std::ofstream(path_) << text; }
  table_file(const table_file&) = delete;
  table_file& operator=(const table_file&) = delete;
  ~table_file() { std::remove(path_.c_str()); }

  const char* path() const { return path_.c_str(); }

 private:
  static std::string next_path() {
    static int made = 0;
    return "rank_table_" + std::to_string(::getpid()) + "_" + std::to_string(made++) + ".json";
  }

  std::string path_ = next_path();
};

constexpr std::string_view one_server = R"({"status": "completed", "version": "1.0", "server_count": "1",
  "server_list": [{"server_id": "alpha", "device": [
    {"device_id": "0", "rank_id": "0"}, {"device_id": "1", "rank_id": "1"}, {"device_id": "2", "rank_id": "2"}]}]})";

constexpr std::string_view superpods = R"({"status": "completed", "version": "1.2",
  "server_list": [{"server_id": "alpha", "host_ip": "127.0.0.1", "device": [
    {"device_id": "2", "super_device_id": "0", "rank_id": "0"},
    {"device_id": "1", "super_device_id": "1", "rank_id": "1"},
    {"device_id": "0", "super_device_id": "2", "rank_id": "2"}]}],
  "super_pod_list": [{"super_pod_id": "pod-a", "server_list": [{"server_id": "alpha"}]}]})";

constexpr std::string_view template_two =
    R"({"status": "completed", "group_count": "1", "group_list": [{"group_name": "a",
  "instance_count": "1", "device_count": "3", "instance_list": [{"pod_name": "p", "server_id": "10.0.0.1", "devices": [
    {"device_id": "1", "device_ip": "10.1.0.1"}, {"device_id": "0", "device_ip": "10.1.0.2"},
    {"device_id": "2", "device_ip": "10.1.0.3"}]}]}]})";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  return changed.replace(changed.find(from), from.size(), to);
}

HcclResult init(std::string_view text, std::uint32_t rank = 0) {
  const table_file file(text);
  HcclComm comm = nullptr;
  return HcclCommInitClusterInfo(file.path(), rank, &comm);
}

}  // namespace

TEST_CASE("ranks meet by a rank table") {
  const auto [text, devices] =
      GENERATE(std::pair(one_server, std::vector{0, 1, 2}), std::pair(superpods, std::vector{2, 1, 0}),
               std::pair(template_two, std::vector{1, 0, 2}));
  const table_file file(text);
  const auto thrown = in_threads(std::vector<HcclComm>(3), [&, devices = devices](rank_on_device own) {
    std::uint32_t rank = 0;
    while (devices[rank] != own.rank) ++rank;
    succeeds(HcclCommInitClusterInfo(file.path(), rank, &own.comm));
    const device_bytes one(std::vector<int>{1});
    succeeds(
        HcclAllReduce(one.get(), one.get(), 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, own.comm, own.stream));
    own.synchronize();
    if (one.values<int>()[0] != 3) throw std::runtime_error("the sum is wrong");
    succeeds(HcclCommDestroy(own.comm));
  });
  CHECK(thrown == std::vector<std::string>(3));
}

TEST_CASE("each group of a table tells its own devices") {
  const table_file file(R"({"status": "completed", "group_list": [
    {"device_count": "1", "instance_list": [{"server_id": "a", "devices": [{"device_id": "0"}]}]},
    {"device_count": "1", "instance_list": [{"server_id": "a", "devices": [{"device_id": "1"}]}]}]})");
  succeeds(aclrtSetDevice(1));
  HcclComm comm = nullptr;
  CHECK(failed(HcclCommInitClusterInfo(file.path(), 0, &comm), HCCL_E_PARA,
               "rank 0 has device 0 in the rank table"));
  aclrtResetDevice(1);
}

TEST_CASE("a rank table that is wrong is refused, with the field") {
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  HcclComm comm = nullptr;
  CHECK(failed(HcclCommInitClusterInfo(nullptr, 0, &comm), HCCL_E_PTR, "clusterInfo is null"));
  CHECK(
      failed(HcclCommInitClusterInfo("no such file", 0, &comm), HCCL_E_OPEN_FILE_FAILURE, "'no such file'"));
  CHECK(failed(HcclCommInitClusterInfo(".", 0, &comm), HCCL_E_OPEN_FILE_FAILURE, "'.' cannot be read"));
  CHECK(failed(HcclCommInitClusterInfo(std::string(5000, 'x').c_str(), 0, &comm), HCCL_E_PARA,
               "5000 characters"));
  CHECK(failed(init(one_server, 3), HCCL_E_PARA, "rank is 3, expected 0 to 2"));
  CHECK(failed(init(one_server, 1), HCCL_E_PARA,
               "rank 1 has device 1 in the rank table, but this thread has set device 0"));

  const auto refused = [](std::string_view text, std::string_view words, HcclResult result = HCCL_E_PARA) {
    INFO(text);
    init(text);
    INFO(hcclGetLastError());
    CHECK(failed(init(text), result, words));
  };
  refused("", "not JSON");
  refused("{\"status\": ", "not JSON");
  refused("[1, 2]", "the table is not an object");
  refused("{}", "has no status");
  refused(replaced(one_server, "completed", "initializing"), "status is 'initializing'");
  refused(replaced(one_server, "\"1.0\"", "\"2.0\""), "version 2.0", HCCL_E_NOT_SUPPORT);
  refused(replaced(one_server, "\"1.0\"", "\"7\""), "version is '7'");
  refused(replaced(one_server, "server_list", "servers"), "has no server_list");
  refused(R"({"status": "completed", "version": "1.2", "server_list": []})",
          "server_list is no list, or an empty one");
  refused(R"({"status": "completed", "version": "1.2", "server_list": [7]})",
          "server_list[0] is not an object");
  refused(replaced(one_server, "\"server_count\": \"1\"", "\"server_count\": \"2\""),
          "server_count is 2, but there are 1");
  refused(replaced(one_server, "\"alpha\"", "\"\""), "server_list[0].server_id has 0 characters");
  refused(replaced(one_server, "\"alpha\"", "7"), "server_list[0].server_id is 7, expected a text");
  refused(replaced(one_server, "\"device_id\": \"1\", ", ""), "server_list[0].device[1] has no device_id");
  refused(replaced(one_server, "\"device_id\": \"1\"", "\"device_id\": \"-1\""),
          "device_id is \"-1\", expected a number");
  refused(replaced(one_server, "\"device_id\": \"1\"", "\"device_id\": \"1x\""), "device_id is \"1x\"");
  refused(replaced(one_server, "\"device_id\": \"1\"", "\"device_id\": \"0\""), "device_id 0 is there twice");
  refused(replaced(one_server, "\"rank_id\": \"1\"", "\"rank_id\": \"0\""),
          "rank_id is 0, which another device has");
  refused(replaced(one_server, "\"rank_id\": \"1\"", "\"rank_id\": \"3\""),
          "rank_id is \"3\", expected a number from 0 to 2");
  refused(R"({"status": "completed", "version": "1.2", "server_list": [
    {"server_id": "a", "device": [{"device_id": "0", "rank_id": "0"}, {"device_id": "1", "rank_id": "2"}]},
    {"server_id": "b", "device": [{"device_id": "0", "rank_id": "1"}]}]})",
          "ranks of two servers must not interleave");
  refused(R"({"status": "completed", "version": "1.2", "server_list": [
    {"server_id": "a", "device": [{"device_id": "0", "rank_id": "0"}]},
    {"server_id": "a", "device": [{"device_id": "1", "rank_id": "1"}]}]})",
          "server_id 'a' is there twice");
  refused(R"({"status": "completed", "version": "1.2", "server_list": [
    {"server_id": "a", "device": [{"device_id": "0", "rank_id": "0"}]},
    {"server_id": "b", "device": [{"device_id": "0", "rank_id": "1"}]}]})",
          "has no host_ip at which the ranks can meet");
  refused(replaced(one_server, "\"server_count\": \"1\",", ""), "has no server_count");
  refused(replaced(one_server, "\"version\": \"1.0\", ", ""), "has no version");
  refused(replaced(superpods, "\"super_pod_id\": \"pod-a\", ", ""), "super_pod_list[0] has no super_pod_id");
  refused(replaced(superpods, "[{\"server_id\": \"alpha\"}]", "[{\"server_id\": \"beta\"}]"),
          "which is not in server_list");
  refused("{\"status\": " + std::string(200'000, '[') + std::string(200'000, ']') + "}",
          "status is an array, expected a text");
  refused(replaced(template_two, "\"group_count\": \"1\"", "\"group_count\": \"2\""),
          "group_count is 2, but there are 1");
  refused(replaced(template_two, "instance_list", "instances"), "group_list[0] has no instance_list");
  aclrtResetDevice(0);
}
