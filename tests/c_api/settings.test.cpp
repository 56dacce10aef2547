// SPDX-License-Identifier: Apache-2.0

// The environment of the HCCL API.

#include "c_api/support.hpp"
#include "test.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>

using namespace c_api_test;

namespace {

/// A variable that is set as long as this lives.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

/// Makes and destroys a communicator of one rank.
HcclResult init() {
  succeeds(aclrtSetDevice(0));
  HcclRootInfo info;
  HcclComm comm = nullptr;
  HcclResult result = HcclGetRootInfo(&info);
  if (result == HCCL_SUCCESS) result = HcclCommInitRootInfo(1, &info, 0, &comm);
  if (result == HCCL_SUCCESS) succeeds(HcclCommDestroy(comm));
  aclrtResetDevice(0);
  return result;
}

}  // namespace

TEST_CASE("a variable with a wrong value is an error that names it and its range") {
  const auto [name, value, words] =
      GENERATE(std::tuple("HCCL_CONNECT_TIMEOUT", "119", "'119', expected 120 to 7200 seconds"),
               std::tuple("HCCL_CONNECT_TIMEOUT", "7201", "expected 120 to 7200"),
               std::tuple("HCCL_CONNECT_TIMEOUT", "fast", "'fast'"),
               std::tuple("HCCL_EXEC_TIMEOUT", "-1", "0 to 2147483647"),
               std::tuple("HCCL_EXEC_TIMEOUT", "2147483648", "0 to 2147483647"),
               std::tuple("HCCL_TIMEOUT", "-3", "seconds"),
               std::tuple("HCCL_ALGO", "level0:NA;level1:nonsense", "level1:<algorithm>"),
               std::tuple("HCCL_BUFFSIZE", "0", "from 1 on"),
               std::tuple("HCCL_DETERMINISTIC", "maybe", "false, true or strict"),
               std::tuple("HCCL_IF_IP", "localhost", "an IPv4 or IPv6 address"),
               std::tuple("HCCL_SOCKET_FAMILY", "AF_UNIX", "AF_INET6"),
               std::tuple("HCCL_HOST_SOCKET_PORT_RANGE", "60100-60000", "ports and ranges"),
               std::tuple("HCCL_HOST_SOCKET_PORT_RANGE", "0", "ports and ranges"),
               std::tuple("HCCL_WHITELIST_DISABLE", "yes", "0 or 1"),
               std::tuple("HCCL_ENTRY_LOG_ENABLE", "2", "0 or 1"));
  const variable set(name, value);
  CHECK(failed(init(), HCCL_E_PARA, std::string(name) + " is '"));
  CHECK(failed(init(), HCCL_E_PARA, words));
}

TEST_CASE("variables with right values") {
  const auto [name, value] =
      GENERATE(std::pair("HCCL_CONNECT_TIMEOUT", "120"), std::pair("HCCL_EXEC_TIMEOUT", "0"),
               std::pair("HCCL_TIMEOUT", "2.5"), std::pair("HCCL_ALGO", "level0:NA;level1:ring"),
               std::pair("HCCL_ALGO", "allreduce=level0:NA;level1:NHR"), std::pair("HCCL_BUFFSIZE", "200"),
               std::pair("HCCL_DETERMINISTIC", "strict"), std::pair("HCCL_IF_IP", "127.0.0.1"),
               std::pair("HCCL_SOCKET_IFNAME", "=lo"), std::pair("HCCL_SOCKET_FAMILY", "AF_INET"),
               std::pair("HCCL_HOST_SOCKET_PORT_RANGE", "auto"),
               std::pair("HCCL_HOST_SOCKET_PORT_RANGE", "42810,42820-42850"),
               std::pair("HCCL_WHITELIST_DISABLE", "1"), std::pair("HCCL_ENTRY_LOG_ENABLE", "0"));
  const variable set(name, value);
  const HcclResult result = init();
  INFO(name << '=' << value << ": " << hcclGetLastError());
  CHECK(result == HCCL_SUCCESS);
}

TEST_CASE("hosts that are not in the file of HCCL_WHITELIST_FILE take no part") {
  const std::string path = "whitelist.json";
  const variable address("HCCL_IF_IP", "127.0.0.1"), enabled("HCCL_WHITELIST_DISABLE", "0"),
      file("HCCL_WHITELIST_FILE", path);
  CHECK(failed(init(), HCCL_E_OPEN_FILE_FAILURE, "cannot be read"));
  {
    const variable folder("HCCL_WHITELIST_FILE", ".");
    CHECK(failed(init(), HCCL_E_OPEN_FILE_FAILURE, "'.' cannot be read"));
  }
  ::setenv("HCCL_WHITELIST_FILE", path.c_str(), 1);
  std::ofstream(path) << R"({"host_ip": ["10.0.0.1"]})";
  CHECK(failed(init(), HCCL_E_NETWORK, "rank 0 listens at 127.0.0.1, which is not in the file"));
  std::ofstream(path) << R"({"host_ip": ["10.0.0.1", "127.0.0.1"], "device_ip": []})";
  CHECK(init() == HCCL_SUCCESS);
  std::ofstream(path) << R"({"hosts": []})";
  CHECK(failed(init(), HCCL_E_PARA, "is not {\"host_ip\": [...]}"));
  std::remove(path.c_str());
}

TEST_CASE("the convenience spelling takes a rank table from the environment") {
  const std::string path = "environment_table.json";
  std::ofstream(path) << R"({"status": "completed", "version": "1.0", "server_count": "1", "server_list": [
    {"server_id": "alpha", "device": [{"device_id": "0", "rank_id": "0"}]}]})";
  const variable table("RANK_TABLE_FILE", path);
  succeeds(aclrtSetDevice(0));
  hcclComm_t comm = nullptr;
  CHECK(failed(hcclCommInitAll(&comm, 1, nullptr), HCCL_E_PARA, "RANK_ID is '', expected 0 to 0"));
  const variable rank("RANK_ID", "0");
  CHECK(failed(hcclCommInitAll(&comm, 2, nullptr), HCCL_E_PARA,
               "n is 2, but the table of RANK_TABLE_FILE has 1 ranks"));
  CHECK(hcclCommInitAll(&comm, 1, nullptr) == HCCL_SUCCESS);
  CHECK(hcclCommDestroy(comm) == HCCL_SUCCESS);
  aclrtResetDevice(0);
  std::remove(path.c_str());
}
