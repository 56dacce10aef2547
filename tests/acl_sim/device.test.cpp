// SPDX-License-Identifier: Apache-2.0

#include "acl_sim/support.hpp"
#include "test.hpp"

#include <acl/acl.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

using acl_test::failed, acl_test::in_process;

TEST_CASE("AscendCL is begun once and ended once") {
  CHECK(in_process([] {
          return aclInit(nullptr) == ACL_SUCCESS && aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE &&
                 aclFinalize() == ACL_SUCCESS && aclFinalize() == ACL_ERROR_REPEAT_FINALIZE;
        }) == 0);
  CHECK(failed(aclInit("/nowhere/acl.json"), ACL_ERROR_INVALID_FILE, "/nowhere/acl.json"));
}

TEST_CASE("the environment says which devices there are") {
  const auto count_with = [](const char* name, const char* value) {
    const int status = in_process([&] {
      ::setenv(name, value, 1);
      std::uint32_t count = 0;
      ::_exit(aclrtGetDeviceCount(&count) == ACL_SUCCESS ? static_cast<int>(count) : 100);
      return false;
    });
    return WEXITSTATUS(status);
  };
  CHECK(count_with("ACL_SIM_DEVICES", "3") == 3);
  CHECK(count_with("ACL_SIM_TOPOLOGY", "atlas_900_a3") == 16);
  CHECK(count_with("ACL_SIM_DEVICES", "") == 8);
  for (const char* wrong : {"0", "-1", "x", "3 ", "1025"}) CHECK(count_with("ACL_SIM_DEVICES", wrong) == 100);
  CHECK(in_process([] {
          ::setenv("ACL_SIM_TOPOLOGY", "atlas", 1);
          std::uint32_t count = 0;
          return failed(aclrtGetDeviceCount(&count), ACL_ERROR_INVALID_PARAM,
                        "ACL_SIM_TOPOLOGY=atlas: expected one of");
        }) == 0);
}

TEST_CASE("a thread that has set no device is told so") {
  std::thread([] {
    void* memory = nullptr;
    std::int32_t device = 0;
    CHECK(failed(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL,
                 "aclrtSetDevice"));
    CHECK(failed(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetDevice: no device is set"));
    CHECK(failed(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice"));
    CHECK(aclGetRecentErrMsg() == nullptr);  // told once
  }).join();
}

TEST_CASE("a device that does not exist is named") {
  CHECK(failed(aclrtSetDevice(8), ACL_ERROR_RT_INVALID_DEVICEID, "there is no device 8; this host has 8"));
  CHECK(failed(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID, "there is no device -1"));
  CHECK(failed(aclrtResetDevice(3), ACL_ERROR_RT_INVALID_DEVICEID, "device 3 was not set"));
  std::int32_t can = 0;
  CHECK(aclrtDeviceCanAccessPeer(&can, 0, 9) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(failed(aclrtGetDeviceCount(nullptr), ACL_ERROR_RT_PARAM_INVALID, "count is null"));
}

TEST_CASE("each thread has a device, and a device counts its users") {
  REQUIRE(aclrtSetDevice(1) == ACL_SUCCESS);
  std::thread([] {
    std::int32_t device = -1;
    CHECK(aclrtSetDevice(2) == ACL_SUCCESS);
    CHECK(aclrtSetDevice(1) == ACL_SUCCESS);
    CHECK(aclrtGetDevice(&device) == ACL_SUCCESS);
    CHECK(device == 1);
    CHECK(aclrtResetDevice(1) == ACL_SUCCESS);
    CHECK(aclrtGetDevice(&device) == ACL_SUCCESS);  // the other thread still uses it
    CHECK(aclrtResetDevice(2) == ACL_SUCCESS);
  }).join();
  CHECK(aclrtResetDevice(1) == ACL_SUCCESS);
  std::int32_t device = -1;
  CHECK(aclrtGetDevice(&device) == ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_CASE("contexts are made, chosen and destroyed") {
  aclrtContext one = nullptr, two = nullptr, current = nullptr;
  REQUIRE(aclrtCreateContext(&one, 0) == ACL_SUCCESS);
  REQUIRE(aclrtCreateContext(&two, 1) == ACL_SUCCESS);
  CHECK((aclrtGetCurrentContext(&current) == ACL_SUCCESS && current == two));
  CHECK(aclrtSetCurrentContext(one) == ACL_SUCCESS);
  std::int32_t device = -1;
  CHECK((aclrtGetDevice(&device) == ACL_SUCCESS && device == 0));
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  CHECK(aclrtSetCurrentContext(two) == ACL_SUCCESS);
  CHECK(
      failed(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT, "of another context, on device 0"));
  CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  CHECK(aclrtDestroyContext(one) == ACL_SUCCESS);
  CHECK(failed(aclrtDestroyContext(one), ACL_ERROR_RT_CONTEXT_NULL, "does not exist"));
  CHECK(aclrtDestroyContext(two) == ACL_SUCCESS);
  CHECK(aclrtGetCurrentContext(&current) == ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_CASE("topologies tell how two devices are linked") {
  const auto link = [](const char* topology, std::uint32_t one, std::uint32_t other) {
    const int status = in_process([&] {
      ::setenv("ACL_SIM_TOPOLOGY", topology, 1);
      std::uint64_t value = 0;
      ::_exit(aclrtGetDevicesTopo(one, other, &value) == ACL_SUCCESS ? static_cast<int>(value) : 255);
      return false;
    });
    return WEXITSTATUS(status);
  };
  CHECK(link("atlas_800", 0, 3) == 0x01);
  CHECK(link("atlas_800", 0, 4) == 0x08);
  CHECK(link("atlas_800t_a2", 0, 7) == 0x01);
  CHECK(link("atlas_900_a3", 0, 1) == 0x20);
  CHECK(link("atlas_900_a3", 1, 2) == 0x40);
  CHECK(link("atlas_800", 0, 8) == 255);
}

TEST_CASE("versions are told") {
  std::int32_t major = 0, minor = 0, patch = 0, number = 0;
  CHECK((aclrtGetVersion(&major, &minor, &patch) == ACL_SUCCESS && major == ACL_MAJOR_VERSION));
  char name[] = "runtime", unknown[] = "none", version[128] = {};
  CHECK((aclsysGetVersionStr(name, version) == ACL_SUCCESS && std::string_view(version) == "9.2.0"));
  CHECK((aclsysGetVersionNum(name, &number) == ACL_SUCCESS && number > 0));
  CHECK(failed(aclsysGetVersionStr(unknown, version), ACL_ERROR_INVALID_PARAM, "no package none"));
}
